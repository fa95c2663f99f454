"""Questions of operations, columns and cells; answers as `Questions` gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, get_args

from provspark.arguments import Edges, several
from provspark.index_store.query.bits import ROWS, identity
from provspark.index_store.query.cell_neighbourhood import CellNeighbourhood, cell_neighbourhood
from provspark.index_store.query.column_answer import Cells, ColumnAnswer
from provspark.index_store.query.column_maps import names_of
from provspark.index_store.query.column_walk import ColumnsAt, Settle, carry
from provspark.index_store.query.dropped_columns import Drop, Drops, dropped
from provspark.index_store.query.explanations import Explanations, how
from provspark.index_store.query.neighbourhood import neighbourhood
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.operation_list import OperationLine, operation_lines
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.walk import plan
from provspark.model.datasets import Dataset
from provspark.model.errors import ConditionError, UnknownColumnError, UnknownDatasetError
from provspark.model.neighbours import RowNode
from provspark.model.progress import enter
from provspark.question_parameters import Asked, Asking, Rows, Which

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["ColumnNames", "OperationQuestions"]

ColumnNames = str | Sequence[str] | None


class OperationQuestions(Asking):
    """The questions of operations, columns and cells of `Provenance`, with the same parameters."""

    def columns(
        self,
        dataset: str | RowSet,
        column: ColumnNames = None,
        *,
        direction: Direction = "backward",
        to: str | None = None,
        existence: bool = True,
        **which: Unpack[Which],
    ) -> ColumnAnswer:
        """See `Provenance.columns`."""
        _known_direction(direction)
        if which.keys() & {"where", "semantics"}:
            raise ConditionError("columns are those of all rows; ask cells() for those of some rows")
        which = {"kinds": ("data", "context"), **which}
        asked = self.asked(
            "columns", dataset.at.version.dataset.uri if isinstance(dataset, RowSet) else dataset, None, which
        )
        bits = identity(_positions(asked, column, direction, existence))
        linker = asked.view.linker(direction)
        place = asked.view.dataset(to)
        carried = carry(linker, ColumnsAt(asked.at, bits), direction, place, context=asked.context)
        answer = ColumnAnswer(asked.at, direction, carried, existence, asked.kinds)
        answer.checked()
        return answer

    def cells(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        columns: ColumnNames = None,
        *,
        direction: Direction = "backward",
        to: str | None = None,
        existence: bool = False,
        settle: Settle | None = None,
        **which: Unpack[Which],
    ) -> Cells:
        """See `Provenance.cells`; `settle` is what a replay's answer is asked of."""
        _known_direction(direction)
        asked = self.asked("cells", dataset, rows, which)
        start = ColumnsAt(asked.at, identity(_positions(asked, columns, direction, existence)), asked.start().boxes)
        linker = asked.view.linker(direction)
        carried = carry(linker, start, direction, asked.view.dataset(to), context=asked.context, settle=settle)
        carried = replace(carried, parts=tuple(part for part in carried.parts if part.kind in asked.kinds))
        answer = Cells(asked.at, direction, carried, existence, asked.labels, used=(asked.view.chosen.used,))
        answer.checked()
        return answer.now(asked.view.currents) if direction == "forward" else answer

    def how(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        *,
        direction: Direction = "backward",
        to: str | None = None,
        **which: Unpack[Which],
    ) -> Explanations:
        """See `Provenance.how`."""
        _known_direction(direction)
        asked = self.asked("how", dataset, rows, which)
        linker, place = asked.view.linker(direction), asked.view.dataset(to)
        return how(linker, asked.at, asked.labels, asked.start().boxes, direction, place, asked.kinds, asked.used)

    def operations(
        self,
        what: str | RowSet,
        rows: Rows = None,
        column: ColumnNames = None,
        *,
        direction: Direction = "backward",
        to: str | None = None,
        parts: bool = False,
        **which: Unpack[Which],
    ) -> list[OperationLine]:
        """See `Provenance.operations`."""
        _known_direction(direction)
        nodes = self._step(what) if isinstance(what, str) else []
        if nodes:
            if rows is not None or column is not None or which:
                raise ConditionError(f"{what} is a step: all its operations are told; name a data set to choose some")
            return [line for node in nodes for line in operation_lines(node, parts=parts)]
        edges = Edges.of("operations", which)
        if "kinds" in which:
            which = {**which, "kinds": edges.kinds}
        some = rows is not None or which.get("where") is not None or isinstance(what, RowSet)
        if column is not None:
            if some:
                via = self.cells(what, rows, column, direction=direction, to=to, **which).via
            else:
                via = self.columns(what, column, direction=direction, to=to, existence=False, **which).via
            return [line for node, chosen in via for line in operation_lines(node, chosen, parts=parts)]
        if some or to is not None:
            return self.how(what, rows, direction=direction, to=to, **which).all_operations(parts=parts)
        asked = self.asked("operations", what, None, which)
        route = plan(asked.view.linker(direction), [asked.at], direction).nodes
        for node in route:
            enter(node.step)
        ran = route[::-1] if direction == "backward" else route
        return [line for node in ran for line in operation_lines(node, parts=parts)]

    def cell_neighbourhood(
        self,
        dataset: str | RowSet,
        rows: Rows = None,
        columns: ColumnNames = None,
        direction: Direction = "backward",
        *,
        hops: int | None = None,
        limit: int = 10_000,
        **which: Unpack[Which],
    ) -> CellNeighbourhood:
        """See `Provenance.cell_neighbourhood`."""
        _known_direction(direction)
        asked = self.asked("cell_neighbourhood", dataset, rows, which)
        chosen = [names_of(asked.at)[p - 1] for p in _named(asked, columns)]
        linker, context = asked.view.linker(direction), asked.context
        near = neighbourhood(linker, asked.at, asked.labels, direction, context=context, hops=hops, limit=limit)
        version = asked.at.version
        start = [RowNode(str(version.dataset), version.id, row) for row in asked.labels.rows().tolist()]
        return cell_neighbourhood(near, start, chosen, direction, limit=limit)

    def dropped(self, dataset: str | RowSet, column: ColumnNames = None, **which: Unpack[Which]) -> Drops:
        """See `Provenance.dropped`."""
        asked = self.asked("dropped", dataset, None, which)
        return dropped(asked.view.linker("forward"), asked.at, _named(asked, column))

    def positions(self, asked: Asked, columns: ColumnNames) -> list[int]:
        """Return columns of a version by 1 + their place.

        Raises
        ------
        UnknownColumnError
        """
        return _named(asked, columns)

    def _step(self, what: str) -> list[WriteNode]:
        """The writes of a step of that id, or of the only one whose id begins so; none where a data set is meant."""
        graph = self._views.graph
        steps = dict.fromkeys(n.step for n in graph.nodes)
        matches = [s for s in steps if s == what] or [s for s in steps if s.startswith(what)]
        if len(matches) != 1:
            return []
        try:
            graph.references(Dataset.parse(what))
        except UnknownDatasetError:
            return [n for n in graph.nodes if n.step == matches[0]]
        return []


