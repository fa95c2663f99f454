"""The operations that touched columns or cells; which of them may not have, where the rows' values decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from provspark.index_store.query.asking import Asked
from provspark.index_store.query.bits import identity
from provspark.index_store.query.column_answer import Cells, ColumnAnswer, reason
from provspark.index_store.query.column_choice import positions
from provspark.index_store.query.column_maps import WayChoice
from provspark.index_store.query.column_walk import Carried, ColumnsAt, carry
from provspark.index_store.query.nodes import Direction, WriteNode
from provspark.index_store.query.operation_line import OperationLine
from provspark.index_store.query.operation_list import OperationList, operation_lines
from provspark.index_store.query.parameter_types import ColumnNames
from provspark.model.datasets import Dataset
from provspark.model.driver_datasets import NAMESPACE

__all__ = ["touching"]


def touching(
    asked: Asked, column: ColumnNames, direction: Direction, to: Dataset | None, *, rows: bool, parts: bool
) -> OperationList:
    """Return the operations that touched columns, or with rows their cells, in the order in which they ran."""
    linker = asked.view.linker(direction)
    bits = identity(positions(asked, column, direction, existence=False))
    start = ColumnsAt(asked.at, bits, asked.start().boxes if rows else None)

    told = _cells if rows else _columns

    def walk(ways: WayChoice) -> Carried:
        return told(asked, direction, carry(linker, start, direction, to, context=asked.context, ways=ways))

    return _lines(walk, direction, parts=parts)


def _columns(asked: Asked, direction: Direction, carried: Carried) -> Carried:
    ColumnAnswer(asked.at, direction, carried, False, asked.kinds).checked()
    return carried


def _cells(asked: Asked, direction: Direction, carried: Carried) -> Carried:
    carried = replace(carried, parts=tuple(part for part in carried.parts if part.kind in asked.kinds))
    answer = Cells(asked.at, direction, carried, False, asked.labels)
    answer.checked()
    return answer.now(asked.view.currents).carried if direction == "forward" else carried


def _lines(walk: Callable[[WayChoice], Carried], direction: Direction, *, parts: bool) -> OperationList:
    """Return the operations on the ways of a walk; those that are on none that holds for every row are not exact."""
    carried = walk("touching")
    entries = [(via, doubt) for part in carried.parts for *_, via, doubt in part.bits]
    mask = 0
    for via, _ in entries:
        mask |= via
    sure = mask
    if any(doubt for _, doubt in entries):
        sure = _surely(entries, direction)
        for part in walk("sure").parts:
            for *_, via, _ in part.bits:
                sure |= via
    lines: list[OperationLine] = []
    for (node, numbers), (_, certain) in zip(carried.operations(mask), carried.operations(mask & sure), strict=True):
        for line in operation_lines(node, numbers, parts=parts):
            if not set(certain).isdisjoint(line.operations):
                lines.append(line)
            else:
                lines.append(replace(line, exact=False, why=_why(carried, entries, node, line)))
    return OperationList(tuple(line for line in lines if not _is_again(line, lines)), carried.stops)


def _surely(entries: list[tuple[int, int]], direction: Direction) -> int:
    """The bits of what comes, on every way of an entry, before the rows' values choose; bits are in running order."""
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
    """What chooses on the ways of a line's operations."""
    first = carried.first[carried.nodes.index(node)]
    mine = sum(1 << (first + i) for i in line.operations)
    doubt = 0
    for via, chosen in entries:
        if via & mine:
            doubt |= chosen
    return reason(carried, doubt)


def _is_again(line: OperationLine, lines: list[OperationLine]) -> bool:
    """Whether a fit reads by the same call of the script what its step reads for a write that is told, too."""
    return line.dataset.startswith(f"{NAMESPACE}/") and any(
        other is not line and not other.dataset.startswith(f"{NAMESPACE}/") and _call(other) == _call(line)
        for other in lines
    )


def _call(line: OperationLine) -> tuple[object, ...]:
    return line.step, line.site, line.name, line.category, line.text
