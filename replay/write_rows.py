"""Input and output rows of one write according to its tensors, to find the rows to replay and to check the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.query.relation import gathered, image
from provspark.index_store.query.write_walk import walk_axes
from provspark.model.boxes import Boxes
from provspark.model.runs import Runs

Witness = tuple[int, int]
"""A source operation, and the id of one of its rows."""


def sources_of(node: WriteNode, rows: Runs, *, context: bool = False) -> dict[int, Runs]:
    """Return the input rows that output rows came from, by axis."""
    inputs = {i for i, a in enumerate(node.write.axes) if a.role == "input"}
    return _walk(node, {0: rows}, "backward", inputs, context)


def results_of(node: WriteNode, rows: Mapping[int, Runs]) -> Runs:
    """Return the output rows that came from input rows."""
    return _walk(node, rows, "forward", {0}, False).get(0, Runs.span(0))


def _walk(node: WriteNode, rows: Mapping[int, Runs], direction: str, keep: set[int], context: bool) -> dict[int, Runs]:
    start: dict[tuple[int, str], Boxes] = {(axis, "data"): gathered(runs) for axis, runs in rows.items() if runs}
    runs_of: dict[int, Runs] = {}
    for (axis, _), boxes in walk_axes(node, start, direction, context=context, keep=keep).items():  # type: ignore[arg-type]
        runs = image(boxes)
        runs_of[axis] = runs_of[axis] | runs if axis in runs_of else runs
    return runs_of


class KeptOf:
    """Determines which of several duplicates the output came from.

    If the tensors do not determine it, `taken` chooses the first by row id. If that one reaches the end of the replay
    although no stored row came from it, Spark kept another one: `disproved` records that for the next replay.
    """

    def __init__(self, node: WriteNode, axes: Mapping[int, tuple[int, ...]]) -> None:
        self._node, self._axes = node, axes
        self._known: dict[Witness, Runs] = {}
        self._taken: set[frozenset[Witness]] = set()
        self._wrong: set[frozenset[Witness]] = set()

    def __call__(self, members: Sequence[Sequence[Witness]]) -> int | None:
        """Return the number of the only member that an output row came from; None if there are none or several."""
        used = [n for n, witnesses in enumerate(members) if witnesses and self._results(witnesses)]
        return used[0] if len(used) == 1 else None

    def taken(self, members: Sequence[Sequence[Witness]]) -> int:
        """Choose a member as the kept one, and return its number: the first by row id that was not disproved."""
        left = [n for n, witnesses in enumerate(members) if frozenset(witnesses) not in self._wrong]
        first = min(left or range(len(members)), key=lambda n: tuple(members[n]))
        self._taken.add(frozenset(members[first]))
        return first

    def disproved(self, outcomes: Sequence[frozenset[Witness]]) -> bool:
        """Record the chosen members that reached the end of the replay, but that no stored output row came from.

        Parameters
        ----------
        outcomes : sequence of frozenset of (int, int)
            The witnesses of each row after the last operation.

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
