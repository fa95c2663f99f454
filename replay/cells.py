"""Source cells of output cells, found by a replay: if an expression selects its source by value, only the selected one.

The column dependencies are those that queries use without a replay. Here each row has its own copy, without the columns
that were not read for this row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_

import numpy as np

from provspark.index_store.query.bits import ROWS, Bits, bit, collected, compose, union
from provspark.index_store.query.choices import chosen
from provspark.index_store.query.column_maps import PLACES, operation_maps, output_places
from provspark.index_store.query.nodes import WriteNode
from provspark.model.arrays import Bools, Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import matched
from provspark.model.boxes.pairs import unite
from provspark.model.operations import Operation
from provspark.replay.engine import Engine
from provspark.replay.read_columns import ColumnRead, choices, copies, element_of, is_array
from provspark.replay.records import Replayed, Stage
from provspark.replay.rules import replay_rule

__all__ = ["cells_of"]

_LINE = 2 * PLACES
"""A cell is one number: its line, 1 + the element of an array column (0: all elements), and 1 + its column's id."""
_COLUMN = (1 << PLACES) - 1
_CELL = (1 << _LINE) - 1
_CONDITIONAL = bit("conditional")


def cells_of(
    engine: Engine, told: Replayed, node: WriteNode, places: Mapping[int, set[int]], columns: Int64
) -> dict[int, list[tuple[Boxes, Bits]]]:
    """Find the input cells that output cells came from by data edges, by reading axis.

    Parameters
    ----------
    places : mapping of int to set of int
        By output row, the lines of the last stage that it is equal to; several if they can't be told apart.
    columns : int64 array
        Positions of the output's columns, from 1; 0 means the rows.
    """
    walk = _CellWalk(engine, told, node)
    labels = [(row, line) for row, lines in sorted(places.items()) for line in sorted(lines)]
    where = {at: c.id + 1 for c, at in zip(told.operations[-1].columns, output_places(node), strict=True) if at >= 0}
    where[ROWS] = ROWS
    start = Bits.of(
        (n << PLACES | at, line << _LINE | where[at], 1, 1, 0, 0)
        for n, (_, line) in enumerate(labels)
        for at in columns.tolist()
        if at in where
    )
    ends = walk.run(start)
    return {axis: _grouped(bits, labels) for axis, bits in ends.items()}


@dataclass(slots=True)
class _CellWalk:
    engine: Engine
    told: Replayed
    node: WriteNode
    waiting: dict[int, list[Bits]] = field(default_factory=dict)

    def run(self, start: Bits) -> dict[int, Bits]:
        """Follow cells from the last operation to the sources, but not into subqueries."""
        every = self.told.operations
        self.waiting = {every[-1].index: [start]}
        ends: dict[int, Bits] = {}
        for operation in reversed(every):
            if operation.axes:
                if operation.index not in self.engine.within:
                    ends |= self.ended(operation, union(self.waiting.pop(operation.index, [])))
                continue
            here = union(self.waiting.pop(operation.index, []))
            for child in dict.fromkeys(operation.children) if len(here) else ():
                further = self.below(operation, child, np.unique(here.src))
                if len(further):
                    self.waiting.setdefault(child, []).append(compose(here, further))
        return ends

    def stage(self, operation: int) -> Stage:
        stage = self.told.stage(operation)
        return stage if stage is not None else Stage(self.told.operations[operation], ())

    def ended(self, operation: Operation, here: Bits) -> dict[int, Bits]:
        """Return the cells of readings, by axis; a source cell is its row and position in one number."""
        own = operation_maps(self.node)[operation.index]
        rows = np.array([line.sources[0].row for line in self.stage(operation.index).lines], dtype=np.int64)
        bits = {}
        for axis in operation.axes:
            mine = own.take(own.src >> PLACES == axis)
            mine = mine.moved(src=mine.src & _COLUMN)
            cells = np.unique(here.src)
            at, column = cells >> _LINE, cells & _COLUMN
            i, j = matched(column, mine.out)
            further = Bits(
                cells[i], rows[at[i]] << PLACES | mine.src[j], mine.may[j], mine.sure[j], mine.via[j], mine.doubt[j]
            )
            bits[axis] = compose(here, further)
        return bits

    def below(self, operation: Operation, child: int, cells: Int64) -> Bits:
        """Follow cells after an operation to cells after one of its children."""
        maps = self.reads(operation, child, np.unique(cells & _CELL))
        line, parent = self.parents(operation.index, child)
        i, k = matched(cells >> _LINE, line)
        cell, at, parent = cells[i], line[k], parent[k]
        i, j = matched(cell & _CELL, maps.out)
        cell, at, parent = cell[i], at[i], parent[i]
        may, sure = maps.may[j].copy(), maps.sure[j].copy()
        self.decide(operation, child, cell & _CELL, at, parent, maps.src[j], may, sure)
        keep = (may != 0) | (maps.may[j] == 0)
        src = parent << _LINE | maps.src[j]
        columns = (cell, src, may, sure, maps.via[j], np.where((may & ~sure) != 0, maps.doubt[j], 0))
        return collected(*(c[keep] for c in columns))

    def parents(self, operation: int, child: int) -> tuple[Int64, Int64]:
        """Return the sorted pairs of a line and a line of the child that it was made from."""
        lines = enumerate(self.stage(operation).lines)
        pairs = [(n, p) for n, line in lines for of, p in line.parents if of == child]
        both = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def reads(self, operation: Operation, child: int, cells: Int64) -> Bits:
        """Return the column dependencies, by data edges, of some columns or array elements on a child's columns."""
        before = self.told.operations[child]
        own = operation_maps(self.node)[operation.index].of_kind("data")
        own = own.take(np.isin(own.src, [ROWS, *(c.id + 1 for c in before.columns)]))
        arrays = {c.id for c in before.columns if is_array(before, c.id)}
        i, j = matched(cells & _COLUMN, own.out)
        src = own.src[j].copy()
        for n, (cell, source) in enumerate(zip(cells[i].tolist(), src.tolist(), strict=True)):
            if source - 1 in arrays:
                whole = (cell & _COLUMN) == source
                element = (cell >> PLACES) - 1 if whole else element_of(operation, (cell & _COLUMN) - 1, source - 1)
                src[n] |= (element + 1) << PLACES
        return collected(cells[i], src, own.may[j], own.sure[j], own.via[j], own.doubt[j])

    def decide(
        self,
        operation: Operation,
        child: int,
        cells: Int64,
        lines: Int64,
        parents: Int64,
        sources: Int64,
        may: Int64,
        sure: Int64,
    ) -> None:
        """Clear in `may` the dependences on columns that were not read for a row, and set in `sure` those that were."""
        doubtful = chosen(operation)
        rows = len(self.stage(child).lines)
        copied = self.copied(operation, child) if replay_rule(operation.node).copies else None
        for cell in np.unique(cells[(may & ~sure) != 0]).tolist():
            column, element = (cell & _COLUMN) - 1, (cell >> PLACES) - 1
            if column not in doubtful:
                continue
            readings: list[ColumnRead] | None = None
            if copied is None:
                readings = choices(self.engine, operation, child, rows, column, element)
            for source, condition in sorted(doubtful[column]):
                which = _CONDITIONAL if condition else ~_CONDITIONAL
                open_ = (may & ~sure & which) != 0
                mine = np.flatnonzero(open_ & (cells == cell) & ((sources & _COLUMN) == source + 1))
                if copied is not None:
                    reads = copied.reads(column, source, condition, lines[mine], parents[mine])
                else:
                    uses = [r for r in readings or () if (r.source, r.condition) == (source, condition)]
                    reads = _read(uses, lines[mine], parents[mine])
                maybe, certain = reads
                own = may[mine] & ~sure[mine] & which
                may[mine] &= np.where(maybe, ~0, ~own)
                sure[mine] |= np.where(certain, own, 0)

    def copied(self, operation: Operation, child: int) -> _Copies:
        counts: dict[int, int] = {}
        which: dict[tuple[int, int], int] = {}
        for n, line in enumerate(self.stage(operation.index).lines):
            for of, p in line.parents:
                if of == child:
                    which[n, p] = counts.get(p, 0)
                    counts[p] = which[n, p] + 1
        return _Copies(operation, which)


