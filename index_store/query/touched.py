"""The operations that touched columns or cells, and which of them may not have, because the values of a row decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from provspark.index_store.query.asking import Asked
from provspark.index_store.query.bits import ROWS, identity
from provspark.index_store.query.column_answer import Cells, ColumnAnswer, reason
from provspark.index_store.query.column_choice import positions
from provspark.index_store.query.column_maps import WayChoice
from provspark.index_store.query.column_walk import Carried, ColumnsAt, carry_to_each
from provspark.index_store.query.nodes import Direction, WriteNode
from provspark.index_store.query.operation_line import OperationLine
from provspark.index_store.query.operation_list import OperationList, operation_lines
from provspark.index_store.query.parameter_types import ColumnNames
from provspark.index_store.query.walk import plan
from provspark.model.datasets import Dataset
from provspark.model.driver_datasets import NAMESPACE
from provspark.model.errors import UntrackedError
from provspark.model.stops import Stop

__all__ = ["touching"]


def touching(
    asked: Asked, column: ColumnNames, direction: Direction, to: Dataset | None, *, rows: bool, parts: bool
) -> OperationList:
    """Return the operations that touched columns, or with `rows` their cells, in execution order."""
    linker = asked.view.linker(direction)
    bits = identity(positions(asked, column, direction, existence=False))
    start = ColumnsAt(asked.at, bits, asked.start().boxes if rows else None)
    checked = _cells if rows else _columns
    # Forward, also follow the columns to each dataset on the paths, because they may be dropped before the ends.
    places: list[Dataset | None] = [to]
    if direction == "forward" and to is None:
        places += dict.fromkeys(node.write.output.dataset for node in plan(linker, [asked.at], direction).nodes)

    def walk(ways: WayChoice) -> list[Carried]:
        return carry_to_each(linker, start, direction, places, context=asked.context, ways=ways)

    all_sure = cache(lambda: walk("sure"))
    touched: dict[WriteNode, _TouchedOperations] = {}
    stops: set[Stop] = set()
    nothing: UntrackedError | None = None
    for number, carried in enumerate(walk("touching")):

        def sure(number: int = number) -> Carried:
            return checked(asked, direction, all_sure()[number])

        try:
            carried = checked(asked, direction, carried)
            ends = _touched_by(carried, sure, direction)
        except UntrackedError as error:
            nothing = nothing or error
            continue
        stops |= {*carried.stops}
        for node, own in ends.items():
            touched[node] = own | touched[node] if node in touched else own
    if nothing is not None and not any(own.numbers for own in touched.values()):
        raise nothing
    lines = [line for node, own in touched.items() for line in own.lines(node, parts=parts)]
    return OperationList(tuple(line for line in lines if not _is_again(line, lines)), tuple(sorted(stops)))


@dataclass(frozen=True, slots=True)
class _TouchedOperations:
    """The operations of a write that touched columns, and those that surely did."""

    numbers: frozenset[int]
    certain: frozenset[int]
    why: Callable[[OperationLine], str]
    """Return the reason why a line's operations may not have touched them."""

    def __or__(self, other: _TouchedOperations) -> _TouchedOperations:
        def why(line: OperationLine) -> str:
            return self.why(line) or other.why(line)

        return _TouchedOperations(self.numbers | other.numbers, self.certain | other.certain, why)

    def lines(self, node: WriteNode, *, parts: bool) -> list[OperationLine]:
        """Return their descriptions."""
        lines = operation_lines(node, sorted(self.numbers), parts=parts)
        return [
            line if self.certain & {*line.operations} else replace(line, exact=False, why=self.why(line))
            for line in lines
        ]


def _columns(asked: Asked, direction: Direction, carried: Carried) -> Carried:
    ColumnAnswer(asked.at, direction, carried, False, asked.kinds).checked()
    return carried


def _cells(asked: Asked, direction: Direction, carried: Carried) -> Carried:
    carried = replace(carried, parts=tuple(part for part in carried.parts if part.kind in asked.kinds))
    answer = Cells(asked.at, direction, carried, False, asked.labels)
    answer.checked()
    return answer.now(asked.view.currents).carried if direction == "forward" else carried


def _touched_by(
    carried: Carried, surely: Callable[[], Carried], direction: Direction
) -> dict[WriteNode, _TouchedOperations]:
    """Return the operations on the paths of a walk. Those on a path that holds for every row are certain."""
    # Forward, a column that only decides which rows exist leads to `ROWS`.
    ended = [b for part in carried.parts for b in part.bits if direction == "backward" or b[0] != ROWS]
    entries = [(via, doubt) for *_, via, doubt in ended]
    mask = 0
    for via, _ in entries:
        mask |= via
    sure = mask
    if any(doubt for _, doubt in entries):
        sure = _surely(entries, direction)
        for part in surely().parts:
            for *_, via, _ in part.bits:
                sure |= via
    touched = {}
    for (node, numbers), (_, certain) in zip(carried.operations(mask), carried.operations(mask & sure), strict=True):

        def why(line: OperationLine, node: WriteNode = node) -> str:
            return _why(carried, entries, node, line)

        touched[node] = _TouchedOperations(frozenset(numbers), frozenset(certain), why)
    return touched


def _surely(entries: list[tuple[int, int]], direction: Direction) -> int:
    """Return the bits of the operations that a path passes before the values of a row decide, in execution order."""
    sure = 0
    for via, doubt in entries:
        if not doubt:
            sure |= via
        elif direction == "backward":
            sure |= via >> (doubt.bit_length() - 1) << (doubt.bit_length() - 1)
        else:
            sure |= via & ((doubt & -doubt) - 1)
    return sure


def _why(carried: Carried, entries: list[tuple[int, int]], node: WriteNode, line: OperationLine) -> str:
    """Return the reason why a line's operations are not certain."""
    first = carried.first[carried.nodes.index(node)]
    mine = sum(1 << (first + i) for i in line.operations)
    doubt = 0
    for via, chosen in entries:
        if via & mine:
            doubt |= chosen
    return reason(carried, doubt)


def _is_again(line: OperationLine, lines: list[OperationLine]) -> bool:
    """Return whether a line of a model's fit repeats a line of a listed write, from the same call of the script."""
    return line.dataset.startswith(f"{NAMESPACE}/") and any(
        other is not line and not other.dataset.startswith(f"{NAMESPACE}/") and _call(other) == _call(line)
        for other in lines
    )


def _call(line: OperationLine) -> tuple[object, ...]:
    return line.step, line.site, line.name, line.category, line.text
