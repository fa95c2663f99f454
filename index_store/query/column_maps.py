"""Matrices of what each output column of a write came from: products of the operations' matrices.

`WayChoice` selects the operations in `via`: ``all`` on the paths of a row and its columns; those ``touching`` a column,
where an operation that leaves the rows as they are does not touch a count of them; or only those that touch it for
``sure``, whatever the values of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from provspark.index_store.query.bits import ROWS, BitEntry, Bits, bit, compose, identity, union
from provspark.index_store.query.choices import chosen, counts_rows, picked
from provspark.index_store.query.memo import kept
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.model.datasets import Version
from provspark.model.operations import Column, Operation
from provspark.model.writes import Kind

__all__ = [
    "PLACES",
    "ColumnMap",
    "WayChoice",
    "carried",
    "carried_on",
    "column_map",
    "leaves_rows",
    "names_of",
    "operation_maps",
    "output_places",
    "source_places",
]

PLACES = 20
"""Number of bits of a position in an axis: a source is axis and position in one integer."""
WayChoice = Literal["all", "touching", "sure"]
_OF_COLUMNS = frozenset({"transformation", "vertical reduction", "vertical augmentation"})
_OUTER = 1 << 50
"""Flag of a column of the query around a subquery, which takes the place of a source until that query is reached."""


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """Matrix from the columns of a write's output to those of its readings.

    Positions are 1 + the index of the field; 0 represents the rows. The bits of `via` and `doubt` are the numbers of
    operations; the one after the last represents the write as a whole.
    """

    node: WriteNode
    bits: Bits
    """`src` is the axis and the position in one integer."""
    known: bool
    """False if some reading is in no operation: every column of the output may then come from every column of it."""

    @cached_property
    def axes(self) -> dict[int, Bits]:
        """Matrix of each reading, by axis; `src` is the position."""
        at = self.bits.src >> PLACES
        parts = {axis: self.bits.take(at == axis) for axis in np.unique(at).tolist()}
        return {axis: p.moved(src=p.src & ((1 << PLACES) - 1)) for axis, p in parts.items()}

    @cached_property
    def mixed(self) -> frozenset[int]:
        """Readings that several paths of context edges lead to, so which columns used which rows is unknown."""
        node = self.node
        axes: list[int] = []
        for tensor in node.write.tensors:
            if tensor.kind == "context":
                behind = {tensor.src}
                for axis in node.axes("backward"):
                    behind |= {t.src for t in node.write.tensors if t.out == axis and axis in behind}
                axes += behind
        return frozenset(axis for axis in axes if axes.count(axis) > 1)


@kept
def column_map(node: WriteNode, ways: WayChoice = "all") -> ColumnMap:
    """Return the matrix of a write; that of an untracked write is empty."""
    operations = node.operations
    told = {axis for op in operations for axis in op.axes}
    blurred = _blurred(node, {axis: kinds for axis, kinds in _kinds(node).items() if axis not in told}, ways)
    if not operations:
        return ColumnMap(node, blurred, False)
    last = _states(node, ways)[-1]
    return ColumnMap(node, union([_written(node, last.take(last.src < _OUTER)), blurred]), not len(blurred))


def _written(node: WriteNode, made: Bits) -> Bits:
    """Convert the matrix of the last operation's columns to that of the written columns."""
    where = {c.id + 1: at for c, at in zip(node.operations[-1].columns, output_places(node), strict=True) if at >= 0}
    return Bits.of((where.get(e[0], ROWS), *e[1:]) for e in made if e[0] == ROWS or e[0] in where)


@kept
def operation_maps(node: WriteNode) -> tuple[Bits, ...]:
    """Return the matrix of each operation, from the columns that it passes on to those of the operations that it reads.

    Columns are 1 + their ids. A source leads to its readings, with positions as in `ColumnMap.bits`; so does what comes
    from a subquery.
    """
    operations, states = node.operations, _states(node, "all")
    maps = []
    for op in operations:
        if op.axes:
            maps.append(states[op.index])
            continue
        below = {c: identity([ROWS, *(x.id + 1 for x in operations[c].columns)]) for c in op.children}
        maps.append(_made(op, operations, {**{i: states[i] for i in op.subqueries}, **below}))
    return tuple(maps)


@kept
def _states(node: WriteNode, ways: WayChoice) -> tuple[Bits, ...]:
    """Return for each operation what its columns came from."""
    states: list[Bits] = []
    for op in node.operations:
        states.append(_source(node, op) if op.axes else _made(op, node.operations, dict(enumerate(states)), ways))
    return tuple(states)


