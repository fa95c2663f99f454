"""Rows that are in one derivation with others (co-contributory), and rows that share a witness (co-dependency).

A derivation of a row takes one row (or one derivation of an inner axis) from every tensor that leads on from it, and
a derivation of that row in turn. So two rows are in one derivation if they are reached through different tensors of a
row on the path, or one of them from the other. These are TensProv's Q10 and Q11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from provspark.index_store.query.intersections import without
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.query.reachable_rows import Collect, Reach, ReachTarget, collected, reach, towards
from provspark.index_store.query.relation import compose, gathered, image, labelled, restrict, united
from provspark.index_store.query.shared_records import shared
from provspark.index_store.query.walk import Stand, WalkPlan, Ways, plan, walk
from provspark.index_store.query.write_walk import Hop, WalkLimit, through, weaker
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import transpose
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.model.stops import Stop
from provspark.model.writes import Kind

Kinds = Mapping[Kind, Runs]


def rows_sharing_witness(
    linker: Linker,
    start: Stand,
    labels: Runs,
    to: Dataset,
    witness: ReachTarget,
    *,
    context: bool,
    ahead: Linker | None = None,
) -> Reach:
    """Find the rows of a dataset that share a witness with labelled rows.

    Parameters
    ----------
    start, labels
        The selected rows: label i is the i-th row of `labels`. Its record is left out of its own answer.
    to : Dataset
        The dataset of the returned rows.
    witness : Dataset or Step
        The dataset of the witnesses, or the step that read them.
    ahead : Linker, optional
        The linker for the walk forward, if it is another one.
    """
    back = reach(linker, [start], "backward", witness, context=context)
    shares = [Stand(s.at, s.boxes, kind=s.kind) for s in back.stands]
    reached = reach(ahead or linker, shares, "forward", to, context=context)
    rows = labelled(labels)
    others = []
    for stand in reached.stands:
        itself = compose(rows, shared(start.at, stand.at)) if to == start.at.version.dataset else Boxes.empty()
        rest = without(stand.boxes, itself)
        if len(rest):
            others.append(Stand(stand.at, rest, stand.occurrence, stand.kind))
    return Reach(tuple(others), tuple(sorted({*back.stops, *reached.stops})))


def rows_used_together(
    linker: Linker,
    start: Stand,
    to: Dataset,
    target: Dataset | None,
    *,
    context: bool,
    ahead: Linker | None = None,
) -> Reach:
    """Find the rows of a dataset that are in one derivation with labelled rows, on paths to another dataset.

    Parameters
    ----------
    to : Dataset
        The dataset of the returned rows.
    target : Dataset or None
        The dataset of the derived rows; None for any.
    ahead : Linker, optional
        The linker for the walk forward, if it is another one.
    """
    return _Together(linker, ahead or linker, start, to, target, context).run()


@dataclass(frozen=True, slots=True, eq=False)
class _Hop:
    """The rows of a tensor's out axis that labelled rows reached through it, forward."""

    node: WriteNode
    tensor: int
    kind: Kind
    boxes: Boxes


@dataclass(slots=True)
class _Forward:
    """A `WalkSink` that records a walk forward: hops within writes, and versions."""

    target: Dataset | None
    hops: list[_Hop] = field(default_factory=list)
    met_at: list[tuple[WriteNode | None, Stand]] = field(default_factory=list)
    axes: dict[WriteNode, dict[int, list[Runs]]] = field(default_factory=dict)
    stops: set[Stop] = field(default_factory=set)

    def met(
        self,
        at: VersionReference,
        origin: VersionReference,
        via: WriteNode | None,
        occurrence: int,
        kind: Kind,
        rel: Boxes,
    ) -> None:
        self.met_at.append((via, Stand(at, rel, occurrence, kind)))

    def ended(self, at: VersionReference, occurrence: int, kind: Kind, rel: Boxes) -> None:
        pass

    def stopped(self, stop: Stop) -> None:
        self.stops.add(stop)

    def watch(self, node: WriteNode) -> Hop:
        def hop(tensor: int, kind: Kind, rel: Boxes) -> None:
            self.hops.append(_Hop(node, tensor, kind, rel))

        return hop

    def limit(self, node: WriteNode) -> WalkLimit:
        axes = self.axes.setdefault(node, {})  # cuts nothing: only a limit sees what arrives at inner axes

        def note(axis: int, kind: Kind, rel: Boxes) -> Boxes:
            axes.setdefault(axis, []).append(image(rel))
            return rel

        return note


