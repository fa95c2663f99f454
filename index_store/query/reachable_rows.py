"""Walks from rows of versions to rows of a dataset, to the inputs or outputs of a step, or to the ends of all paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.relation import united
from provspark.index_store.query.trust import Trust
from provspark.index_store.query.walk import Stand, WalkPlan, Ways, next_nodes, plan, walk
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import concat, every, take
from provspark.model.datasets import Dataset
from provspark.model.errors import UntrackedError
from provspark.model.stops import Stop, stop_kind
from provspark.model.writes import Kind


@dataclass(frozen=True, slots=True)
class StepTarget:
    """A step as a place on a path: backward its inputs, forward its outputs."""

    id: str


ReachTarget = Dataset | StepTarget
RUNS_AT_ONCE = 1 << 17
"""Maximum number of labelled runs of rows that are carried together."""


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Where a walk arrived, sorted by dataset, version, occurrence and kind, and where it stopped."""

    stands: tuple[Stand, ...]
    stops: tuple[Stop, ...]
    ends: tuple[Stand, ...] = ()
    """Rows on drivers that did not surely go on."""
    beside: tuple[Stand, ...] = ()
    """Forward: rows written to a dataset whose folder contains the target's, or is within it."""

    def checked(self, what: str) -> Reach:
        """Return itself.

        Raises
        ------
        UntrackedError
            Nothing was found, and a path stopped at something that was not captured.
        """
        blocked = [s for s in self.stops if stop_kind(s.what).ends]
        if blocked and not self.stands and not self.ends:
            more = f" (and {len(blocked) - 1} more places)" if len(blocked) > 1 else ""
            raise UntrackedError(
                f"{what} stops at step {blocked[0].step}, which wrote {blocked[0].dataset}: {blocked[0].why}{more}. "
                f"Pass to=… with a dataset on the way to that step, or fix what prevented its capture and run it again."
            )
        return self


def reach(
    linker: Linker,
    starts: Sequence[Stand],
    direction: Direction,
    to: ReachTarget | None,
    *,
    context: bool,
    via: Sequence[ReachTarget] = (),
    trust: Trust | None = None,
) -> Reach:
    """Carry relations from rows of versions to the rows of a place.

    Parameters
    ----------
    to : Dataset, StepTarget or None
        A dataset, wherever a path meets it; the inputs (backward) or outputs (forward) of a step; None for the ends of
        all paths: rows that no captured write made (backward) or read (forward).
    via : sequence of Dataset or StepTarget
        Places that a path must pass, in this order.
    trust : Trust, optional
        Stops, possible edges and ends to leave out.
    """
    trust = trust or Trust()
    blocks = [_reach(linker, some, direction, to, context, via, trust) for some in _blocks(starts)]
    if len(blocks) == 1:
        return blocks[0]
    stops = {stop for block in blocks for stop in block.stops}
    stands = [stand for block in blocks for stand in block.stands]
    ends = [stand for block in blocks for stand in block.ends]
    beside = [stand for block in blocks for stand in block.beside]
    told = [tuple(collected(some, concat)) for some in (stands, ends, beside)]
    return Reach(told[0], tuple(sorted(stops)), *told[1:])


def _blocks(starts: Sequence[Stand]) -> list[Sequence[Stand]]:
    """Split a start of many runs by its labels. Blocks are independent, so memory holds one and the answer."""
    if len(starts) != 1 or len(starts[0].boxes) <= RUNS_AT_ONCE:
        return [starts]
    boxes = starts[0].boxes
    if not every(boxes.out[1:] >= boxes.out[:-1] + boxes.n_out[:-1]):
        return [starts]
    parts = (slice(at, at + RUNS_AT_ONCE) for at in range(0, len(boxes), RUNS_AT_ONCE))
    return [[replace(starts[0], boxes=take(boxes, part))] for part in parts]


def _reach(
    linker: Linker,
    starts: Sequence[Stand],
    direction: Direction,
    to: ReachTarget | None,
    context: bool,
    via: Sequence[ReachTarget],
    trust: Trust,
) -> Reach:
    stops: set[Stop] = set()
    ends: list[Stand] = []
    for number, place in enumerate((*via, to)):
        route = plan(linker, [s.at for s in starts], direction)
        sink = Collect(place)
        if number:
            for stand in starts:
                sink.begun(stand)
        ways = Ways(useful=towards(linker, route, place), trust=trust)
        walk(linker, route, starts, sink, context=context, ways=ways)
        stops |= sink.stops
        ends += sink.ends
        starts = sink.stands()
    beside = collected(sink.beside) if direction == "forward" else ()
    return Reach(tuple(starts), tuple(sorted(stops)), tuple(collected(ends)), tuple(beside))


