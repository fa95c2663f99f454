"""Walks across writes: from rows of a version along all paths, through each write once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Protocol

import numpy as np

from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker, Links
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.relation import compose, gathered, image, restrict, united
from provspark.index_store.query.trust import Trust
from provspark.index_store.query.write_walk import Hop, WalkLimit, walk_axes
from provspark.index_store.store.broken_steps import summary
from provspark.model.boxes import Boxes
from provspark.model.errors import UntrackedError
from provspark.model.progress import check, enter, tell
from provspark.model.runs import Runs
from provspark.model.steps import Manifest
from provspark.model.stops import Blur, Stop
from provspark.model.writes import Kind, Untracked

FIRST_WITH_READS = 3
"""The first store format whose manifests record reads on drivers."""
ASK_FOR_ROWS = "use backward or forward, which follow rows through reads on drivers"
WalkPart = tuple[int, Kind, Boxes]
"""Occurrence, kind, and relation from labels to rows of a version."""


def unreadable_stops(graph: Graph) -> tuple[Stop, ...]:
    """Return the stop for steps that can't be read, which every answer has; empty if all steps can be read."""
    if not graph.broken:
        return ()
    step = graph.broken[0].step if len(graph.broken) == 1 else ""
    return (Stop("unreadable", step, "", summary(graph.broken)),)


class WalkSink(Protocol):
    """Receives what a walk meets."""

    def met(
        self,
        at: VersionReference,
        origin: VersionReference,
        via: WriteNode | None,
        occurrence: int,
        kind: Kind,
        rel: Boxes,
    ) -> None:
        """Receive rows of a version that were reached from `origin`, through a write, or (if `via` is None) a file."""

    def ended(self, at: VersionReference, occurrence: int, kind: Kind, rel: Boxes) -> None:
        """Receive rows that no write made (backward) or read (forward), or that did not go on from a driver."""

    def stopped(self, stop: Stop) -> None:
        """Receive a stop, where a path ends early or is less precise. The same one may come more than once."""


@dataclass(frozen=True, slots=True, eq=False)
class Stand:
    """Where a walk starts or has arrived: a relation from labels to rows of a version, which may repeat pairs."""

    at: VersionReference
    boxes: Boxes
    occurrence: int = -1
    """The occurrence of the version that the last step read, in plan order; -1 if no step was walked."""
    kind: Kind = "data"
    gone: bool = False
    """Whether the rows are in no file of the current version."""


@dataclass(frozen=True, slots=True)
class WalkPlan:
    """The writes between some versions and all their sources or results, each after those that lead to it.

    In this order, a walk enters each write once, with everything that reaches it.
    """

    direction: Direction
    nodes: tuple[WriteNode, ...]


def plan(
    linker: Linker, starts: Iterable[VersionReference], direction: Direction, within: Iterable[WriteNode] = ()
) -> WalkPlan:
    """Return the writes that a walk may enter, in the order in which it enters them.

    Parameters
    ----------
    starts : iterable of VersionReference
        The versions at which the walk starts.
    within : iterable of WriteNode
        Writes within which it starts.

    Raises
    ------
    UntrackedError
        The links between versions form a cycle.
    """
    starts, within = list(starts), tuple(within)
    key = "plan", direction, tuple(s.key for s in starts), within
    walk_plan: WalkPlan | None = linker.routes.get(key)
    if walk_plan is None:
        walk_plan = _planned(linker, starts, direction, within)
        linker.routes.put(key, walk_plan, 1 + len(walk_plan.nodes))
    return walk_plan


def _planned(
    linker: Linker, starts: Iterable[VersionReference], direction: Direction, within: Iterable[WriteNode]
) -> WalkPlan:
    done: dict[WriteNode, bool] = {}
    order: list[WriteNode] = []
    first = [*within]
    for s in starts:
        first += linker.later(s.node) if _on_driver(linker, s, direction) else _targets(linker.links(s, direction))
    stack: list[tuple[WriteNode | None, list[WriteNode]]] = [(None, first)]
    while stack:
        check()
        node, ahead = stack[-1]
        if ahead:
            after = ahead.pop()
            if after not in done:
                done[after] = False
                stack.append((after, next_nodes(linker, after, direction)))
            elif not done[after]:
                raise UntrackedError(
                    f"The files that link the steps form a cycle through {after.step}, which wrote "
                    f"{after.write.output.dataset}: two states of a file have the same path, size and time. Pass as_of "
                    f"with a time before that step ended, to leave it out."
                )
        else:
            stack.pop()
            if node is not None:
                done[node] = True
                order.append(node)
    return WalkPlan(direction, tuple(order[::-1]))


