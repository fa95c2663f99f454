"""Traces: the versions on the paths of some rows and the writes between them, as a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from provspark.index_store.query.current_versions import Current, Currents, VersionUsed
from provspark.index_store.query.endings import Arrivals, Ending
from provspark.index_store.query.gone_rows import Gone
from provspark.index_store.query.links import Linker, between
from provspark.index_store.query.lost_ways import stops_around
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.notebook import graph_html, listed
from provspark.index_store.query.reachable_rows import towards
from provspark.index_store.query.relation import compose, gathered, image
from provspark.index_store.query.trust import Trust, Trusted
from provspark.index_store.query.uncaptured_tasks import stops_of_tasks
from provspark.index_store.query.walk import Stand, Ways, plan, walk
from provspark.index_store.query.write_walk import walk_axes
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import concat
from provspark.model.datasets import Dataset
from provspark.model.json_form import jsonable
from provspark.model.runs import Runs
from provspark.model.stops import Stop
from provspark.model.writes import Coverage, Kind

NodeRole = Literal["asked", "end", "between"]


@dataclass(frozen=True, slots=True)
class TraceNode:
    """A version, with the rows that the trace met in it."""

    id: int
    dataset: str
    version: str
    role: NodeRole
    """``end`` if some of its rows lead no further: they are sources (backward) or results (forward)."""
    total: int
    """Number of rows of the version."""
    data: Runs
    """Rows met along data edges only."""
    context: Runs
    """Rows met along a path with a context edge."""
    possible: Runs
    """Rows met along a path with a possible edge."""
    at: VersionReference = field(compare=False)
    """The version as known to the write through which the trace first met it."""
    gone: bool = False
    """Forward: whether its rows are in no current version."""

    def __hash__(self) -> int:
        return hash((self.id, self.version, self.role))

    @property
    def met(self) -> Runs:
        """Rows met along any kind of path."""
        return self.data | self.context | self.possible


@dataclass(frozen=True, slots=True, order=True)
class TraceEdge:
    """A flow of rows from one version to another, through a write, or through shared files if `step` is empty."""

    source: int
    target: int
    step: str
    write: int
    kind: Kind
    occurrence: int
    coverage: Coverage
    read: bool = False
    """Whether the step's driver read the rows. Then `write` is the number of the read among the step's reads."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trace:
    """The versions and writes on the paths of some rows of a version, which is node 0."""

    direction: Direction
    nodes: tuple[TraceNode, ...]
    edges: tuple[TraceEdge, ...]
    """In the direction of the data flow, for traces in both directions."""
    stops: tuple[Stop, ...]
    through: Mapping[TraceEdge, Runs]
    """Rows reached through each edge: of its source (backward) or of its target (forward)."""
    trusted: tuple[Trusted, ...] = ()
    """What is left out because it is trusted."""
    gone: tuple[Gone, ...] = ()
    """Forward: derived rows that are in no current version."""
    used: tuple[VersionUsed, ...] = ()
    """The versions whose row ids it contains, and the rules that selected them; that of the selected rows first."""
    currents: tuple[Current, ...] = ()
    arrivals: Arrivals = field(default_factory=Arrivals, repr=False)
    """What arrived at each write; endings are counted from it."""

    @property
    def endings(self) -> tuple[Ending, ...]:
        """Forward: the writes that read rows and did not keep all of them. Backward: none.

        They are computed on first access. With `to`, writes that do not lead to that dataset are left out.
        """
        return tuple(self.ended)

    @property
    def ended(self) -> Mapping[Ending, Runs]:
        """The rows that were not kept, by ending."""
        return self.arrivals.ended

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        names = ("direction", "nodes", "edges", "stops", "through", "trusted", "gone", "ended")
        return self is other or all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        return hash((self.direction, self.edges, self.stops))

    def __repr__(self) -> str:
        asked = self.nodes[0]
        steps = len({e.step for e in self.edges if e.step})
        way = f"versions: {len(self.nodes)}, steps: {steps}, stops: {len(self.stops)}"
        return f"<trace {self.direction} of {asked.met.count:,} rows of {listed([asked.dataset])}; {way}>"

    def _repr_html_(self) -> str:
        boxes = [(n.dataset, f"{n.met.count:,} of {n.total:,} rows") for n in self.nodes]
        edges = ((e.source, e.target, f"{e.step or 'shared files'} ({e.kind})") for e in self.edges)
        return graph_html(boxes, edges, self.stops)

    def as_dict(self, max_runs: int = 1000) -> dict[str, Any]:
        """Return the trace as JSON values. Sets of rows are a count and at most `max_runs` pairs [first row, rows]."""
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
                    "gone": n.gone,
                }
                for n in self.nodes
            ],
            "edges": jsonable(self.edges),
            "stops": jsonable(self.stops),
            "trusted": jsonable(self.trusted),
            "gone": jsonable(self.gone),
            "versions": jsonable(self.used),
            "endings": [{**jsonable(e), "ended": _runs(rows, max_runs)} for e, rows in self.ended.items()],
        }