def _known_direction(direction: str) -> None:
    if direction not in get_args(Direction):
        raise ConditionError(f"no direction {direction!r}; there are 'backward' and 'forward'")


def _positions(asked: Asked, columns: ColumnNames, direction: Direction, existence: bool) -> list[int]:
    """The columns, and the rows themselves: where what decides about them, or what counts them, is asked for."""
    rows = existence if direction == "backward" else columns is None
    return [*_named(asked, columns), *([ROWS] if rows else [])]


def _named(asked: Asked, columns: ColumnNames) -> list[int]:
    names = names_of(asked.at)
    if columns is None:
        if not names:
            raise ConditionError(f"the columns of {asked.at.version.dataset} are not known to the store")
        return list(range(1, 1 + len(names)))
    return [_position(asked, name, names) for name in several(columns, "columns")]


def _position(asked: Asked, name: str, names: tuple[str, ...]) -> int:
    same = [i for i, n in enumerate(names) if n == name] or [
        i for i, n in enumerate(names) if n.lower() == name.lower()
    ]
    if len(same) == 1:
        return 1 + same[0]
    ends = _ends(asked, name)
    if ends:
        hint = " and ".join(
            f"it was dropped on the way by {d.text}{f' ({d.site})' if d.site else ''} of step {d.step}" for d in ends
        )
    else:
        near = get_close_matches(name, names, 3, 0.6)
        hint = "did you mean " + " or ".join(near) + "?" if near else "it has " + ", ".join(names)
    raise UnknownColumnError(f"{asked.at.version.dataset} has no column {name!r}; {hint}")


def _ends(asked: Asked, name: str) -> list[Drop]:
    """Where a column of what a version came from was dropped on the way to it."""
    back = asked.view.back
    route = plan(back, [asked.at], "backward").nodes
    steps = {(n.step, n.write.index) for n in route}
    read: list[VersionReference] = [at for n in route for at in n.inputs.values() if name in names_of(at)]
    drops = {d for at in read for d in dropped(back, at, [1 + names_of(at).index(name)]).lines}
    return sorted(d for d in drops if (d.step, d.write) in steps)