def next_nodes(linker: Linker, node: WriteNode, direction: Direction) -> list[WriteNode]:
    """Return the writes, and reads on drivers, that made the inputs of a write, or that read its output."""
    if node.write.coverage == "untracked":
        return []
    if direction == "forward":
        return list(linker.later(node)) if node.is_read else _targets(linker.onward(node))
    read = dict.fromkeys(a.version for a in node.write.axes if a.role == "input")
    made = [n for v in read for n in _targets(linker.links(node.inputs[v], direction))]
    return made + linker.reads(node)


def _on_driver(linker: Linker, at: VersionReference, direction: Direction) -> bool:
    """Return whether a walk forward starts from the rows of a read on a driver."""
    # By identity: the input of a read has the same node, but is not its output. `output` is a `cached_property`, so
    # there is only one reference to it.
    return bool(linker.drivers) and direction == "forward" and at.node.is_read and at is at.node.output


def _targets(links: Links) -> list[WriteNode]:
    return list(dict.fromkeys(link.target.node for link in links.links))


@dataclass(frozen=True, slots=True)
class Ways:
    """Options of a walk.

    Parameters
    ----------
    useful : callable
        Return whether to enter a write.
    inject : mapping
        Relations that start within a write, by axis and kind.
    limit, hop : callable, optional
        Return the `limit` and the `hop` of `walk_axes` for a write.
    trust : Trust
        Stops, possible edges and ends to leave out.
    """

    useful: Callable[[WriteNode], bool] = lambda node: True
    inject: Mapping[WriteNode, Mapping[tuple[int, Kind], Boxes]] = field(default_factory=dict)
    limit: Callable[[WriteNode], WalkLimit] | None = None
    hop: Callable[[WriteNode], Hop] | None = None
    trust: Trust = field(default_factory=Trust)


def walk(
    linker: Linker,
    plan: WalkPlan,
    starts: Sequence[Stand],
    sink: WalkSink,
    *,
    context: bool = False,
    ways: Ways | None = None,
) -> None:
    """Carry relations from rows of versions to all their sources or results, in one walk.

    `plan` must be made for at least these starts, and for the same linker: rows that reach another write are lost.
    """
    ways = ways or Ways()
    for stop in unreadable_stops(linker.graph):
        if not ways.trust.takes(None, stop.what, stop.why):
            sink.stopped(stop)
    _Walk(linker, plan, sink, context, ways).run(starts)