def trace_rows(
    linker: Linker,
    start: VersionReference,
    rows: Runs,
    direction: Direction,
    *,
    to: Dataset | None = None,
    kinds: Iterable[Kind] = ("data",),
    trust: Trust | None = None,
    currents: Currents | None = None,
    everything: bool = False,
) -> Trace:
    """Walk from a set of rows, and keep all versions and writes on the paths. Stops do not raise an error.

    Parameters
    ----------
    to : Dataset, optional
        Leave out writes that do not lead to this dataset, and rows that ended in them.
    trust : Trust, optional
        Leave out what it matches.
    currents : Currents, optional
        Return rows that are in a current version as rows of that version, whichever version they were found in.
    everything : bool
        Keep all rows that are in no current version, even if they lead to none that are.
    """
    trust = trust or Trust()
    route = plan(linker, [start], direction)
    context = "context" in frozenset(kinds)
    ways = Ways(useful=towards(linker, route, to), trust=trust)
    sink = _Draw(start, rows, direction, to, currents, Arrivals(context, ways.useful))
    walk(linker, route, [Stand(start, gathered(rows))], sink, context=context, ways=ways)
    if direction == "forward" and to is not None and linker.drivers:
        sink.stops |= stops_around(linker, start, sink.driver_ends, to, trust)
    sink.stops |= stops_of_tasks(linker, [Stand(start, gathered(rows))], direction, to, trust, context=context)
    return sink.trace(tuple(sorted(trust.used)), everything=everything)


