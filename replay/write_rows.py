"""What the store's tensors say of one write: used to find the rows in question, and to check the replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.query.relation import gathered, image
from provspark.index_store.query.write_walk import walk_axes
from provspark.model.boxes import Boxes
from provspark.model.runs import Runs

Witness = tuple[int, int]
"""A source operation and a row id."""


def sources_of(node: WriteNode, rows: Runs, *, context: bool = False) -> dict[int, Runs]:
    """Return the rows of each input axis that output rows came from."""
    inputs = {i for i, a in enumerate(node.write.axes) if a.role == "input"}
    return _walk(node, {0: rows}, "backward", inputs, context)


def results_of(node: WriteNode, rows: Mapping[int, Runs]) -> Runs:
    """Return the output rows that came from rows of input axes."""
    return _walk(node, rows, "forward", {0}, False).get(0, Runs.span(0))


def _walk(node: WriteNode, rows: Mapping[int, Runs], direction: str, keep: set[int], context: bool) -> dict[int, Runs]:
    start: dict[tuple[int, str], Boxes] = {(axis, "data"): gathered(runs) for axis, runs in rows.items() if runs}
    runs_of: dict[int, Runs] = {}
    for (axis, _), boxes in walk_axes(node, start, direction, context=context, keep=keep).items():  # type: ignore[arg-type]
        runs = image(boxes)
        runs_of[axis] = runs_of[axis] | runs if axis in runs_of else runs
    return runs_of


class KeptOf:
    """Finds out which of some duplicates the output came from.

    Where the store does not know, the first by row id is taken. A replay in which that one comes to the output shows
    that Spark kept another: `disproved` takes note, and the next replay takes the next.
    """

    def __init__(self, node: WriteNode, axes: Mapping[int, tuple[int, ...]]) -> None:
        self._node, self._axes = node, axes
        self._known: dict[Witness, Runs] = {}
        self._taken: set[frozenset[Witness]] = set()
        self._wrong: set[frozenset[Witness]] = set()

    def __call__(self, members: Sequence[Sequence[Witness]]) -> int | None:
        """Return the one member that has an output row of its own; None where none or several have."""
        used = [n for n, witnesses in enumerate(members) if witnesses and self._results(witnesses)]
        return used[0] if len(used) == 1 else None

    def taken(self, members: Sequence[Sequence[Witness]]) -> int:
        """Return the one member that is taken for the kept one: the first by row id that was not disproved."""
        left = [n for n, witnesses in enumerate(members) if frozenset(witnesses) not in self._wrong]
        first = min(left or range(len(members)), key=lambda n: tuple(members[n]))
        self._taken.add(frozenset(members[first]))
        return first

    def disproved(self, outcomes: Sequence[frozenset[Witness]]) -> bool:
        """Take note of members that were taken and came to the output, though no stored row came from them.

        Parameters
        ----------
        outcomes : sequence of frozenset of (int, int)
            The witnesses of each row that the replay ended in.

        Returns
        -------
        bool
            Whether there are any.
        """
        came = [each for each in self._taken - self._wrong if not self._results(sorted(each))]
        wrong = {each for each in came if any(each <= end for end in outcomes)}
        self._wrong |= wrong
        return bool(wrong)

    def _results(self, witnesses: Sequence[Witness]) -> Runs:
        runs = [self._of(w) for w in witnesses]
        both = runs[0]
        for other in runs[1:]:
            both = both & other
        return both

    def _of(self, witness: Witness) -> Runs:
        if witness not in self._known:
            operation, row = witness
            self._known[witness] = results_of(self._node, {a: Runs.of([row]) for a in self._axes[operation]})
        return self._known[witness]