class _Walk:
    def __init__(self, linker: Linker, plan: WalkPlan, sink: WalkSink, context: bool, ways: Ways) -> None:
        self.linker, self.plan, self.sink, self.context, self.ways = linker, plan, sink, context, ways
        self.backward = plan.direction == "backward"
        self.pending: dict[WriteNode, dict[tuple[str, Kind], list[Boxes]]] = {}

    def run(self, starts: Sequence[Stand]) -> None:
        for start in starts:
            made = start.at.node
            if not self.backward and start.at.version == made.write.output and made.write.coverage != "untracked":
                for reason in uncaptured(made.manifest):  # the step that wrote the rows may have passed them on
                    self.stop("untracked", made, missed(reason), [reason.site])
            part = (start.occurrence, start.kind, start.boxes)
            if _on_driver(self.linker, start.at, self.plan.direction):
                self.on_driver(start.at.node, [part])
            else:
                self.stand(start.at, self.linker.links(start.at, self.plan.direction), [part])
        for number, node in enumerate(self.plan.nodes):
            tell("writes", number, len(self.plan.nodes))
            arrived = self.pending.pop(node, {})
            if arrived or node in self.ways.inject:
                self.enter(node, {at: united(parts) for at, parts in arrived.items()})

    def stand(self, at: VersionReference, links: Links, parts: list[WalkPart]) -> None:
        """Carry the rows of a version to the writes that share its files."""
        for link in links.links if links.few else links.near(_rows(parts)):
            node = link.target.node
            for occurrence, kind, rel in parts:
                there = rel if link.whole else compose(rel, link.boxes)
                if len(there):
                    self.sink.met(link.target, at, None, occurrence, kind, there)
                    self.send(node, (link.target.version.id, kind), there)
        for refusal in links.refused:
            if any(image(rel) & refusal.rows for _, _, rel in parts):
                self.stop("unlinked", refusal.target.node, refusal.why)
        if not self.backward:
            for read in leaving_reads(self.linker, at, [image(rel) for _, _, rel in parts]):
                self.stop("driver", read, ASK_FOR_ROWS)
        for occurrence, kind, rel in parts if links.left else ():
            # `left` contains `loose` and the rows that only drivers read. A file that only a preview read is a result
            # of the walk. Selected rows (occurrence -1) would be their own result, so they end only if loose.
            over = links.loose if occurrence < 0 else links.left
            rest = rel if over.count == at.version.rows else restrict(rel, over)
            if len(rest):
                self.sink.ended(at, occurrence, kind, rest)

    def enter(self, node: WriteNode, arrived: dict[tuple[str, Kind], Boxes]) -> None:
        """Carry rows of a write's output to its inputs, or the reverse."""
        enter(node.step)  # counts the step, because the number of steps may be limited
        write = node.write
        for what, why, *sites in doubts(self.linker, node, self.plan.direction):
            self.stop(what, node, why, sites)
        if write.coverage == "untracked":
            return
        if self.backward:
            self.backwards(node, arrived)
        else:
            self.forwards(node, arrived)

    def backwards(self, node: WriteNode, arrived: dict[tuple[str, Kind], Boxes]) -> None:
        write = node.write
        # One relation for each kind: backward, links lead to outputs, so the only version here is the output.
        start = {(0, kind): rel for (_, kind), rel in arrived.items()}
        for at, rel in self.ways.inject.get(node, {}).items():
            start[at] = united([start[at], rel]) if at in start else rel
        ends = {i for i, a in enumerate(write.axes) if a.role == "input"}
        if self.linker.drivers:
            ends.add(node.reads_axis)  # -1, which is not an axis, if there is none
        by_version: dict[str, list[WalkPart]] = {}
        for (i, kind), rel in self.within(node, start, ends).items():
            axis = write.axes[i]
            if axis.role == "reads":
                self.to_reads(node, kind, rel)
                continue
            self.sink.met(node.inputs[axis.version], node.output, node, axis.occurrence, kind, rel)
            by_version.setdefault(axis.version, []).append((axis.occurrence, kind, rel))
        for version, parts in by_version.items():
            at_input = node.inputs[version]
            self.stand(at_input, self.linker.links(at_input, "backward"), parts)

    def to_reads(self, node: WriteNode, kind: Kind, rel: Boxes) -> None:
        """Carry rows of a write's axis of reads to these reads."""
        for read in self.linker.reads(node):
            part = compose(rel, stretch(read.base, 0, read.write.output.rows))
            if not len(part) or (kind == "possible" and self.trusted(read, node)):
                continue
            self.sink.met(read.output, node.output, node, 0, kind, part)
            self.send(read, (read.output.version.id, kind), part)

    def forwards(self, node: WriteNode, arrived: dict[tuple[str, Kind], Boxes]) -> None:
        write = node.write
        out: list[WalkPart] = []
        # An id belongs to one read: it consists of the step and the call's number, not of the rows (`driver_version`).
        reads = {read.output.version.id: read for read in self.linker.reads(node)}
        for i, axis in enumerate(write.axes):
            if axis.role == "reads":
                for (version, kind), rel in arrived.items():
                    if version in reads:
                        out += self.from_read(node, reads[version], i, kind, rel)
                continue
            start = {(i, kind): rel for (v, kind), rel in arrived.items() if axis.role == "input" and v == axis.version}
            if start:
                for (_, kind), rel in self.within(node, start, {0}).items():
                    self.sink.met(node.output, node.inputs[axis.version], node, axis.occurrence, kind, rel)
                    out.append((axis.occurrence, kind, rel))
        if out and node.is_read:
            self.on_driver(node, out)
        elif out:
            self.stand(node.output, self.linker.onward(node), out)

    def from_read(self, node: WriteNode, read: WriteNode, axis: int, kind: Kind, rel: Boxes) -> Iterator[WalkPart]:
        """Carry rows of a read to a later write or read that has it on its axis of reads."""
        there = compose(rel, stretch(0, read.base, read.write.output.rows))
        for (_, after), further in self.within(node, {(axis, kind): there}, {0}).items():
            if after == "possible" != kind and self.trusted(read, node):
                continue
            self.sink.met(node.output, read.output, node, 0, after, further)
            yield 0, after, further

    def on_driver(self, read: WriteNode, parts: list[WalkPart]) -> None:
        """Carry the rows of a read to what came after it in the script. They end here unless they surely went on."""
        later = self.linker.later(read)
        for occurrence, kind, rel in parts:
            for node in later:
                self.send(node, (read.output.version.id, kind), rel)
            left = image(rel) - _surely_read(read, later)
            if left and not self.ways.trust.takes(read, "end", "its rows were read on the driver"):
                self.sink.ended(read.output, occurrence, kind, restrict(rel, left))

    def trusted(self, read: WriteNode, node: WriteNode) -> bool:
        """Return whether the possible edges between a read and a later write are trusted, by the names of either."""
        trust, why = self.ways.trust, f"rows read at {read.write.site} may have gone into it"
        return trust.takes(node, "possible", why, [read.write.site])

    def send(self, node: WriteNode, at: tuple[str, Kind], rel: Boxes) -> None:
        if self.ways.useful(node):
            self.pending.setdefault(node, {}).setdefault(at, []).append(rel)

    def within(
        self, node: WriteNode, start: Mapping[tuple[int, Kind], Boxes], keep: set[int]
    ) -> dict[tuple[int, Kind], Boxes]:
        limit = self.ways.limit and self.ways.limit(node)
        hop = self.ways.hop and self.ways.hop(node)
        return walk_axes(node, start, self.plan.direction, context=self.context, keep=keep, limit=limit, hop=hop)

    def stop(self, what: Blur, node: WriteNode, why: str, sites: Iterable[str] = ()) -> None:
        if not self.ways.trust.takes(node, what, why, sites):
            self.sink.stopped(Stop(what, node.step, str(node.write.output.dataset), why))


