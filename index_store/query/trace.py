"""Traces: the versions that some rows came through or went into, and the writes between, as a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from provspark.index_store.model import Boxes, Coverage, Dataset, Kind, jsonable
from provspark.index_store.query.around import stops_of_tasks
from provspark.index_store.query.endings import Arrivals, Ending
from provspark.index_store.query.graph import Direction, Node, Sighting
from provspark.index_store.query.links import Linker
from provspark.index_store.query.reach import towards
from provspark.index_store.query.relation import gathered, image
from provspark.index_store.query.returned import stops_around
from provspark.index_store.query.runs import Runs
from provspark.index_store.query.trust import Trust, Trusted
from provspark.index_store.query.walk import Stand, Stop, Ways, plan, walk

Role = Literal["asked", "end", "between"]


@dataclass(frozen=True, slots=True, eq=False)
class TraceNode:
    """A version with the rows that the trace met in it."""

    id: int
    dataset: str
    version: str
    role: Role
    """``end`` where some of its rows lead no further: sources for backward, results for forward."""
    total: int
    """Rows of the version."""
    data: Runs
    """Rows met along data edges alone."""
    context: Runs
    """Rows met along a path with a context edge."""
    possible: Runs
    """Rows met along a path with a possible edge."""
    at: Sighting
    """The version as the write knows it through which it was met first."""

    @property
    def met(self) -> Runs:
        """Rows met, by any kind of path."""
        return self.data | self.context | self.possible


@dataclass(frozen=True, slots=True, order=True)
class TraceEdge:
    """Rows of one version went into another: through a write, or, where `step` is empty, by shared files."""

    source: int
    target: int
    step: str
    write: int
    kind: Kind
    occurrence: int
    coverage: Coverage
    read: bool = False
    """Whether the step's driver read the rows: then `write` is the read's number among the step's reads."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What some rows of a version came through (backward) or went into (forward); node 0 is that version."""

    direction: Direction
    nodes: tuple[TraceNode, ...]
    edges: tuple[TraceEdge, ...]
    """Directed as data flows, whatever the direction asked."""
    stops: tuple[Stop, ...]
    through: Mapping[TraceEdge, Runs]
    """For each edge the rows reached through it: of its source for backward, of its target for forward."""
    trusted: tuple[Trusted, ...] = ()
    """What is left out because it is trusted."""
    arrivals: Arrivals = field(default_factory=Arrivals, repr=False)
    """What came to each write; endings are counted from it."""

    @property
    def endings(self) -> tuple[Ending, ...]:
        """For a trace forward, the writes that read rows and did not keep all of them; none backward.

        They are counted when first asked for. With `to`, writes that do not lead to that data set have none.
        """
        return tuple(self.ended)

    @property
    def ended(self) -> Mapping[Ending, Runs]:
        """For each ending the rows that were not kept."""
        return self.arrivals.ended

    def as_dict(self, max_runs: int = 1000) -> dict[str, Any]:
        """The trace as JSON takes it; a row set is a count and at most `max_runs` pairs [first row, rows]."""
        return {
            "direction": self.direction,
            "nodes": [
                {
                    "id": n.id,
                    "dataset": n.dataset,
                    "version": n.version,
                    "role": n.role,
                    "total": n.total,
                    "data": _runs(n.data, max_runs),
                    "context": _runs(n.context, max_runs),
                    "possible": _runs(n.possible, max_runs),
                }
                for n in self.nodes
            ],
            "edges": jsonable(self.edges),
            "stops": jsonable(self.stops),
            "trusted": jsonable(self.trusted),
            "endings": [{**jsonable(e), "ended": _runs(rows, max_runs)} for e, rows in self.ended.items()],
        }


