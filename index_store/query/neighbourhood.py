"""The neighbourhood of rows: all rows on the paths from them, and the edges between these rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from provspark.index_store.export.graphs import RowGraph, row_graph
from provspark.index_store.export.prov_json import ProvDocument
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.notebook import brief, graph_html, listed
from provspark.index_store.query.operation_activities import TextOf, add_operations
from provspark.index_store.query.relation import gathered, identity, image, restrict
from provspark.index_store.query.shared_records import shared
from provspark.index_store.query.tally import distinct_pairs
from provspark.index_store.query.walk import Stand, WalkPlan, Ways, next_nodes, plan, walk
from provspark.index_store.query.write_walk import WalkLimit, walk_axes
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import pairs, transpose
from provspark.model.errors import ConditionError
from provspark.model.neighbours import RowEdge, RowNode
from provspark.model.runs import Runs
from provspark.model.stops import Stop
from provspark.model.wording import counted
from provspark.model.writes import Kind


@dataclass(frozen=True, slots=True, repr=False)
class Neighbourhood:
    """Rows and the edges between them, sorted."""

    rows: tuple[RowNode, ...]
    edges: tuple[RowEdge, ...]
    same: tuple[tuple[RowNode, RowNode], ...]
    """Pairs of rows that are the same record in two versions."""
    dropped: tuple[tuple[RowNode, str, int], ...]
    """Forward: rows that a write (step, number) read, but from which no row of its output was made."""
    writes: Mapping[tuple[str, int], WriteNode] = field(compare=False)
    versions: Mapping[str, VersionReference] = field(compare=False)
    stops: tuple[Stop, ...]

    def __or__(self, other: Neighbourhood) -> Neighbourhood:
        return Neighbourhood(
            tuple(sorted({*self.rows, *other.rows})),
            tuple(sorted({*self.edges, *other.edges})),
            tuple(sorted({*self.same, *other.same})),
            tuple(sorted({*self.dropped, *other.dropped})),
            {**self.writes, **other.writes},
            {**self.versions, **other.versions},
            tuple(sorted({*self.stops, *other.stops})),
        )

    def __repr__(self) -> str:
        places = dict.fromkeys(str(at.version.dataset) for at in self.versions.values())
        more = f": {counted(len(self.rows), 'row')}, {counted(len(self.edges), 'edge')}"
        return brief(f"neighbourhood in {listed(places)}", None, self.stops, more)

    def _repr_html_(self) -> str:
        number = {key: i for i, key in enumerate(self.versions)}
        count = Counter(row.version for row in self.rows)
        boxes = [(str(at.version.dataset), counted(count[key], "row")) for key, at in self.versions.items()]
        flows = Counter((e.source.version, e.row.version, e.step, e.kind) for e in self.edges)
        edges = (
            (number[source], number[row], f"{step} ({kind}): {counted(n, 'edge')}")
            for (source, row, step, kind), n in flows.items()
        )
        return graph_html(boxes, edges, self.stops)

    def prov_json(self, *, operations: bool = True, text: TextOf | None = None) -> dict[str, Any]:
        """Return a W3C PROV document as PROV-JSON; see `provspark.index_store.export.prov_json`.

        Parameters
        ----------
        operations : bool
            Include the operations of each write as activities that are part of it.
        text : function of (write, numbers of operations, text), optional
            Return the text that may be shown, or None.
        """
        return prov_document(self, operations=operations, text=text).json()

    def node_link(self) -> dict[str, Any]:
        """Return the graph in NetworkX's node-link JSON; see `provspark.index_store.export.graphs`."""
        return self._graph().node_link()

    def graphml(self) -> str:
        """Return the graph as GraphML."""
        return self._graph().graphml()

    def networkx(self) -> Any:
        """Return the graph as a `networkx.MultiDiGraph`, if networkx is installed."""
        return self._graph().networkx()

    def _graph(self) -> RowGraph:
        return row_graph(self.rows, self.edges, self.same, self.dropped)


def prov_document(near: Neighbourhood, *, operations: bool = True, text: TextOf | None = None) -> ProvDocument:
    """Return the W3C PROV document of a neighbourhood."""
    document = ProvDocument()
    document.add_versions(at.version for at in near.versions.values())
    document.add_rows(near.rows, near.edges, near.same, near.dropped)
    document.add_writes(
        (node.manifest, node.write) for _, node in sorted(near.writes.items(), key=lambda item: item[0])
    )
    if operations:
        add_operations(document, near.writes, near.edges, near.dropped, text or (lambda node, numbers, told: told))
    return document


def collect_rows(
    linker: Linker,
    start: VersionReference,
    rows: Runs,
    direction: Direction,
    *,
    context: bool,
    hops: int | None,
    limit: int,
) -> Neighbourhood:
    """Collect the rows and edges on the paths from some rows.

    Parameters
    ----------
    hops : int, optional
        Maximum number of steps to follow.
    limit : int
        Maximum number of edges.

    Raises
    ------
    ConditionError
        There are more edges.
    """
    near = _Near(linker, context, limit)
    near.stand(start, rows)
    near.go(start, rows, direction, hops)
    return near.result()