class _Draw:
    def __init__(
        self,
        start: VersionReference,
        rows: Runs,
        direction: Direction,
        to: Dataset | None,
        currents: Currents | None,
        arrivals: Arrivals,
    ) -> None:
        self.direction, self.to, self.currents, self.arrivals = direction, to, currents, arrivals
        self.here: dict[Dataset, Current] = {}
        self.numbers: dict[object, int] = {}
        self.placed: dict[VersionReference, dict[int, Runs]] = {start: {0: rows}}
        """For each version, as a write knows it, the nodes that contain its rows, with these rows."""
        self.gone: set[int] = set()
        self.older: list[Stand] = []
        self.at: list[VersionReference] = []
        self.rows: list[dict[Kind, Runs]] = []
        self.ends: set[int] = set()
        self.driver_ends: list[Stand] = []
        self.edges: dict[TraceEdge, Runs] = {}
        self.stops: set[Stop] = set()
        self._add(start, "data", rows, False)

    def _add(self, at: VersionReference, kind: Kind, rows: Runs, gone: bool) -> int:
        """Add rows of a version, and return the number of their node.

        Gone rows have a node of their own, and so have derived rows in the version of the selected rows.
        """
        own = bool(self.currents and self.at) and at.key == self.at[0].key
        number = self.numbers.setdefault((at.key, gone, own), len(self.at))
        if gone:
            self.gone.add(number)
        if number == len(self.at):
            self.at.append(at)
            self.rows.append({})
        known = self.rows[number].get(kind)
        self.rows[number][kind] = rows if known is None else known | rows
        return number

    def _in_current(self, at: VersionReference, rows: Runs) -> list[tuple[VersionReference, Runs, Runs, bool]]:
        """Return where rows of a version are shown (in the current version, or where they were met), and if they are
        gone.

        Each part has the row ids there, and those in this version.
        """
        current = self.currents and self.currents.known(at.version.dataset, self.here)
        if not self.currents or not current:
            return [(at, rows, rows, False)]
        moved = self.currents.moved(at, current)
        if moved.boxes is None:
            return [(moved.at, rows, rows, False)]
        live = image(compose(gathered(rows), moved.boxes))
        lost, stays = rows & moved.lost, rows & moved.stays
        refused = [some & rows for some, _ in moved.refused]
        self.stops |= moved.stops(at, rows)
        kept = rows - lost - stays
        for some in refused:
            kept -= some
        own = [(at, some, some, False) for some in (stays, *refused)]
        parts = [(moved.at, live, kept, False), (at, lost, lost, True), *own]
        return [part for part in parts if part[1]]

    def met(
        self,
        at: VersionReference,
        origin: VersionReference,
        via: WriteNode | None,
        occurrence: int,
        kind: Kind,
        rel: Boxes,
    ) -> None:
        if via is not None and at.version.dataset == self.to:
            self._end(Stand(at, rel, occurrence, kind))
        if self.direction == "forward":
            self.arrivals.take(at, origin, via, image(rel))
        placed, before = self.placed.setdefault(at, {}), self.placed[origin]
        same = self.currents and via is None and at.version.dataset == origin.version.dataset
        for where, rows, own, gone in self._in_current(at, image(rel)):
            if same and (gone or (where.key == self.at[0].key and 0 in before)):
                # Rows of one file, in versions that are both gone, or in the selected version: keep their nodes.
                numbers = [n for n in before if (n in self.gone) == gone or n == 0]
            else:
                numbers = [self._add(where, kind, rows, gone)]
                for there in before:
                    if not same or there == 0:
                        self._join(numbers[0], there, rows, via, occurrence, kind, origin)
            for n in numbers:
                placed[n] = placed[n] | own if n in placed else own

    def _join(
        self,
        here: int,
        there: int,
        rows: Runs,
        via: WriteNode | None,
        occurrence: int,
        kind: Kind,
        origin: VersionReference,
    ) -> None:
        if here == there and (via is None or not self.currents):
            return
        # If several nodes contain rows of a version, only those whose rows the write kept have an edge.
        if via is not None and len(self.placed[origin]) > 1 and not _leads(via, origin, self.placed[origin][there]):
            return
        source, target = (here, there) if self.direction == "backward" else (there, here)
        if via is None:
            edge = TraceEdge(source, target, "", -1, kind, -1, "exact")
        else:
            write = via.write
            edge = TraceEdge(source, target, via.step, write.index, kind, occurrence, write.coverage, via.is_read)
        known = self.edges.get(edge)
        self.edges[edge] = rows if known is None else known | rows

    def ended(self, at: VersionReference, occurrence: int, kind: Kind, rel: Boxes) -> None:
        stand = Stand(at, rel, occurrence, kind)
        if self.to is None:
            self._end(stand)
        for where, rows, _, gone in self._in_current(at, image(rel)):
            asked = occurrence < 0 and at.key == self.at[0].key
            if asked and (gone or where.key == at.key):
                self.ends.add(0)
                continue
            here = self._add(where, kind, rows, gone)
            self.ends.add(here)
            if asked:
                self._join(here, 0, rows, None, occurrence, kind, at)
        if at.node.is_read and at is at.node.output:
            self.driver_ends.append(stand)

    def _end(self, stand: Stand) -> None:
        """Note which rows of a result are gone."""
        if self.currents:
            self.older += self.currents.bring([stand], self.here).older

    def stopped(self, stop: Stop) -> None:
        self.stops.add(stop)

    def trace(self, trusted: tuple[Trusted, ...], *, everything: bool) -> Trace:
        """Return the trace. Without `everything`, gone rows are kept only on the way to rows that are not gone."""
        kept = range(len(self.at)) if everything else self._kept()
        number = {old: new for new, old in enumerate(kept)}
        nodes = []
        for i in kept:
            at, rows = self.at[i], self.rows[i]
            role: NodeRole = "asked" if i == 0 else "end" if i in self.ends else "between"
            none = Runs.span(0)
            version = at.version
            nodes.append(
                TraceNode(
                    number[i],
                    str(version.dataset),
                    version.id,
                    role,
                    version.rows,
                    rows.get("data", none),
                    rows.get("context", none),
                    rows.get("possible", none),
                    at,
                    i in self.gone,
                )
            )
        through = {
            replace(e, source=number[e.source], target=number[e.target]): rows
            for e, rows in self.edges.items()
            if e.source in number and e.target in number
        }
        self.arrivals.drawn = lambda at: self._drawn(at, number)
        gone = self.currents.gone(self.older) if self.currents else ()
        used = tuple(sorted(c.used for c in self.here.values()))
        return Trace(
            self.direction,
            tuple(nodes),
            tuple(sorted(through)),
            tuple(sorted(self.stops)),
            through,
            trusted,
            gone,
            used,
            tuple(self.here.values()),
            self.arrivals,
        )

    def _drawn(self, at: VersionReference, number: Mapping[int, int]) -> list[tuple[int, Boxes | None]]:
        """Return the nodes that contain rows of a version, gone ones last, and the relations to their row ids."""
        drawn: list[tuple[int, Boxes | None]] = []
        for n in sorted((n for n in self.placed.get(at, ()) if n in number), key=lambda n: n in self.gone):
            there = self.at[n]
            same = at.key == there.key
            drawn.append((number[n], None if same else concat([x.boxes for x in between(at, there).links])))
        return drawn

    def _kept(self) -> list[int]:
        """Return the nodes that are not gone, those on the way to them, and one of each dataset without such a node."""
        before: dict[int, set[int]] = {}
        for edge in self.edges:
            before.setdefault(edge.target, set()).add(edge.source)
        kept: set[int] = set()

        def keep(waiting: list[int]) -> None:
            while waiting:
                if (i := waiting.pop()) not in kept:
                    kept.add(i)
                    waiting += before.get(i, ())

        keep([i for i in range(len(self.at)) if i not in self.gone])
        for i in sorted(self.gone, key=lambda i: self.at[i].node.manifest.ended, reverse=True):
            if all(self.at[k].version.dataset != self.at[i].version.dataset for k in kept):
                keep([i])
        return sorted(kept)


def _leads(node: WriteNode, read: VersionReference, rows: Runs) -> bool:
    """Return whether any of some rows that a write read went into its output."""
    axes = [i for i, a in enumerate(node.write.axes) if a.role == "input" and a.version == read.version.id]
    start: dict[tuple[int, Kind], Boxes] = {(i, "data"): gathered(rows) for i in axes}
    return bool(walk_axes(node, start, "forward", context=True, keep={0}))


def _runs(runs: Runs, most: int) -> dict[str, Any]:
    shown = zip(runs.starts[:most].tolist(), runs.lengths[:most].tolist(), strict=True)
    return {"count": runs.count, "runs": [list(r) for r in shown]}