def trace(
    linker: Linker,
    start: Sighting,
    rows: Runs,
    direction: Direction,
    *,
    to: Dataset | None = None,
    kinds: Iterable[Kind] = ("data",),
    trust: Trust | None = None,
) -> Trace:
    """Walk from a set of rows as a whole and keep all versions and writes on the way; never raises for stops.

    With `to`, writes that do not lead to that data set are left out, and so are rows that ended in them. What `trust`
    matches is left out, too.
    """
    trust = trust or Trust()
    route = plan(linker, [start], direction)
    context = "context" in frozenset(kinds)
    ways = Ways(useful=towards(linker, route, to), trust=trust)
    sink = _Draw(start, rows, direction, Arrivals(context, ways.useful))
    walk(linker, route, [Stand(start, gathered(rows))], sink, context=context, ways=ways)
    if direction == "forward" and to is not None and linker.drivers:
        sink.stops |= stops_around(linker, start, sink.driver_ends, to, trust)
    sink.stops |= stops_of_tasks(linker, [Stand(start, gathered(rows))], direction, to, trust, context=context)
    return sink.trace(tuple(sorted(trust.used)))


class _Draw:
    def __init__(self, start: Sighting, rows: Runs, direction: Direction, arrivals: Arrivals) -> None:
        self.direction, self.arrivals = direction, arrivals
        self.numbers: dict[object, int] = {}
        self.at: list[Sighting] = []
        self.rows: list[dict[Kind, Runs]] = []
        self.ends: set[int] = set()
        self.driver_ends: list[Stand] = []
        self.edges: dict[TraceEdge, Runs] = {}
        self.stops: set[Stop] = set()
        self._add(start, "data", rows)

    def _add(self, at: Sighting, kind: Kind, rows: Runs) -> int:
        number = self.numbers.setdefault(at.key, len(self.at))
        if number == len(self.at):
            self.at.append(at)
            self.rows.append({})
        known = self.rows[number].get(kind)
        self.rows[number][kind] = rows if known is None else known | rows
        return number

    def met(self, at: Sighting, origin: Sighting, via: Node | None, occurrence: int, kind: Kind, rel: Boxes) -> None:
        rows = image(rel)
        here, there = self._add(at, kind, rows), self.numbers[origin.key]
        if self.direction == "forward":
            self.arrivals.take(at, origin, via, here, rows)
        if here == there:
            return
        source, target = (here, there) if self.direction == "backward" else (there, here)
        if via is None:
            edge = TraceEdge(source, target, "", -1, kind, -1, "exact")
        else:
            write = via.write
            edge = TraceEdge(source, target, via.step, write.index, kind, occurrence, write.coverage, via.is_read)
        known = self.edges.get(edge)
        self.edges[edge] = rows if known is None else known | rows

    def ended(self, at: Sighting, occurrence: int, kind: Kind, rel: Boxes) -> None:
        self.ends.add(self.numbers[at.key])
        if at.node.is_read and at is at.node.output:
            self.driver_ends.append(Stand(at, rel, occurrence, kind))

    def stopped(self, stop: Stop) -> None:
        self.stops.add(stop)

    def trace(self, trusted: tuple[Trusted, ...] = ()) -> Trace:
        nodes = []
        for i, (at, rows) in enumerate(zip(self.at, self.rows, strict=True)):
            role: Role = "asked" if i == 0 else "end" if i in self.ends else "between"
            none = Runs.span(0)
            version = at.version
            nodes.append(
                TraceNode(
                    i,
                    str(version.dataset),
                    version.id,
                    role,
                    version.rows,
                    rows.get("data", none),
                    rows.get("context", none),
                    rows.get("possible", none),
                    at,
                )
            )
        edges, stops = tuple(sorted(self.edges)), tuple(sorted(self.stops))
        return Trace(self.direction, tuple(nodes), edges, stops, self.edges, trusted, self.arrivals)


def _runs(runs: Runs, most: int) -> dict[str, Any]:
    shown = zip(runs.starts[:most].tolist(), runs.lengths[:most].tolist(), strict=True)
    return {"count": runs.count, "runs": [list(r) for r in shown]}