def collected(stands: Iterable[Stand], how: Callable[[list[Boxes]], Boxes] = united) -> list[Stand]:
    """Merge stands of equal dataset, version, occurrence, kind and `gone`, and sort them by these."""
    groups: dict[tuple[Dataset, str, int, Kind, bool], tuple[VersionReference, list[Boxes]]] = {}
    for s in stands:
        version = s.at.version
        groups.setdefault((version.dataset, version.id, s.occurrence, s.kind, s.gone), (s.at, []))[1].append(s.boxes)
    return [
        Stand(at, how(parts), *key[2:])
        for key, (at, parts) in sorted(groups.items(), key=lambda item: (str(item[0][0]), *item[0][1:]))
    ]


class Collect:
    """A `WalkSink` that keeps the rows of the target that a walk meets."""

    def __init__(self, to: ReachTarget | None) -> None:
        self.to = to
        self.reached: list[Stand] = []
        self.ends: list[Stand] = []
        self.beside: list[Stand] = []
        self.stops: set[Stop] = set()

    def begun(self, stand: Stand) -> None:
        """Keep rows that the walk starts from, if they are rows of the target."""
        if stand.at.version.dataset == self.to:
            self.reached.append(stand)

    def met(
        self,
        at: VersionReference,
        origin: VersionReference,
        via: WriteNode | None,
        occurrence: int,
        kind: Kind,
        rel: Boxes,
    ) -> None:
        if isinstance(self.to, StepTarget):
            if via is not None and via.step == self.to.id:
                self.reached.append(Stand(at, rel, occurrence, kind))
        elif at.version.dataset == self.to and (via is not None or origin.version.dataset != self.to):
            self.reached.append(Stand(at, rel, occurrence, kind))
        elif via is not None and self.to is not None and at.version.dataset.meets(self.to):
            self.beside.append(Stand(at, rel, occurrence, kind))

    def ended(self, at: VersionReference, occurrence: int, kind: Kind, rel: Boxes) -> None:
        if at.node.is_read and at is at.node.output:
            self.ends.append(Stand(at, rel, occurrence, kind))
        elif self.to is None:
            self.reached.append(Stand(at, rel, occurrence, kind))

    def stopped(self, stop: Stop) -> None:
        self.stops.add(stop)

    def stands(self) -> list[Stand]:
        return collected(self.reached)


def towards(linker: Linker, route: WalkPlan, to: ReachTarget | None) -> Callable[[WriteNode], bool]:
    """Return a predicate: whether a write may lead to a place, or to a stop on a path to it."""
    if to is None:
        return lambda node: True
    key = "towards", route, to
    leading: set[WriteNode] | None = linker.routes.get(key)
    if leading is None:
        leading = _leading(linker, route, to)
        linker.routes.put(key, leading, 1 + len(route.nodes))
    return leading.__contains__


def _is_at(dataset: Dataset, to: ReachTarget, direction: Direction) -> bool:
    return dataset == to or (direction == "forward" and isinstance(to, Dataset) and dataset.meets(to))


def _leading(linker: Linker, route: WalkPlan, to: ReachTarget) -> set[WriteNode]:
    useful: set[WriteNode] = set()
    for node in reversed(route.nodes):
        write = node.write
        if write.coverage == "untracked" or (node.is_read and route.direction == "forward"):
            useful.add(node)
            continue
        if route.direction == "backward":
            stands = [*node.inputs.values(), *(read.output for read in linker.reads(node))]
            links = [linker.links(s, "backward") for s in node.inputs.values()]
        else:
            stands, links = [node.output], [linker.onward(node)]
        if (
            (route.direction == "forward" and node.manifest.untracked)
            or (isinstance(to, StepTarget) and node.step == to.id)
            or any(_is_at(s.version.dataset, to, route.direction) for s in stands)
            or any(x.refused or any(k.target.version.dataset == to for k in x.links) for x in links)
            or any(n in useful for n in next_nodes(linker, node, route.direction))
        ):
            useful.add(node)
    return useful