def carried_on(node: WriteNode, begins: Mapping[int, Bits], ways: WayChoice) -> Bits:
    """Relate a write's output to what some operations made their columns from, given by operation number."""
    states: dict[int, Bits] = {}
    for op in node.operations:
        made = Bits.of(()) if op.axes else _made(op, node.operations, states, ways)
        states[op.index] = union([made, begins[op.index]]) if op.index in begins else made
    last = states[node.operations[-1].index]
    return _written(node, last.take((last.src < _OUTER) & (last.out != ROWS)))


@kept
def names_of(at: VersionReference) -> tuple[str, ...]:
    """Return a version's columns as its step names them: its fields, or else those of its operations, if any."""
    if at.version.fields:
        return tuple(f.name for f in at.version.fields)
    operations = at.node.operations
    if not operations:
        return ()
    if at is at.node.output:
        return tuple(c.name for c in operations[-1].columns)
    axes = {i for i, a in enumerate(at.node.write.axes) if a.version == at.version.id and a.role == "input"}
    lists = (op.columns for op in operations if axes & set(op.axes))
    return tuple(dict.fromkeys(c.name for columns in lists for c in columns))


@kept
def carried(one: VersionReference, other: VersionReference) -> Bits:
    """Relate the columns of a version as one step names them to the same columns as another step names them."""
    mine, theirs = names_of(one), names_of(other)
    places: list[tuple[int, int]] = [(ROWS, ROWS)]
    if one.version.format == "text" != other.version.format:
        data = [n for n in theirs if n not in other.version.partitions]
        whole = bit("transformation")
        lines = [(1 + mine.index("value"), 1 + theirs.index(n), whole, whole, 0, 0) for n in data if "value" in mine]
        return union([Bits.of(lines), Bits.of([(ROWS, ROWS, 1, 1, 0, 0)])])
    if _by_position(one.version, other.version, mine, theirs):
        parts = {*one.version.partitions, *other.version.partitions}
        places += [
            (1 + mine.index(a), 1 + theirs.index(b))
            for a, b in zip([n for n in mine if n not in parts], [n for n in theirs if n not in parts], strict=False)
        ]
        places += [(1 + mine.index(n), 1 + theirs.index(n)) for n in parts if n in mine and n in theirs]
    else:
        places += [(1 + i, 1 + at) for i, n in enumerate(mine) if (at := _find(n, theirs)) is not None]
    return Bits.of((a, b, 1, 1, 0, 0) for a, b in places)


