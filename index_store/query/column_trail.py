"""Paths of columns through operations: for each operation, the columns that derive from them, or lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provspark.index_store.query.bits import ROWS
from provspark.index_store.query.column_maps import carried, names_of, output_places, source_places
from provspark.index_store.query.links import Linker, Links
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.walk import plan
from provspark.model.operations import Column, Operation
from provspark.model.progress import enter

__all__ = ["Trail", "trails"]


@dataclass(frozen=True, slots=True)
class Trail:
    """Path of some columns within a write: by operation number, the ids of the columns that it passes on."""

    node: WriteNode
    columns: dict[int, frozenset[int]]

    def of(self, operation: Operation) -> tuple[Column, ...]:
        """Return the columns of an operation that are on the path."""
        mine = self.columns.get(operation.index, frozenset())
        return tuple(dict.fromkeys(c for c in operation.columns if c.id in mine))


def trails(linker: Linker, start: VersionReference, positions: set[int], direction: Direction) -> Iterator[Trail]:
    """Yield the path of columns in each write that they came from, or went into; nearest first.

    A path includes the columns that a column's values go into or decide about, but not what only decides about rows.
    """
    waiting: dict[WriteNode, dict[str, set[int]]] = {}

    def arrive(links: Links, at: VersionReference, here: set[int]) -> None:
        for link in links.links:
            there = link.target
            if direction == "backward":
                reached = {e[1] for e in carried(at, there) if e[0] in here} - {ROWS}
            else:
                reached = {e[0] for e in carried(there, at) if e[1] in here} - {ROWS}
            if reached:
                waiting.setdefault(there.node, {}).setdefault(there.version.id, set()).update(reached)

    arrive(linker.links(start, direction), start, positions)
    for node in plan(linker, [start], direction).nodes:
        mine = waiting.pop(node, None)
        if mine is None or not node.operations:
            continue
        enter(node.step)
        if direction == "backward":
            trail = _behind(node, mine[node.output.version.id])
            yield trail
            for at, indices in _sources(node, trail):
                arrive(linker.links(at, direction), at, indices)
        else:
            trail = _ahead(node, mine)
            yield trail
            last = trail.columns.get(node.operations[-1].index, frozenset())
            columns = zip(node.operations[-1].columns, output_places(node), strict=True)
            arrive(linker.onward(node), node.output, {at for c, at in columns if c.id in last and at >= 0})


def _ahead(node: WriteNode, versions: dict[str, set[int]]) -> Trail:
    columns: dict[int, frozenset[int]] = {}
    for op in node.operations:
        here: set[int] = set()
        for version, places in source_places(node, op):
            mine = versions.get(version.version.id, set())
            here |= {c.id for c, at in zip(op.columns, places, strict=True) if at in mine}
        below = frozenset[int]().union(*(columns.get(i, frozenset()) for i in (*op.children, *op.subqueries)))
        here |= {c.id for c in op.columns if c.id in below}
        here |= {link.out for link in op.links if link.source in below and link.out >= 0}
        if here:
            columns[op.index] = frozenset(here)
    return Trail(node, columns)


def _behind(node: WriteNode, positions: set[int]) -> Trail:
    last = node.operations[-1]
    wanted: dict[int, set[int]] = {
        last.index: {c.id for c, at in zip(last.columns, output_places(node), strict=True) if at in positions}
    }
    for op in reversed(node.operations):
        here = wanted.get(op.index, set())
        sources = here | {link.source for link in op.links if link.out in here}
        for i in (*op.children, *op.subqueries):
            mine = {c.id for c in node.operations[i].columns} & sources
            if mine:
                wanted.setdefault(i, set()).update(mine)
    return Trail(node, {i: frozenset(ids) for i, ids in sorted(wanted.items()) if ids})


def _sources(node: WriteNode, trail: Trail) -> Iterator[tuple[VersionReference, set[int]]]:
    for op in node.operations:
        mine = trail.columns.get(op.index, frozenset())
        for at, places in source_places(node, op):
            indices = {p for c, p in zip(op.columns, places, strict=True) if c.id in mine and p >= 0}
            if indices and names_of(at):
                yield at, indices