class _Lead:
    """The rows met going forward that lead to the target, by the kind of the path."""

    def __init__(self, forward: _Forward) -> None:
        self.stops: set[Stop] = set()
        self._met = {n: {a: _union(parts) for a, parts in axes.items()} for n, axes in forward.axes.items()}
        self._leads: dict[WriteNode, dict[int, dict[Kind, Runs]]] = {}

    def limit(self, node: WriteNode) -> WalkLimit:
        met, leads = self._met.get(node, {}), self._leads.setdefault(node, {})

        def cut(axis: int, kind: Kind, rel: Boxes) -> Boxes:
            rel = restrict(rel, met[axis]) if axis in met else Boxes.empty()
            if len(rel):
                known = leads.setdefault(axis, {})
                known[kind] = known[kind] | image(rel) if kind in known else image(rel)
            return rel

        return cut

    def axis(self, node: WriteNode, axis: int) -> Kinds:
        return self._leads.get(node, {}).get(axis, {})

    def version(self, node: WriteNode, version: str) -> Kinds:
        """Return the same for a version that a write read, over all its occurrences."""
        out: dict[Kind, Runs] = {}
        for i, axis in enumerate(node.write.axes):
            if axis.role == "input" and axis.version == version:
                for kind, runs in self.axis(node, i).items():
                    out[kind] = out[kind] | runs if kind in out else runs
        return out

    def met(
        self,
        at: VersionReference,
        origin: VersionReference,
        via: WriteNode | None,
        occurrence: int,
        kind: Kind,
        rel: Boxes,
    ) -> None:
        pass

    def ended(self, at: VersionReference, occurrence: int, kind: Kind, rel: Boxes) -> None:
        pass

    def stopped(self, stop: Stop) -> None:
        self.stops.add(stop)


class _Together:
    def __init__(
        self, linker: Linker, ahead: Linker, start: Stand, to: Dataset, target: Dataset | None, context: bool
    ) -> None:
        self.linker, self.onward, self.start = linker, ahead, start
        self.to, self.target, self.context = to, target, context
        self.forward = _Forward(target)
        self.reached: list[Stand] = []

    def run(self) -> Reach:
        route = plan(self.onward, [self.start.at], "forward")
        ways = Ways(towards(self.onward, route, self.target), hop=self.forward.watch, limit=self.forward.limit)
        walk(self.onward, route, [self.start], self.forward, context=self.context, ways=ways)
        self.lead = _Lead(self.forward)
        if self.target is not None:
            self.back()
        self.ahead()
        below = self.below()
        stops = {*self.forward.stops, *self.lead.stops, *below.stops}
        return Reach(tuple(collected([*self.reached, *below.stands])), tuple(sorted(stops)))

    def back(self) -> None:
        """Walk back from the target's rows that were met, through nothing but what was met."""
        ends = [Stand(s.at, gathered(image(s.boxes))) for _, s in self.at(self.target)]
        route = plan(self.linker, [s.at for s in ends], "backward")
        ways = Ways(lambda node: node in self.forward.axes, limit=self.lead.limit)
        walk(self.linker, route, ends, self.lead, context=self.context, ways=ways)

    def at(self, dataset: Dataset | None) -> Iterator[tuple[WriteNode | None, Stand]]:
        """Yield where the walk forward met a dataset, except for the rows that it started from."""
        own = self.start.at.version.dataset
        for via, stand in self.forward.met_at:
            if stand.at.version.dataset == dataset and (via is not None or dataset != own):
                yield via, stand

    def leading(self, boxes: Boxes, kind: Kind, kinds: Kinds | None) -> Iterator[tuple[Kind, Boxes]]:
        """Yield the parts of a relation that lead to the target, with the kind of the whole path."""
        if kinds is None:
            yield kind, boxes
            return
        for onward, runs in kinds.items():
            part = restrict(boxes, runs)
            if len(part):
                yield weaker(kind, onward), part

    def ahead(self) -> None:
        """Add rows derived from the labelled ones on the way to the target: a derivation includes its intermediates."""
        for via, stand in self.at(self.to):
            kinds = None
            if self.target is not None:
                node, version = stand.at.node, stand.at.version
                kinds = self.lead.axis(node, 0) if via is not None else self.lead.version(node, version.id)
                kinds = self.ends(stand, kinds)
            for kind, boxes in self.leading(stand.boxes, stand.kind, kinds):
                self.reached.append(Stand(stand.at, boxes, stand.occurrence, kind))

    def ends(self, stand: Stand, kinds: Kinds) -> Kinds:
        """Add that a row of the target leads to itself."""
        if self.to != self.target:
            return kinds
        return {**kinds, "data": image(stand.boxes)}

    def below(self) -> Reach:
        """Find the sources of the labelled rows, and what the other tensors of each axis on their path lead to."""
        sinks: dict[WriteNode, dict[tuple[int, Kind], list[Boxes]]] = {}
        wanted = _Wanted(self.linker, self.to)
        for hop in self.forward.hops:
            tensors = hop.node.write.tensors
            axis = tensors[hop.tensor].out
            beside = [
                t
                for n, t in enumerate(tensors)
                if n != hop.tensor
                and t.out == axis
                and (self.context or t.kind == "data")
                and wanted.axis(hop.node, t.src)
            ]
            if not beside:
                continue
            kinds = None if self.target is None else self.lead.axis(hop.node, axis)
            for kind, boxes in self.leading(hop.boxes, hop.kind, kinds):
                for tensor in beside:
                    there = through(boxes, hop.node.reader(tensor, "out"), "backward")
                    if len(there):
                        at = (tensor.src, weaker(kind, tensor.kind))
                        sinks.setdefault(hop.node, {}).setdefault(at, []).append(there)
        inject = {node: {at: united(parts) for at, parts in axes.items()} for node, axes in sinks.items()}
        starts = [Stand(self.start.at, boxes, -1, kind) for kind, boxes in self.begin()]
        return _inward(self.linker, starts, inject, self.to, self.context)

    def begin(self) -> Iterator[tuple[Kind, Boxes]]:
        """Yield the labelled rows themselves, as far as they lead to the target."""
        if self.target in (None, self.start.at.version.dataset):
            yield self.start.kind, self.start.boxes
            return
        kinds: dict[Kind, Runs] = {}
        for link in self.onward.links(self.start.at, "forward").links:
            node = link.target.node
            version = link.target.version
            leading = dict(self.lead.version(node, version.id))
            if version.dataset == self.target:
                leading["data"] = image(link.boxes)
            for kind, runs in leading.items():
                back = image(_restrict_back(link.boxes, runs))
                kinds[kind] = kinds[kind] | back if kind in kinds else back
        yield from self.leading(self.start.boxes, self.start.kind, kinds)