def doubts(linker: Linker, node: WriteNode, direction: Direction) -> Iterator[tuple[Blur, str, str]]:
    """Yield the stops that a walk meets when it enters a write or read: kind, reason, and the reason's script line."""
    write, manifest = node.write, node.manifest
    if node.declared:
        yield "declared", str(write.reason), ""
    elif write.coverage != "exact":
        yield (
            "untracked" if write.coverage == "untracked" else "coarse",
            str(write.reason) if write.reason else "no reason was stored",
            "",
        )
    if direction == "forward" and write.coverage != "untracked" and manifest.untracked:
        for reason in uncaptured(node.manifest):
            yield "untracked", missed(reason), reason.site
    # Not `linker.reads`, which is empty if walks do not lead through drivers. Reads of a single number, such as a
    # count, are not stops: even walks through drivers follow them only with `strict` (`Linker.follows`).
    if not linker.drivers and direction == "backward" and any(not read.write.single for read in node.reads):
        yield "driver", ASK_FOR_ROWS, ""
    if linker.drivers and manifest.driver_reads == "off":
        yield "driver-reads-off", "spark.provspark.driverReads is false, so the reads on its driver are unknown", ""
    if linker.drivers and manifest.format_version < FIRST_WITH_READS:
        why = f"its manifest has format {manifest.format_version}, without driver reads; run the step again"
        yield "before-format-3", why, ""


def leaving_reads(linker: Linker, at: VersionReference, rows: Sequence[Runs]) -> Iterator[WriteNode]:
    """Yield the reads on drivers that read some of these rows, for walks that do not lead through drivers."""
    for link in linker.driver_links(at):
        node = link.target.node
        there = [compose(gathered(some), link.boxes) for some in rows]
        axes = [i for i, a in enumerate(node.write.axes) if a.role == "input" and a.version == link.target.version.id]
        start: dict[tuple[int, Kind], Boxes] = {(i, "data"): united(there) for i in axes}
        # Always with context: a value that was computed from a row also leaves through the driver.
        if node.write.coverage == "untracked" or walk_axes(node, start, "forward", context=True, keep={0}):
            yield node


def uncaptured(manifest: Manifest) -> list[Untracked]:
    """Return the reasons why parts of a step were not captured, each once."""
    return list(dict.fromkeys(manifest.untracked))


def missed(reason: Untracked) -> str:
    """Return the reason of a stop at a step that was captured in part."""
    return f"part of this step was not captured: {reason}"


def stretch(start: int, to: int, rows: int) -> Boxes:
    """Return one diagonal of `rows` rows."""
    one = np.ones(1, dtype=np.int64)
    return Boxes(one * start, one * rows, one * to, one * rows, np.ones(1, dtype=np.bool_))


def _rows(parts: Sequence[WalkPart]) -> Runs:
    """Return the rows that any of the relations leads to."""
    return reduce(or_, (image(rel) for *_, rel in parts), Runs.span(0))


def _surely_read(read: WriteNode, later: Iterable[WriteNode]) -> Runs:
    """Return the rows of a read that went into something later, by an edge that is not only possible."""
    rows, surely = read.write.output.rows, Runs.span(0)
    for node in later:
        for tensor in node.from_reads:
            # Boxes are clipped to the run that is looked up, so no row is negative after subtracting `base`.
            there = node.reader(tensor, "src").lookup(np.array([read.base]), np.array([rows]))
            surely |= Runs.united(there.src - read.base, there.n_src)
    return surely
