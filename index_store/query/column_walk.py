"""Walks of columns and cells across writes, by the tensors and the column matrix of each write.

For each reading and kind of edge, the lineage of a cell is that of its row, restricted by the bits of its column. A
walk therefore carries parts: a relation of rows with the matrix of columns that belongs to it.

Of the reads on drivers, a walk follows only models: the columns that a model was fitted to are context of what it is
applied to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from provspark.index_store.query.bits import ROWS, Bits, compose, union
from provspark.index_store.query.column_maps import ColumnMap, WayChoice, carried, column_map, names_of
from provspark.index_store.query.links import Linker, Links, VersionLink
from provspark.index_store.query.missing_sides import missing_sides
from provspark.index_store.query.model_maps import model_map
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.relation import compose as compose_rows
from provspark.index_store.query.relation import gathered, identity, image, restrict, united
from provspark.index_store.query.walk import (
    ASK_FOR_ROWS,
    leaving_reads,
    missed,
    plan,
    stretch,
    uncaptured,
    unreadable_stops,
)
from provspark.index_store.query.write_walk import walk_axes, weaker
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import concat, transpose
from provspark.model.datasets import Dataset
from provspark.model.progress import enter
from provspark.model.runs import Runs
from provspark.model.stops import Blur, Stop
from provspark.model.writes import Kind

__all__ = ["Carried", "ColumnsAt", "Settle", "Settled", "carry", "carry_to_each"]

Settled = Mapping[int, list[tuple[Boxes, Bits]]]
"""By the axis of a reading, its data edges with the columns that these rows used: boxes from output rows to rows of the
reading, and bits from output columns to columns of the reading."""
Settle = Callable[[WriteNode, Runs, Int64], "Settled | str"]
"""Takes a write, rows of its output and positions of columns; returns the cells that the values chose, or why not."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnsAt:
    """A part of a walk that reached a version."""

    at: VersionReference
    bits: Bits
    """Backward, from the selected columns to the version's; forward, from the version's to the selected columns."""
    rows: Boxes | None = None
    """From the selected rows to the version's; None if only columns are followed."""
    kind: Kind = "data"
    """Kind of the rows' path; with rows, the bits are of this kind only."""
    occurrence: int = -1


@dataclass(frozen=True, slots=True)
class Carried:
    """Where a walk arrived, and the meaning of the bits of `via` and `doubt`."""

    parts: tuple[ColumnsAt, ...]
    stops: tuple[Stop, ...]
    nodes: tuple[WriteNode, ...]
    """The writes on the route, in execution order."""
    first: tuple[int, ...]
    """The bit of each write's first operation."""
    unsettled: Mapping[WriteNode, str] = field(default_factory=dict)
    """By write, why a replay could not settle which sources its rows chose."""

    def steps(self, mask: int) -> list[WriteNode]:
        """Return the writes with a bit in a mask, in execution order."""
        return [node for node, ops in self.operations(mask) if ops]

    def operations(self, mask: int) -> list[tuple[WriteNode, list[int]]]:
        """Return each write with its operations that have a bit in a mask; one past the last is the write itself."""
        told = []
        for node, first in zip(self.nodes, self.first, strict=True):
            own = mask >> first & ((1 << len(node.operations) + 1) - 1)
            told.append((node, [i for i in range(own.bit_length()) if own >> i & 1]))
        return told


def carry(
    linker: Linker,
    start: ColumnsAt,
    direction: Direction,
    to: Dataset | None,
    *,
    context: bool,
    cut: bool = True,
    settle: Settle | None = None,
    ways: WayChoice = "all",
) -> Carried:
    """Follow columns or cells of a version to a dataset, wherever it is on a path, or to the ends of all paths.

    Parameters
    ----------
    context : bool
        Whether to follow context edges.
    cut : bool
        Whether rows only have the bits of their own kind of edge; otherwise all rows have all bits.
    settle : callable, optional
        Called where the values of rows choose the source of a cell. Without it, all sources are returned, none as sure.
    ways : {"all", "touching", "sure"}
        Whether the bits of `via` include all operations, those that touched a column, or those that surely did.
    """
    return _ColumnWalk(linker, direction, (to,), context, cut, settle, ways).run(start)[0]


