"""Walks across writes: from a version's rows through every write between, each once, whatever the paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from provspark.errors import UntrackedError
from provspark.index_store.broken import summary
from provspark.index_store.model import Boxes, Kind
from provspark.index_store.query.graph import Direction, Graph, Node, Sighting
from provspark.index_store.query.links import Linker, Links
from provspark.index_store.query.relation import compose, image, restrict, united
from provspark.index_store.query.within import Hop, Limit, walk_axes
from provspark.index_store.watch import check, enter, tell

Part = tuple[int, Kind, Boxes]
"""Occurrence, kind, relation from labels to rows of a version."""


Blur = Literal["untracked", "unlinked", "coarse", "columns", "unreadable"]


@dataclass(frozen=True, slots=True, order=True)
class Stop:
    """Where an answer is less than it could be.

    Parameters
    ----------
    what : {"untracked", "unlinked", "coarse", "columns", "unreadable"}
        The lineage of a write was not captured; steps that share a file don't agree on its rows; a write was
        captured as a whole, so that all its output rows stand for all its input rows; a write's operations are
        not known, so that all its output columns stand for all its input columns; a step's manifest can't be read,
        so the answer may lack what this step would add. The first two end a path, the
        others only blur it.
    step : str
        Id of the step that the walk could not go through, or that was coarse. "" where several can't be read.
    dataset : str
        The data set that it wrote; "" where the step can't be read.
    why : str
    """

    what: Blur
    step: str
    dataset: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: " + (f"step {self.step}, which wrote {self.dataset}: " if self.dataset else "") + self.why


def unreadable_stops(graph: Graph) -> tuple[Stop, ...]:
    """The one stop of every answer over steps that can't be read; none where all can."""
    if not graph.broken:
        return ()
    step = graph.broken[0].step if len(graph.broken) == 1 else ""
    return (Stop("unreadable", step, "", summary(graph.broken)),)


class Sink(Protocol):
    """Takes what a walk meets."""

    def met(self, at: Sighting, origin: Sighting, via: Node | None, occurrence: int, kind: Kind, rel: Boxes) -> None:
        """Rows of a version, from another one: through a write, or without one where the two share files."""

    def ended(self, at: Sighting, occurrence: int, kind: Kind, rel: Boxes) -> None:
        """Rows that no write made (backward) or read (forward)."""

    def stopped(self, stop: Stop) -> None:
        """A path that ends early or is blurred; may come more than once."""


@dataclass(frozen=True, slots=True, eq=False)
class Stand:
    """Where a walk begins or has come to: a relation from labels to rows of a version, which may repeat pairs."""

    at: Sighting
    boxes: Boxes
    occurrence: int = -1
    """Which reading of the version the last step was, in plan order; -1 where no step was walked."""
    kind: Kind = "data"


@dataclass(frozen=True, slots=True)
class Plan:
    """The writes between some versions and all that they came from or went into, each after those that lead to it.

    The walk's order: a write is entered once, with all that reaches it.
    """

    direction: Direction
    nodes: tuple[Node, ...]


def plan(linker: Linker, starts: Iterable[Sighting], direction: Direction, within: Iterable[Node] = ()) -> Plan:
    """Find the writes that a walk may touch, in the order in which it has to.

    Parameters
    ----------
    starts : iterable of Sighting
        The versions that it begins at.
    within : iterable of Node
        Writes that it begins within.

    Raises
    ------
    UntrackedError
        When the links between versions run in a circle.
    """
    starts, within = list(starts), tuple(within)
    key = "plan", direction, tuple(s.key for s in starts), within
    found: Plan | None = linker.routes.get(key)
    if found is None:
        found = _planned(linker, starts, direction, within)
        linker.routes.put(key, found, 1 + len(found.nodes))
    return found


def _planned(linker: Linker, starts: Iterable[Sighting], direction: Direction, within: Iterable[Node]) -> Plan:
    done: dict[Node, bool] = {}
    order: list[Node] = []
    first = [*within, *(n for s in starts for n in _targets(linker.links(s, direction)))]
    stack: list[tuple[Node | None, list[Node]]] = [(None, first)]
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
                    f"the files that link the steps run in a circle through {after.step}, which wrote "
                    f"{after.write.output.dataset}: two states of a file have equal path, size and time"
                )
        else:
            stack.pop()
            if node is not None:
                done[node] = True
                order.append(node)
    return Plan(direction, tuple(order[::-1]))


def next_nodes(linker: Linker, node: Node, direction: Direction) -> list[Node]:
    """The writes that made what a write read, or that read what it made."""
    if node.write.coverage == "untracked":
        return []
    if direction == "forward":
        return _targets(linker.onward(node))
    read = dict.fromkeys(a.version for a in node.write.axes if a.role == "input")
    return [n for v in read for n in _targets(linker.links(node.inputs[v], direction))]


def _targets(links: Links) -> list[Node]:
    return list(dict.fromkeys(link.target.node for link in links.links))


