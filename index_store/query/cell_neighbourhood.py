"""Neighbourhood of cells: the edges of a neighbourhood of rows, restricted by the column matrices of the writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from provspark.index_store.query.bits import ROWS, Bits, compose, named
from provspark.index_store.query.column_maps import carried, column_map, names_of
from provspark.index_store.query.neighbourhood import Neighbourhood, prov_document
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.notebook import SHOWN, table_html
from provspark.index_store.query.operation_activities import TextOf, add_operations_of_cells
from provspark.model.errors import ConditionError
from provspark.model.neighbours import CellEdge, CellNode, RowEdge, RowNode

__all__ = ["CellNeighbourhood", "collect_cells"]


@dataclass(frozen=True, slots=True, repr=False)
class CellNeighbourhood:
    """Cells and the edges between them, sorted, together with the neighbourhood of their rows."""

    near: Neighbourhood
    cells: tuple[CellNode, ...]
    edges: tuple[CellEdge, ...]
    same: tuple[tuple[CellNode, CellNode], ...]
    """Pairs of cells that are the same value of the same record in two versions."""

    def __repr__(self) -> str:
        return f"<cells: {len(self.cells):,}, with edges: {len(self.edges):,}, in the {repr(self.near)[1:-1]}>"

    def _repr_html_(self) -> str:
        edges = [
            (e.cell.row.row, e.cell.column, e.source.row.row, e.source.column, e.dependence, e.step)
            for e in self.edges[:SHOWN]
        ]
        names = ("row", "column", "source row", "source column", "dependence", "step")
        columns = zip(*edges, strict=True) if edges else [()] * len(names)
        table = pa.table({name: pa.array(column) for name, column in zip(names, columns, strict=True)})
        return self.near._repr_html_() + table_html(table, (), len(self.edges))

    def prov_json(self, *, operations: bool = True, text: TextOf | None = None) -> dict[str, Any]:
        """Return the cells and edges as W3C PROV-JSON; see `Neighbourhood.prov_json`."""
        document = prov_document(self.near, operations=operations, text=text)
        document.add_cells(self.cells, self.edges, self.same)
        if operations:
            add_operations_of_cells(document, self.near.writes, self.edges)
        return document.json()


def collect_cells(
    near: Neighbourhood, start: Iterable[RowNode], columns: Iterable[str], direction: Direction, *, limit: int
) -> CellNeighbourhood:
    """Collect the cells related to given cells, along the edges of a neighbourhood of their rows.

    Raises
    ------
    ConditionError
        There are more than `limit` edges.
    """
    columns = list(columns)
    return _Cells(near, direction, limit).around([CellNode(row, c) for row in start for c in columns])


class _Cells:
    def __init__(self, near: Neighbourhood, direction: Direction, limit: int) -> None:
        self.near, self.backward, self.limit = near, direction == "backward", limit
        self.by_row: dict[RowNode, list[RowEdge]] = {}
        for edge in near.edges:
            self.by_row.setdefault(edge.row if self.backward else edge.source, []).append(edge)
        self.alike: dict[RowNode, list[tuple[RowNode, RowNode]]] = {}
        for pair in near.same:
            for row in pair:
                self.alike.setdefault(row, []).append(pair)
        self.maps: dict[object, list[tuple[str, str, int, int]]] = {}

    def around(self, start: list[CellNode]) -> CellNeighbourhood:
        edges: set[CellEdge] = set()
        same: set[tuple[CellNode, CellNode]] = set()
        seen, waiting = set(start), list(start)
        while waiting:
            cell = waiting.pop()
            around = [e for edge in self.by_row.get(cell.row, ()) for e in self.through(edge, cell)]
            twins = list(self.twins(cell))
            edges.update(around)
            same.update(twins)
            if len(edges) + len(same) > self.limit:
                raise ConditionError(
                    f"There are more than {self.limit:,} edges around these cells. Ask about fewer cells, or pass a "
                    f"larger limit."
                )
            ends = [e.source if self.backward else e.cell for e in around] + [c for pair in twins for c in pair]
            for end in ends:
                if end not in seen:
                    seen.add(end)
                    waiting.append(end)
        return CellNeighbourhood(self.near, tuple(sorted(seen)), tuple(sorted(edges)), tuple(sorted(same)))

    def through(self, edge: RowEdge, cell: CellNode) -> Iterator[CellEdge]:
        """Yield the edges of a cell along an edge of its row."""
        for out, src, may, sure in self.map(edge):
            if cell.column == (out if self.backward else src):
                for _, dependence, which in named(may):
                    ends = CellNode(edge.row, out), CellNode(edge.source, src)
                    step, write, occurrence = edge.step, edge.write, edge.occurrence
                    yield CellEdge(*ends, step, write, occurrence, edge.kind, dependence, bool(sure & which))

    def map(self, edge: RowEdge) -> list[tuple[str, str, int, int]]:
        """Return the columns that a write relates along an edge: output column, input column, may, sure."""
        key = (edge.step, edge.write, edge.source.version, edge.occurrence, edge.kind, edge.row.version)
        if key not in self.maps:
            node = self.near.writes[edge.step, edge.write]
            axis = next(
                i
                for i, a in enumerate(node.write.axes)
                if (a.role, a.version, a.occurrence) == ("input", edge.source.version, edge.occurrence)
            )
            bits = column_map(node).axes.get(axis, Bits.of(())).of_kind(edge.kind)
            one, other = self.near.versions[edge.row.version], self.near.versions[edge.source.version]
            bits = compose(compose(carried(one, node.output), bits), carried(node.inputs[edge.source.version], other))
            self.maps[key] = self.names(bits, edge.row, edge.source)
        return self.maps[key]

    def twins(self, cell: CellNode) -> Iterator[tuple[CellNode, CellNode]]:
        for one, other in self.alike.get(cell.row, ()):
            key = (one.version, other.version)
            if key not in self.maps:
                bits = carried(*(self.near.versions[v] for v in key))
                self.maps[key] = self.names(bits, one, other)
            for a, b, _, _ in self.maps[key]:
                if cell in (pair := (CellNode(one, a), CellNode(other, b))):
                    yield pair

    def names(self, bits: Bits, one: RowNode, other: RowNode) -> list[tuple[str, str, int, int]]:
        mine, theirs = (("", *names_of(self.near.versions[r.version])) for r in (one, other))
        return [(mine[out], theirs[src], may, sure) for out, src, may, sure, *_ in bits if out != ROWS]