def _by_position(one: Version, other: Version, mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether to match columns by position, as for CSV, where a reader's schema may rename them."""
    return one.format == other.format == "csv" and mine != theirs


def _find(name: str, names: tuple[str, ...]) -> int | None:
    """Return the index of a name, or else of the only name that differs just in case."""
    if name in names:
        return names.index(name)
    near = [i for i, n in enumerate(names) if n.lower() == name.lower()]
    return near[0] if len(near) == 1 else None


def output_places(node: WriteNode) -> list[int]:
    """Return the position in a write's output of each column of its last operation; -1 if it has none of that name."""
    return _places(node.output, node.operations[-1].columns)


def source_places(node: WriteNode, operation: Operation) -> list[tuple[VersionReference, list[int]]]:
    """Return each version that an operation reads, with the position in it of each column that it passes on."""
    read = dict.fromkeys(node.write.axes[a].version for a in operation.axes)
    versions = [node.inputs[version] for version in read if version]
    return [(at, _places(at, operation.columns)) for at in versions]


def _places(at: VersionReference, columns: tuple[Column, ...]) -> list[int]:
    """Return the position of each column in a version; -1 if it has none of that name."""
    names = names_of(at)
    places = [_find(c.name, names) for c in columns]
    return [-1 if at is None else at + 1 for at in places]


def _source(node: WriteNode, op: Operation) -> Bits:
    entries: list[BitEntry] = []
    via = 1 << op.index
    for axis in op.axes:
        places = _places(node.inputs[node.write.axes[axis].version], op.columns)
        entries.append((ROWS, axis << PLACES, 1, 1, via, 0))
        # A column that is in no file (such as a file name or a row number) comes from the row itself.
        entries += [
            (c.id + 1, axis << PLACES | max(at, ROWS), 1, 1, via, 0) for c, at in zip(op.columns, places, strict=True)
        ]
    return Bits.of(entries)


def _made(
    op: Operation, operations: tuple[Operation, ...], states: Mapping[int, Bits], ways: WayChoice = "all"
) -> Bits:
    """Multiply an operation's own matrix by those of the operations that it reads."""
    below = [states[i] for i in op.children]
    here = union([*below, *(states[i] for i in op.subqueries)])
    known = {c.id for i in (*op.children, *op.subqueries) for c in operations[i].columns}
    outer = {link.source for link in op.links} - known
    here = union([here, Bits.of((i + 1, _OUTER | i + 1, 1, 1, 0, 0) for i in outer)])
    counting = {e.column for e in op.expressions if e.column >= 0 and counts_rows(e)}
    old = {c.id for i in op.children for c in operations[i].columns}
    handed = np.array([c.id + 1 for c in op.columns if c.id in old], dtype=np.int64)
    bare = {c.id for c in op.columns} - old - counting - {link.out for link in op.links}
    parts = [s.take(np.isin(s.out, handed)) for s in below]
    matrix = _matrix(op, counting, bare, ways)
    made = union([*parts, compose(matrix, here), *_decided(op, operations, states, ways)])
    return _resolved(made, below) if op.subqueries else made


def _resolved(bits: Bits, below: list[Bits]) -> Bits:
    """Resolve the columns of the outer query that a subquery uses."""
    outside = bits.src >= _OUTER
    if not outside.any():
        return bits
    taken = bits.take(outside)
    taken = taken.moved(src=taken.src - _OUTER)
    there = np.isin(taken.src, np.concatenate([s.out for s in below]))
    further = taken.take(~there)
    return union(
        [bits.take(~outside), compose(taken.take(there), union(below)), further.moved(src=further.src + _OUTER)]
    )


def _matrix(op: Operation, counting: set[int], bare: set[int], ways: WayChoice) -> Bits:
    """Return the matrix of an operation's links; counts come from the rows, columns without a source have no bit."""
    via = 1 << op.index
    rows = bit("aggregation")
    entries: list[BitEntry] = [(out + 1, ROWS, rows, rows, via, 0) for out in counting]
    entries += [(out + 1, ROWS, 0, 0, via, 0) for out in bare]
    doubtful, some = chosen(op), picked(op)
    for link in op.links:
        mask = bit(link.kind, link.context)
        use = link.source, link.kind == "conditional"
        doubt = (link.context and link.out in some) or use in doubtful.get(link.out, ())
        if doubt and ways == "sure":
            entries.append((link.out + 1, ROWS, 0, 0, via, 0))
            continue
        entries.append((link.out + 1, link.source + 1, mask, 0 if doubt else mask, via, via if doubt else 0))
    return Bits.of(entries)


def _decided(
    op: Operation, operations: tuple[Operation, ...], states: Mapping[int, Bits], ways: WayChoice
) -> list[Bits]:
    """Relate the rows of an operation to what decided about the rows that it reads.

    The edges to a subquery's rows are of the kind of its links.
    """
    via = 0 if ways != "all" and leaves_rows(op, operations) else 1 << op.index
    parts = []
    for i in (*op.children, *op.subqueries):
        made = {c.id for c in operations[i].columns}
        kinds = [link.context for link in op.links if link.source in made]
        one = bit("identity", i in op.subqueries and bool(kinds) and all(kinds))
        parts.append(compose(Bits.of([(ROWS, ROWS, one, one, via, 0)]), states[i]))
    return parts


def leaves_rows(op: Operation, operations: tuple[Operation, ...]) -> bool:
    """Whether an operation passes on exactly the rows that it reads."""
    made = {c.id for c in op.columns} - {c.id for i in op.children for c in operations[i].columns}
    return (
        len(op.children) == 1
        and set(op.categories) <= _OF_COLUMNS
        and all(link.out >= 0 for link in op.links)
        and made <= {e.column for e in op.expressions if e.role == "output"}
    )


def _blurred(node: WriteNode, axes: dict[int, set[Kind]], ways: WayChoice) -> Bits:
    """Relate every column of the output to every column of some readings, none of them sure."""
    via = 1 << len(node.operations)
    outs = range(1, 1 + len(names_of(node.output)))
    entries: list[BitEntry] = []
    for axis, kinds in axes.items():
        mask = sum(bit("transformation", kind == "context") for kind in kinds)
        one = sum(bit("identity", kind == "context") for kind in kinds)
        there = range(1, 1 + len(names_of(node.inputs[node.write.axes[axis].version])))
        entries.append((ROWS, axis << PLACES, one, one, via, 0))
        entries += [(out, axis << PLACES | src, mask, 0, via, via) for out in outs for src in there or [ROWS]]
    bits = Bits.of(entries)
    unsure = bits.out != ROWS
    return union([bits.take(~unsure), bits.take(unsure).emptied(via)]) if ways == "sure" else bits


def _kinds(node: WriteNode) -> dict[int, set[Kind]]:
    """Return the kinds of the paths from the output to each reading."""
    write = node.write
    arrived: dict[int, set[Kind]] = {0: {"data"}}
    for axis in node.axes("backward"):
        for t in write.tensors:
            if t.out == axis and axis in arrived:
                after: set[Kind] = {"context"} if t.kind == "context" else arrived[axis]
                arrived.setdefault(t.src, set()).update(after)
    return {i: kinds for i, kinds in arrived.items() if write.axes[i].role == "input"}