def carry_to_each(
    linker: Linker,
    start: ColumnsAt,
    direction: Direction,
    places: Sequence[Dataset | None],
    *,
    context: bool,
    ways: WayChoice = "all",
) -> list[Carried]:
    """Return what `carry` returns for each of several places as `to`, in one walk."""
    return _ColumnWalk(linker, direction, places, context, ways=ways).run(start)


@dataclass(slots=True)
class _ColumnWalk:
    linker: Linker
    direction: Direction
    places: Sequence[Dataset | None]
    """Datasets to reach; None means the ends of all paths."""
    context: bool
    cut: bool = True
    settle: Settle | None = None
    ways: WayChoice = "all"
    reached: dict[Dataset | None, list[ColumnsAt]] = field(init=False)
    stops: set[Stop] = field(default_factory=set)
    pending: dict[WriteNode, list[ColumnsAt]] = field(default_factory=dict)
    first: dict[WriteNode, int] = field(default_factory=dict)
    walked: dict[object, tuple[dict[tuple[int, Kind], Boxes], Boxes]] = field(default_factory=dict)
    """Paths of rows within a write, by the id of the relation that entered; storing it keeps its id from reuse."""
    unsettled: dict[WriteNode, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reached = {place: [] for place in self.places}

    def run(self, start: ColumnsAt) -> list[Carried]:
        """Walk, and return the result for each place."""
        through = self.linker.through("rows") if self.linker.graph.reads else self.linker
        route = plan(through, [start.at], self.direction).nodes
        ran = route[::-1] if self.direction == "backward" else route
        size = 0
        self.stops.update(unreadable_stops(self.linker.graph))
        for node in ran:
            self.first[node] = size
            size += len(node.operations) + 1
        self.stand(start, self.linker.links(start.at, self.direction))
        for node in route:
            arrived = self.pending.pop(node, [])
            if arrived and self.open(node):
                enter(node.step)
                self.enter(node, _merged(replace(p, occurrence=-1) for p in arrived))
        first = tuple(self.first[n] for n in ran)
        stops = tuple(sorted(self.stops))
        return [Carried(tuple(self.reached[to]), stops, ran, first, self.unsettled) for to in self.places]

    def map_of(self, node: WriteNode) -> ColumnMap:
        """Return the column matrix of a write."""
        return column_map(node) if self.ways == "all" else column_map(node, self.ways)

    def stand(self, part: ColumnsAt, links: Links, *, made: bool = False) -> None:
        """Carry a part to the writes that share files with its version, with `made` only files that its write made."""
        at, backward = part.at, self.direction == "backward"
        for link in links.links:
            self.follow(part, link)
        for refusal in links.refused:
            if part.rows is None or image(part.rows) & refusal.rows:
                self.stop("unlinked", refusal.target.node, refusal.why)
        went = False
        if not backward and self.linker.graph.reads:
            rows = _rows_of(part, made)
            for link in self.linker.driver_links(at):
                shared = len(compose_rows(gathered(rows), link.boxes))
                if shared and link.target.node.is_model and self.follow(part, link):
                    went = True
            for read in leaving_reads(self.linker, at, [rows]):
                if not read.is_model:
                    self.stop("driver", read, ASK_FOR_ROWS)
        if None not in self.reached or went:
            return
        if part.rows is None:
            if links.loose or not links.links:
                self.reached[None].append(part)
        elif len(rest := restrict(part.rows, links.loose)):
            self.reached[None].append(replace(part, rows=rest))

    def follow(self, part: ColumnsAt, link: VersionLink) -> bool:
        """Carry a part to a version that shares rows with its own; return whether anything arrives."""
        at, there = part.at, link.target
        backward = self.direction == "backward"
        bits = compose(part.bits, carried(at, there)) if backward else compose(carried(there, at), part.bits)
        rows = part.rows if part.rows is None or link.whole else compose_rows(part.rows, link.boxes)
        if not len(bits) or (rows is not None and not len(rows)):
            return False
        met = replace(part, at=there, bits=bits, rows=rows)
        dataset = there.version.dataset
        if dataset in self.reached and dataset != at.version.dataset:
            self.reached[dataset].append(met)
        self.pending.setdefault(there.node, []).append(met)
        return True

    def enter(self, node: WriteNode, parts: list[ColumnsAt]) -> None:
        """Carry parts from a write's output to its inputs, or the reverse."""
        for part in parts:
            went = self.behind(node, part) if self.direction == "backward" else self.ahead(node, part)
            for there in _merged(went):
                if (dataset := there.at.version.dataset) in self.reached:
                    self.reached[dataset].append(there)
                if there.at.node.is_read and there.at is there.at.node.output:
                    self.at_model(there)
                elif self.direction == "backward":
                    self.stand(there, self.linker.links(there.at, "backward"))
                else:
                    self.stand(there, self.linker.onward(node), made=True)

    def at_model(self, part: ColumnsAt) -> None:
        """Carry a part on from a model: backward to what it was fitted to, forward to what it was applied to."""
        read = part.at.node
        if self.direction == "backward":
            self.pending.setdefault(read, []).append(part)
            return
        for node in read.later:
            kinds = node.kinds_to(read)
            if node.is_read and not node.is_model:
                goes, lost = False, bool(kinds) and not node.write.single
            else:
                goes, lost = bool(kinds - {"possible"}), "possible" in kinds
            if goes:
                self.pending.setdefault(node, []).append(part)
            if lost:
                self.stop("driver", node, ASK_FOR_ROWS)

    def into_models(self, node: WriteNode, part: ColumnsAt) -> Iterator[ColumnsAt]:
        """Carry a part backward from a write or a model to the models that it uses."""
        for read in node.reads:
            if not read.is_model or not (bits := model_map(node, read, self.ways)):
                continue
            for kind, rows in self.rows(node, part, 0, node.reads_axis):
                there = rows and compose_rows(rows, stretch(read.base, 0, read.write.output.rows))
                yield from self.cut_by(node, part, node.reads_axis, kind, there, read.output, bits)

    def from_model(self, node: WriteNode, part: ColumnsAt) -> Iterator[ColumnsAt]:
        """Carry a part forward from a model to a write or a model that uses it."""
        read = part.at.node
        begin = part.rows and compose_rows(part.rows, stretch(0, read.base, read.write.output.rows))
        for kind, rows in self.rows(node, replace(part, rows=begin), node.reads_axis, 0):
            yield from self.cut_by(
                node, part, node.reads_axis, kind, rows, node.output, model_map(node, read, self.ways)
            )

    def behind(self, node: WriteNode, part: ColumnsAt) -> Iterator[ColumnsAt]:
        yield from self.into_models(node, part)
        settled: Settled = {}
        if self.is_doubtful(node, part, None):
            settled = self.settled(node, part.rows, part.bits.src)
        for axis, version in self.readings(node):
            at = node.inputs[version]
            for kind, rows in self.rows(node, part, 0, axis):
                if kind == "data" and axis in settled:
                    for boxes, bits in settled[axis]:
                        there = compose_rows(part.rows, boxes) if part.rows is not None else boxes
                        yield from self.composed(node, part, axis, kind, there, at, bits)
                else:
                    yield from self.stepped(node, part, axis, kind, rows, at)
        yield from self.unmatched(node, part)

    def unmatched(self, node: WriteNode, part: ColumnsAt) -> Iterator[ColumnsAt]:
        """Yield parts with the outer joins that made cells null for lack of a match; they lead to the other side."""
        if part.rows is None or not self.cut or node.write.coverage != "exact":
            return
        for side in missing_sides(node, self.ways):
            if not len(compose(part.bits, side.bits)):
                continue
            rest = self.labels(node, part, side.others) - self.labels(node, part, side.axes)
            for axis, version in self.readings(node) if rest else ():
                for kind, rows in self.rows(node, part, 0, axis) if axis in side.others else ():
                    if kind == "data" and rows is not None:
                        there = compose_rows(identity(rest), rows)
                        yield from self.composed(node, part, axis, kind, there, node.inputs[version], side.bits)

    def labels(self, node: WriteNode, part: ColumnsAt, axes: Iterable[int]) -> Runs:
        """Return the labels of a part that have rows in any of some readings."""
        there = [rows for axis in axes for _, rows in self.rows(node, part, 0, axis) if rows is not None]
        return Runs.span(0) if not there else image(transpose(concat(there)))

    def ahead(self, node: WriteNode, part: ColumnsAt) -> Iterator[ColumnsAt]:
        if part.at.node is not node:
            yield from self.from_model(node, part)
            return
        for axis, version in self.readings(node):
            if version != part.at.version.id:
                continue
            for kind, rows in self.rows(node, part, axis, 0):
                settled: Settled = {}
                if kind == "data" and self.is_doubtful(node, part, axis):
                    settled = self.settled(node, rows, np.arange(1 + len(names_of(node.output))))
                if axis in settled and part.rows is not None:
                    for boxes, bits in settled[axis]:
                        there = compose_rows(part.rows, transpose(boxes))
                        yield from self.composed(node, part, axis, kind, there, node.output, bits)
                else:
                    yield from self.stepped(node, part, axis, kind, rows, node.output)

    def is_doubtful(self, node: WriteNode, part: ColumnsAt, axis: int | None) -> bool:
        """Whether the values of rows choose which columns of a reading (None: of any) go into those of a part."""
        if self.settle is None or part.rows is None or not self.cut or node.write.coverage != "exact":
            return False
        backward = self.direction == "backward"
        for at, bits in self.map_of(node).axes.items():
            own = bits.of_kind("data")
            both = compose(part.bits, own) if backward else compose(own, part.bits)
            if axis in (None, at) and bool((own.may & ~own.sure).any()) and bool((both.may & ~both.sure).any()):
                return True
        return False

    def settled(self, node: WriteNode, rows: Boxes | None, columns: Int64) -> Settled:
        """Call `settle`; if it can't tell, note why and return nothing."""
        if self.settle is None or rows is None:
            return {}
        cells = self.settle(node, image(rows), np.unique(columns))
        if isinstance(cells, str):
            self.unsettled[node] = cells
            return {}
        return cells

    def readings(self, node: WriteNode) -> Iterator[tuple[int, str]]:
        """Yield the axis and version of each reading of a write; with `cut`, only readings that columns came from."""
        known = self.map_of(node).axes
        for axis, described in enumerate(node.write.axes):
            if described.role == "input" and (axis in known or not self.cut):
                yield axis, described.version

    def rows(
        self, node: WriteNode, part: ColumnsAt, start: int, end: int
    ) -> Iterator[tuple[Kind | None, Boxes | None]]:
        """Yield the rows on another axis by kind of path; no kind and no rows if only columns are followed."""
        if part.rows is None:
            yield None, None
            return
        key = (node, start, id(part.rows))
        if key not in self.walked:
            ends = {0} if start else {i for i, a in enumerate(node.write.axes) if a.role in ("input", "reads")}
            begin: dict[tuple[int, Kind], Boxes] = {(start, "data"): part.rows}
            ways = walk_axes(node, begin, self.direction, context=self.context, keep=ends)
            self.walked[key] = ways, part.rows
        for (axis, kind), boxes in self.walked[key][0].items():
            if axis == end:
                yield kind, boxes

    def stepped(
        self, node: WriteNode, part: ColumnsAt, axis: int, kind: Kind | None, rows: Boxes | None, at: VersionReference
    ) -> Iterator[ColumnsAt]:
        """Carry a part through the matrix of a reading."""
        whole = 1 << len(node.operations)
        bits = self.map_of(node).axes.get(axis) or Bits.of([(ROWS, ROWS, 1, 1, whole, 0)])
        yield from self.cut_by(node, part, axis, kind, rows, at, bits)

    def cut_by(
        self,
        node: WriteNode,
        part: ColumnsAt,
        axis: int,
        kind: Kind | None,
        rows: Boxes | None,
        at: VersionReference,
        bits: Bits,
    ) -> Iterator[ColumnsAt]:
        """Carry a part through a matrix, restricted to the kind of the path."""
        if kind == "possible":
            return
        whole = 1 << len(node.operations)
        if kind is not None and self.cut:
            bits = bits.of_kind(kind)
        elif kind is None and not self.context:
            bits = bits.of_kind("data")
        mixed = kind == "context" and axis in self.map_of(node).mixed
        if kind is not None and (mixed or node.write.coverage == "coarse"):
            bits = bits.emptied(whole) if self.ways == "sure" else bits.doubted(whole)
        yield from self.composed(node, part, axis, kind, rows, at, bits)

    def composed(
        self,
        node: WriteNode,
        part: ColumnsAt,
        axis: int,
        kind: Kind | None,
        rows: Boxes | None,
        at: VersionReference,
        bits: Bits,
    ) -> Iterator[ColumnsAt]:
        bits = bits.shifted(self.first[node])
        bits = compose(part.bits, bits) if self.direction == "backward" else compose(bits, part.bits)
        if len(bits) and (rows is None or len(rows)):
            occurrence = node.write.axes[axis].occurrence
            yield ColumnsAt(at, bits, rows, weaker(part.kind, kind or "data"), occurrence)

    def open(self, node: WriteNode) -> bool:
        """Record the stops of a write; return whether the walk can enter it."""
        write = node.write
        why = str(write.reason) if write.reason else "no reason was stored"
        if write.coverage == "untracked":
            self.stop("untracked", node, why)
            return False
        if write.coverage == "coarse":
            self.stop("coarse", node, why)
        elif self.direction == "forward" and node.manifest.untracked:
            for reason in uncaptured(node.manifest):
                self.stop("untracked", node, missed(reason))
        if self.direction == "backward" and _leaves_models(node):
            self.stop("driver", node, ASK_FOR_ROWS)
        if not column_map(node).known and names_of(node.output):
            self.stop("columns", node, "its operations were not kept, or not all of them")
        return True

    def stop(self, what: Blur, node: WriteNode, why: str) -> None:
        self.stops.add(Stop(what, node.step, str(node.write.output.dataset), why))


def _leaves_models(node: WriteNode) -> bool:
    """Whether a write uses reads on the driver other than models, which a walk of columns does not follow."""
    some = [read for read in node.reads if not read.write.single]
    others = [read for read in some if not read.is_model]
    return any(node.leads_to(t, some if t.kind == "possible" else others) for t in node.write.tensors)


def _rows_of(part: ColumnsAt, made: bool) -> Runs:
    """Return the rows of a part; if only columns are followed, those of the files that its write made, or all."""
    if part.rows is not None:
        return image(part.rows)
    files = part.at.files
    return files.runs(np.flatnonzero(files.written)) if made else Runs.span(part.at.version.rows)


def _merged(parts: Iterable[ColumnsAt]) -> list[ColumnsAt]:
    """Combine parts that differ only in their rows, or only in their columns."""
    by_columns: dict[object, list[ColumnsAt]] = {}
    for p in parts:
        place = (p.at.key, p.kind, p.occurrence)
        by_columns.setdefault((place, p.rows is None or p.bits.key()), []).append(p)
    by_rows: dict[object, list[ColumnsAt]] = {}
    for (place, _), alike in by_columns.items():  # type: ignore[misc]
        one = alike[0]
        if one.rows is None:
            one = replace(one, bits=union([p.bits for p in alike]))
        elif len(alike) > 1:
            one = replace(one, rows=united([p.rows for p in alike if p.rows is not None]))
        by_rows.setdefault((place, one.rows and _key(one.rows)), []).append(one)
    return [a[0] if len(a) == 1 else replace(a[0], bits=union([p.bits for p in a])) for a in by_rows.values()]


def _key(rows: Boxes) -> tuple[bytes, ...]:
    return tuple(a.tobytes() for a in (rows.out, rows.n_out, rows.src, rows.n_src, rows.diagonal))