@dataclass(frozen=True, slots=True)
class Ways:
    """What bends a walk, or watches it inside the writes.

    Parameters
    ----------
    useful : callable
        Writes for which this is False are not entered.
    inject : mapping
        Relations that begin within a write, by axis and kind.
    limit, hop : callable, optional
        See `walk_axes`; called with the write, too.
    """

    useful: Callable[[Node], bool] = lambda node: True
    inject: Mapping[Node, Mapping[tuple[int, Kind], Boxes]] = field(default_factory=dict)
    limit: Callable[[Node], Limit] | None = None
    hop: Callable[[Node], Hop] | None = None


def walk(
    linker: Linker,
    plan: Plan,
    starts: Sequence[Stand],
    sink: Sink,
    *,
    context: bool = False,
    ways: Ways | None = None,
) -> None:
    """Carry relations from versions' rows to all that they came from, or went into, all in one walk."""
    for stop in unreadable_stops(linker.graph):
        sink.stopped(stop)
    _Walk(linker, plan, sink, context, ways or Ways()).run(starts)


class _Walk:
    def __init__(self, linker: Linker, plan: Plan, sink: Sink, context: bool, ways: Ways) -> None:
        self.linker, self.plan, self.sink, self.context, self.ways = linker, plan, sink, context, ways
        self.backward = plan.direction == "backward"
        self.pending: dict[Node, dict[tuple[str, Kind], list[Boxes]]] = {}

    def run(self, starts: Sequence[Stand]) -> None:
        for start in starts:
            part = (start.occurrence, start.kind, start.boxes)
            self.stand(start.at, self.linker.links(start.at, self.plan.direction), [part])
        for number, node in enumerate(self.plan.nodes):
            tell("writes", number, len(self.plan.nodes))
            arrived = self.pending.pop(node, {})
            if arrived or node in self.ways.inject:
                self.enter(node, {at: united(parts) for at, parts in arrived.items()})

    def stand(self, at: Sighting, links: Links, parts: list[Part]) -> None:
        """Take the rows of a version to the writes that share its files."""
        for link in links.links:
            node = link.target.node
            for occurrence, kind, rel in parts:
                there = rel if link.whole else compose(rel, link.boxes)
                if len(there):
                    self.sink.met(link.target, at, None, occurrence, kind, there)
                    if self.ways.useful(node):
                        inbox = self.pending.setdefault(node, {})
                        inbox.setdefault((link.target.version.id, kind), []).append(there)
        for refusal in links.refused:
            if any(image(rel) & refusal.rows for _, _, rel in parts):
                target = refusal.target
                self.sink.stopped(
                    Stop("unlinked", target.node.step, str(target.node.write.output.dataset), refusal.why)
                )
        if links.loose:
            everything = links.loose.count == at.version.rows
            for occurrence, kind, rel in parts:
                rest = rel if everything else restrict(rel, links.loose)
                if len(rest):
                    self.sink.ended(at, occurrence, kind, rest)

    def enter(self, node: Node, arrived: dict[tuple[str, Kind], Boxes]) -> None:
        """Take rows of a write's output to its inputs, or the reverse."""
        enter(node.step)
        write = node.write
        if write.coverage != "exact":
            self.blur(node)
            if write.coverage == "untracked":
                return
        elif not self.backward and node.manifest.untracked:
            why = f"a write of this step went uncaptured: {node.manifest.untracked[0]}"
            self.sink.stopped(Stop("untracked", node.step, str(write.output.dataset), why))
        if self.backward:
            start = {(0, kind): rel for (_, kind), rel in arrived.items()}
            for at, rel in self.ways.inject.get(node, {}).items():
                start[at] = united([start[at], rel]) if at in start else rel
            reached = self.within(node, start, {i for i, a in enumerate(write.axes) if a.role == "input"})
            by_version: dict[str, list[Part]] = {}
            for (i, kind), rel in reached.items():
                axis = write.axes[i]
                self.sink.met(node.inputs[axis.version], node.output, node, axis.occurrence, kind, rel)
                by_version.setdefault(axis.version, []).append((axis.occurrence, kind, rel))
            for version, parts in by_version.items():
                at_input = node.inputs[version]
                self.stand(at_input, self.linker.links(at_input, "backward"), parts)
            return
        out: list[Part] = []
        for i, axis in enumerate(write.axes):
            start = {(i, kind): rel for (v, kind), rel in arrived.items() if axis.role == "input" and v == axis.version}
            if start:
                for (_, kind), rel in self.within(node, start, {0}).items():
                    self.sink.met(node.output, node.inputs[axis.version], node, axis.occurrence, kind, rel)
                    out.append((axis.occurrence, kind, rel))
        if out:
            self.stand(node.output, self.linker.onward(node), out)

    def within(
        self, node: Node, start: Mapping[tuple[int, Kind], Boxes], keep: set[int]
    ) -> dict[tuple[int, Kind], Boxes]:
        limit = self.ways.limit and self.ways.limit(node)
        hop = self.ways.hop and self.ways.hop(node)
        return walk_axes(node, start, self.plan.direction, context=self.context, keep=keep, limit=limit, hop=hop)

    def blur(self, node: Node) -> None:
        write = node.write
        what: Blur = "untracked" if write.coverage == "untracked" else "coarse"
        why = str(write.reason) if write.reason else "no reason was stored"
        self.sink.stopped(Stop(what, node.step, str(write.output.dataset), why))
