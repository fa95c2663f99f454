"""Ends of columns: the operation that dropped a column, and the columns that it had gone into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from provspark.index_store.query.answer import about
from provspark.index_store.query.bits import ROWS
from provspark.index_store.query.column_maps import carried, column_map, names_of
from provspark.index_store.query.links import Linker
from provspark.index_store.query.memo import kept
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.query.notebook import brief, listed
from provspark.index_store.query.tabular import FormerTable
from provspark.index_store.query.walk import unreadable_stops
from provspark.model.datasets import Version
from provspark.model.progress import enter
from provspark.model.stops import Blur, Stop

__all__ = ["Drop", "Drops", "drops_of"]


@dataclass(frozen=True, slots=True, order=True)
class Drop:
    """An operation that dropped a column."""

    column: str
    """Name of the column in the question."""
    step: str
    write: int
    dataset: str
    """Dataset that the write wrote."""
    operation: int
    known_as: str
    """Name of the column when it was dropped."""
    text: str
    site: str
    name: str
    into: tuple[str, ...]
    """Output columns of the write that its values went into or decided about."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drops(FormerTable):
    """All drops of some columns; a column that is never dropped has none."""

    asked: Version
    lines: tuple[Drop, ...]
    stops: tuple[Stop, ...] = field()  # without it, the parent's property would be the default

    def table(self) -> pa.Table:
        """Return a table with a row for each `Drop`."""
        columns = {n: [getattr(x, n) for x in self.lines] for n in Drop.__slots__}
        return pa.table(
            {f.name: pa.array(columns[f.name], f.type) for f in _SCHEMA}, schema=_SCHEMA
        ).replace_schema_metadata(about(self.asked, "forward", self.stops))

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        return brief(f"columns dropped after {listed([self.asked.dataset])}", len(self), self.stops)


_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("column", "known_as", "text", "site", "name", "step")),
        *(("write", pa.int32()), ("dataset", pa.string()), ("operation", pa.int32()), ("into", pa.list_(pa.string()))),
    ]
)


def drops_of(linker: Linker, start: VersionReference, positions: list[int]) -> Drops:
    """Follow columns forward as long as they are passed on: unchanged, renamed, or with other values."""
    lines: set[Drop] = set()
    stops = set(unreadable_stops(linker.graph))
    names = names_of(start)
    waiting = [(start, at, names[at - 1]) for at in positions]
    seen = set()
    while waiting:
        at, position, asked = waiting.pop()
        if (at, position) in seen:
            continue
        seen.add((at, position))
        own = at is at.node.output and at.node.write.tensors
        links = linker.onward(at.node) if own else linker.links(at, "forward")
        for link in links.links:
            node = link.target.node
            enter(node.step)
            there = {e[0] for e in carried(link.target, at) if e[1] == position and e[0] != ROWS}
            if not node.operations:
                untracked = node.write.coverage == "untracked"
                why = str(node.write.reason) if untracked else "its operations were not kept"
                what: Blur = "untracked" if untracked else "columns"
                stops.add(Stop(what, node.step, str(node.write.output.dataset), why))
                continue
            drops, on = _within(node, link.target, there, asked)
            lines.update(drops)
            waiting += [(node.output, p, asked) for p in on]
    return Drops(start.version, tuple(sorted(lines)), tuple(sorted(stops)))


def _within(node: WriteNode, at: VersionReference, positions: set[int], asked: str) -> tuple[list[Drop], set[int]]:
    """Return the operations of a write that drop a column that it reads, and the column's positions in its output."""
    names = names_of(at)
    wanted = {names[p - 1] for p in positions}
    axes = {i for i, a in enumerate(node.write.axes) if a.role == "input" and a.version == at.version.id}
    into = _into(node, axes, positions)
    live: list[dict[int, str]] = []
    drops: list[Drop] = []
    for op, shape in zip(node.operations, _shapes(node), strict=True):
        if op.axes:
            here = {c.id: c.name for c in op.columns if axes & set(op.axes) and c.name in wanted}
            before = dict.fromkeys(range(len(wanted)), min(wanted)) if axes & set(op.axes) and wanted else {}
        else:
            before = {i: name for k in op.children for i, name in live[k].items()}
            here = dict(_handed(shape, before))
        if before and not here:
            called = next(iter(before.values()))
            place = node.step, node.write.index, str(node.write.output.dataset), op.index
            drops.append(Drop(asked, *place, called, op.text, op.site, op.name, into))
        live.append(here)
    output = names_of(node.output)
    return drops, {1 + output.index(name) for name in live[-1].values() if name in output}


_Reads = tuple[dict[int, str], dict[int, list[tuple[int, bool]]]]
"""Names of an operation's columns by id; and by id of a column that it reads, the columns made from it, each with
whether it is unchanged."""


@kept
def _shapes(node: WriteNode) -> tuple[_Reads, ...]:
    shapes = []
    for op in node.operations:
        into: dict[int, list[tuple[int, bool]]] = {}
        for link in op.links:
            into.setdefault(link.source, []).append((link.out, link.kind == "identity"))
        shapes.append(({c.id: c.name for c in op.columns}, into))
    return tuple(shapes)


def _handed(shape: _Reads, before: dict[int, str]) -> Iterator[tuple[int, str]]:
    """Yield the columns of an operation that continue others: passed on, renamed, or recomputed under the same name."""
    names, into = shape
    for i, name in before.items():
        if i in names:
            yield i, names[i]
        for out, same in into.get(i, ()):
            if out in names and (same or names[out] == name):
                yield out, names[out]


def _into(node: WriteNode, axes: set[int], positions: set[int]) -> tuple[str, ...]:
    """Return the output columns of a write that came from given columns of some readings."""
    output = names_of(node.output)
    places: set[int] = set()
    for axis, bits in column_map(node).axes.items():
        if axis in axes:
            some = np.isin(bits.src, list(positions)) & (bits.may != 0) & (bits.out != ROWS)
            places.update(bits.out[some].tolist())
    return tuple(output[p - 1] for p in sorted(places))