@dataclass(frozen=True, slots=True)
class _Copies:
    """Number of the copy of its parent that each line is: an operation copies rows in order."""

    operation: Operation
    which: Mapping[tuple[int, int], int]

    def reads(self, column: int, source: int, condition: bool, lines: Int64, parents: Int64) -> tuple[Bools, Bools]:
        made = copies(self.operation)
        maybe, certain = np.zeros(len(lines), dtype=np.bool_), np.zeros(len(lines), dtype=np.bool_)
        for n, pair in enumerate(zip(lines.tolist(), parents.tolist(), strict=True)):
            uses = made[self.which[pair]].get(column, [(column, False, True)])
            sure = [always for c, inside, always in uses if (c, inside) == (source, condition)]
            maybe[n], certain[n] = bool(sure), any(sure)
        return maybe, certain


def _read(readings: Iterable[ColumnRead], lines: Int64, parents: Int64) -> tuple[Bools, Bools]:
    """Return for each line whether it may have read its parent, and whether it certainly did."""
    maybe, certain = np.zeros(len(lines), dtype=np.bool_), np.zeros(len(lines), dtype=np.bool_)
    for reading in readings:
        if reading.holds is None:
            maybe[:] = True
            continue
        holds = reading.holds[parents]
        maybe |= holds
        if reading.pick:
            many = np.bincount(lines[holds], minlength=int(lines.max(initial=-1)) + 1)
            certain |= holds & (many[lines] == 1)
        else:
            certain |= holds
    return maybe, certain


def _grouped(bits: Bits, labels: list[tuple[int, int]]) -> list[tuple[Boxes, Bits]]:
    """Group row pairs by their column dependencies. Of a row with several lines, only what these agree on is sure."""
    many: dict[int, int] = {}
    for row, _ in labels:
        many[row] = many.get(row, 0) + 1
    cells: dict[tuple[int, int], dict[tuple[int, int], list[tuple[int, int, int, int]]]] = {}
    for out, src, may, sure, via, doubt in bits:
        pair = labels[out >> PLACES][0], src >> PLACES
        cells.setdefault(pair, {}).setdefault((out & _COLUMN, src & _COLUMN), []).append((may, sure, via, doubt))
    groups: dict[tuple[tuple[int, int, int, int, int, int], ...], list[tuple[int, int]]] = {}
    for (row, source), by_column in cells.items():
        entries = []
        for (out, src), told in sorted(by_column.items()):
            may, via, doubt = (reduce(or_, (t[n] for t in told)) for n in (0, 2, 3))
            sure = reduce(and_, (t[1] for t in told)) if len(told) == many[row] else 0
            entries.append((out, src, may, sure, via, doubt))
        groups.setdefault(tuple(entries), []).append((row, source))
    made = []
    for key, pairs in groups.items():
        rows, sources = np.array(pairs, dtype=np.int64).T
        made.append((unite(rows, sources, np.ones(len(rows), dtype=np.int64)), Bits.of(key)))
    return made