@dataclass(slots=True)
class _Arrived:
    """A `WalkSink` that records the rows that arrive at each write, and the rows of shared files."""

    axes: dict[WriteNode, dict[int, Runs]] = field(default_factory=dict)
    shares: list[tuple[VersionReference, VersionReference, Runs]] = field(default_factory=list)
    stops: set[Stop] = field(default_factory=set)

    def limit(self, node: WriteNode) -> WalkLimit:
        axes = self.axes.setdefault(node, {})

        def note(axis: int, kind: Kind, rel: Boxes) -> Boxes:
            axes[axis] = axes[axis] | image(rel) if axis in axes else image(rel)
            return rel

        return note

    def met(
        self,
        at: VersionReference,
        origin: VersionReference,
        via: WriteNode | None,
        occurrence: int,
        kind: Kind,
        rel: Boxes,
    ) -> None:
        if via is None and at.key != origin.key:
            self.shares.append((origin, at, image(rel)))

    def ended(self, at: VersionReference, occurrence: int, kind: Kind, rel: Boxes) -> None:
        pass

    def stopped(self, stop: Stop) -> None:
        self.stops.add(stop)


class _Near:
    def __init__(self, linker: Linker, context: bool, limit: int) -> None:
        self.linker, self.context, self.limit = linker, context, limit
        self.rows: set[RowNode] = set()
        self.edges: set[RowEdge] = set()
        self.same: set[tuple[RowNode, RowNode]] = set()
        self.dropped: set[tuple[RowNode, str, int]] = set()
        self.writes: dict[tuple[str, int], WriteNode] = {}
        self.versions: dict[str, VersionReference] = {}
        self.stops: set[Stop] = set()

    def go(self, start: VersionReference, rows: Runs, direction: Direction, hops: int | None) -> None:
        route = plan(self.linker, [start], direction)
        inside = _within(self.linker, start, route, hops)
        arrived = _Arrived()
        ways = Ways(inside, limit=arrived.limit)
        walk(self.linker, route, [Stand(start, gathered(rows))], arrived, context=self.context, ways=ways)
        self.stops |= arrived.stops
        for node, axes in arrived.axes.items():
            self.writes[node.step, node.write.index] = node
            if direction == "backward":
                self.made(node, axes.get(0, Runs.span(0)))
            else:
                self.used(node, axes)
        for origin, at, met in arrived.shares:
            both = restrict(shared(origin, at), met)
            for one, other in self.listed(both):
                self.same.add((self.node(origin, one), self.node(at, other)))

    def made(self, node: WriteNode, rows: Runs) -> None:
        """Add the edges from rows of a write's output to their sources."""
        ends = {i for i, a in enumerate(node.write.axes) if a.role == "input"}
        start = {(0, _DATA): identity(rows)}
        for (axis, kind), rel in walk_axes(node, start, "backward", context=self.context, keep=ends).items():
            self.add(node, axis, kind, rel)

    def used(self, node: WriteNode, axes: Mapping[int, Runs]) -> None:
        """Add the edges from rows of a write's inputs to the output, and the rows that were dropped."""
        left: dict[str, Runs] = {}
        for i, axis in enumerate(node.write.axes):
            if axis.role == "input" and i in axes:
                left[axis.version] = left[axis.version] | axes[i] if axis.version in left else axes[i]
        for i, axis in enumerate(node.write.axes):
            if axis.role != "input" or axis.version not in left:
                continue
            start = {(i, _DATA): identity(axes.get(i, Runs.span(0)))}
            for (_, kind), rel in walk_axes(node, start, "forward", context=True, keep={0}).items():
                left[axis.version] = left[axis.version] - Runs.united(rel.out, rel.n_out)
                if kind == "data" or self.context:
                    self.add(node, i, kind, transpose(rel))
        for version, rows in left.items() if node.write.coverage == "exact" else ():
            if len(self.dropped) + rows.count > self.limit:
                raise self.too_many()
            at = node.inputs[version]
            self.dropped |= {(self.node(at, row), node.step, node.write.index) for row in rows.rows().tolist()}

    def add(self, node: WriteNode, axis: int, kind: Kind, boxes: Boxes) -> None:
        read = node.write.axes[axis]
        source = node.inputs[read.version]
        for out, src in self.listed(boxes):
            ends = self.node(node.output, out), self.node(source, src)
            self.edges.add(RowEdge(*ends, node.step, node.write.index, read.occurrence, kind))

    def listed(self, boxes: Boxes) -> Iterator[tuple[int, int]]:
        if len(self.edges) + distinct_pairs(boxes) > self.limit:
            raise self.too_many()
        one, other = pairs(boxes)
        yield from zip(one.tolist(), other.tolist(), strict=True)

    def stand(self, at: VersionReference, rows: Runs) -> None:
        if rows.count > self.limit:
            raise self.too_many()
        for row in rows.rows().tolist():
            self.node(at, row)

    def node(self, at: VersionReference, row: int) -> RowNode:
        self.versions.setdefault(at.version.id, at)
        node = RowNode(str(at.version.dataset), at.version.id, row)
        self.rows.add(node)
        return node

    def too_many(self) -> ConditionError:
        return ConditionError(
            f"There are more than {self.limit:,} edges around these rows. Select fewer rows or hops, or raise limit."
        )

    def result(self) -> Neighbourhood:
        known = {v: self.versions[v] for v in sorted(self.versions)}
        parts = (tuple(sorted(some)) for some in (self.rows, self.edges, self.same, self.dropped))
        return Neighbourhood(*parts, self.writes, known, tuple(sorted(self.stops)))  # type: ignore[arg-type, call-arg]


_DATA: Kind = "data"


def _within(linker: Linker, start: VersionReference, route: WalkPlan, hops: int | None) -> Callable[[WriteNode], bool]:
    """Return a predicate: whether a write is at most `hops` steps away."""
    if hops is None:
        return lambda node: True
    inside: set[WriteNode] = set()
    ring = {k.target.node for k in linker.links(start, route.direction).links}
    for _ in range(hops):
        inside |= ring
        ring = {n for node in ring for n in next_nodes(linker, node, route.direction)} - inside
    return inside.__contains__