def _union(parts: list[Runs]) -> Runs:
    starts, lengths = (np.concatenate([getattr(p, name) for p in parts]) for name in ("starts", "lengths"))
    return Runs.united(starts, lengths)


def _restrict_back(boxes: Boxes, runs: Runs) -> Boxes:
    """Return the relation from label 0 to the rows of the out axis that relate to a set of rows of the src axis."""
    return compose(gathered(runs), transpose(boxes))


def _inward(
    linker: Linker,
    starts: list[Stand],
    inject: Mapping[WriteNode, Mapping[tuple[int, Kind], Boxes]],
    to: Dataset,
    context: bool,
) -> Reach:
    route = plan(linker, [s.at for s in starts], "backward", inject)
    sink = Collect(to)
    ways = Ways(towards(linker, route, to), inject)
    walk(linker, route, starts, sink, context=context, ways=ways)
    return Reach(tuple(sink.stands()), tuple(sorted(sink.stops)))


class _Wanted:
    """The axes of a write that lead to a dataset, or to a place where a path to it may have stopped."""

    def __init__(self, linker: Linker, to: Dataset) -> None:
        self.linker, self.to = linker, to
        self._axes: dict[WriteNode, set[int]] = {}

    def axis(self, node: WriteNode, axis: int) -> bool:
        axes = self._axes.get(node)
        if axes is None:
            axes = self._axes[node] = self._leading(node)
        return axis in axes

    def _leading(self, node: WriteNode) -> set[int]:
        axes = set()
        for i in reversed(node.axes("backward")):
            axis = node.write.axes[i]
            if axis.role == "input":
                if self._version(node.inputs[axis.version]):
                    axes.add(i)
            elif any(t.out == i and t.src in axes for t in node.write.tensors):
                axes.add(i)
        return axes

    def _version(self, at: VersionReference) -> bool:
        if at.version.dataset == self.to:
            return True
        links = self.linker.links(at, "backward")
        if links.refused or any(k.target.version.dataset == self.to for k in links.links):
            return True
        route: WalkPlan = plan(self.linker, [at], "backward")
        useful = towards(self.linker, route, self.to)
        return any(useful(k.target.node) for k in links.links)
