"""Sealing in the driver: turns what taps noted into tensors.

Keys are resolved to ranges of inner axes, addresses to row ids. Groups that no output row refers to are left out, so
from the top tap down each tap is read once, for the keys that those above it ask for. Nothing is multiplied out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes import pairs as boxes
from provspark.model.errors import CaptureError
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.writes import Axis
from provspark.tracker.plan.provenance_columns import ProvenanceColumn
from provspark.tracker.seal.boxes_in_parts import Gathered
from provspark.tracker.seal.keys import GroupRanges, RequestedKeys
from provspark.tracker.sinks import Written
from provspark.tracker.sources import Segments
from provspark.tracker.taps.sidecar import NULL, Block, PackedColumn, blocks
from provspark.tracker.taps.taps import PlacedTap, Receipt

_THREADS = 4
"""Provenance columns resolved at once: sorting lets go of Python's lock."""
_FEW = 4
"""Rows of fewer than one in so many groups are picked one by one."""
_SMALL = 1 << 14
"""Rows of blocks that are resolved without threads, which take longer to start."""
_BATCH = 2
"""Blocks of notes that are in memory at once."""


@dataclass(frozen=True, slots=True)
class Noted:
    """All that one write left for sealing.

    Parameters
    ----------
    taps : every tap of the write, inner ones first; the last is the top tap
    receipts : by a tap's place
    folder : URL of the sidecars
    scans : by occurrence, the version that was read and how its addresses become row ids
    written : the output's version and the row ids of each task's rows
    """

    taps: Sequence[PlacedTap]
    receipts: dict[int, list[Receipt]]
    folder: str
    scans: Sequence[tuple[PendingVersion, Segments]]
    written: Written


@dataclass(slots=True)
class Asker:
    """A provenance column that refers to groups of a tap: rows of an upper axis, with their keys' hashes, by blocks."""

    axis: int
    provenance_column: ProvenanceColumn
    rows: list[Int64] = field(default_factory=list)
    keys: list[tuple[Int64, Int64]] = field(default_factory=list)
    without: list[Int64] = field(default_factory=list)
    """Numbers of the rows of their groups that they leave out."""


@dataclass(frozen=True, slots=True)
class _Noted:
    """What was noted in one column for the rows that are kept."""

    column: PackedColumn
    kept: npt.NDArray[np.bool_] | Int64 | None = None

    def values(self) -> Int64:
        values = self.column.values()
        return values if self.kept is None else values[self.kept]

    def runs(self) -> tuple[Int64, Int64] | None:
        return self.column.runs() if self.kept is None else None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of an axis, a range where they follow one another, and what was noted for them, to be unpacked on demand."""

    rows: range | Int64
    columns: Sequence[_Noted]

    @property
    def ids(self) -> Int64:
        rows = self.rows
        return np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows


def seal(noted: Noted, site: str = "") -> PendingWrite:
    """Resolve a write's notes to tensors.

    Raises
    ------
    CaptureError
        The notes contradict each other: a key without its group, more rows written than noted.
    """
    return Sealing(noted).run(site)


class Sealing:
    """One write's sealing, from the top tap down.

    Parameters
    ----------
    noted : Noted
    """

    def __init__(self, noted: Noted) -> None:
        self.noted = noted
        output = noted.written.version
        self.axes = [
            Axis("output", output.files.total, output.files.identity(output.dataset), label=output.dataset.uri)
        ]
        self.tensors: list[PendingTensor] = []
        self.wanted: dict[int, list[Asker]] = {tap.number: [] for tap in noted.taps if tap.keyed}
        for number, (version, _) in enumerate(noted.scans):
            identity = version.files.identity(version.dataset)
            self.axes.append(Axis("input", version.files.total, identity, number, version.dataset.uri))

    def run(self, site: str) -> PendingWrite:
        """Return the write with its axes and tensors."""
        self.top(self.noted.taps[-1])
        for tap in reversed(self.noted.taps[:-1]):
            self.inner(tap)
        versions = {v.files.identity(v.dataset): v for v, _ in self.noted.scans}
        return PendingWrite(
            output=self.noted.written.version,
            coverage="coarse" if any(_coarse(tap) for tap in self.noted.taps) else "exact",
            inputs=tuple(versions.values()),
            axes=tuple(self.axes),
            tensors=tuple(self.tensors),
            site=site,
        )

    def top(self, tap: PlacedTap) -> None:
        """The output's own provenance columns: rows in the order of each task's files."""
        receipts = self.noted.receipts.get(tap.place, [])
        places = [self.places(receipt) for receipt in receipts]
        if int(self.noted.written.counts.sum()) != sum(receipt.rows for receipt in receipts):
            raise CaptureError("files were written by tasks that noted no row")

        def chunks() -> Iterator[Chunk]:
            for receipt, (rows, counts) in zip(receipts, places, strict=True):
                ends = np.cumsum(counts)
                at = 0
                for block in blocks(tap, receipt, self.noted.folder):
                    ids = _between(rows, ends, at, at + block.rows)
                    at += block.rows
                    yield Chunk(ids, picked(block, None))

        self.tensors += self.provenance(tap.provenance, 0, chunks())

    def places(self, receipt: Receipt) -> tuple[Int64, Int64]:
        """Return the row ids of what a task wrote, in its order: ranges, by first ids and lengths."""
        written = self.noted.written
        mine = np.flatnonzero(written.partitions == receipt.partition)
        found = int(written.counts[mine].sum())
        if found != receipt.rows:
            raise CaptureError(f"task {receipt.partition} noted {receipt.rows} rows and wrote {found} into its files")
        order = mine[np.argsort(written.offsets[mine], kind="stable")]
        return written.rows[order], written.counts[order]

    def inner(self, tap: PlacedTap) -> None:
        """The derivations of the groups that are asked for: an axis, its ranges for those above, its columns below."""
        askers = [asker for asker in self.wanted[tap.number] if asker.rows]
        if not askers:
            return
        distinct = RequestedKeys(
            [(_joined(k[0] for k in asker.keys), _joined(k[1] for k in asker.keys)) for asker in askers]
        )
        for asker in askers:
            asker.keys.clear()
        receipts = self.noted.receipts.get(tap.place, [])
        ranges = GroupRanges(len(distinct), sum(receipt.rows for receipt in receipts))
        numbered = any(asker.without for asker in askers)
        axis = len(self.axes)
        size = 0
        numbers: list[Int64] = []

        def chunks() -> Iterator[Chunk]:
            nonlocal size
            for receipt in receipts:
                for block in blocks(tap, receipt, self.noted.folder):
                    which = self.asked_in(tap, block, distinct)
                    groups = np.flatnonzero(which >= 0)
                    if not len(groups):
                        continue
                    chunk, counts = kept_rows(block, groups, size)
                    ranges.add(which[groups], np.cumsum(counts) - counts + size, counts)
                    if numbered:
                        numbers.append(chunk.columns[-1].values())
                    size += len(chunk.rows)
                    yield chunk

        made = self.provenance(tap.provenance, axis, chunks())
        self.axes.append(Axis("inner", size, label=tap.label))
        self.check_found(tap, len(distinct) - ranges.found)
        for asker, asked in zip(askers, distinct.asked, strict=True):
            rows = _joined(asker.rows)
            out = _places(_joined(asker.without), _joined(numbers)) if asker.without else None
            upper = Gathered()
            for which, starts, counts in ranges.of(asked):
                told = (which, starts, counts) if out is None else _without(which, starts, counts, out)
                upper.add(boxes.from_ranges(rows[told[0]], *told[1:]))
            tensor = PendingTensor(asker.axis, axis, upper.boxes(), asker.provenance_column.kind)
            self.tensors += [tensor] if len(tensor.boxes) else []
        self.tensors += made

    def asked_in(self, tap: PlacedTap, block: Block, distinct: RequestedKeys) -> Int64:
        """Place of each of a block's keys among those asked for, -1 where nobody asks."""
        if block.keys is None or block.counts is None:
            raise CaptureError(f"tap {tap.number} left no keys")
        first = block.keys[0].values()
        if tap.whole:
            return np.zeros(len(first), dtype=np.int64)
        return distinct.places(first, block.keys[1].values())

    def check_found(self, tap: PlacedTap, missing: int) -> None:
        """Every key asked for has a group, but for the one of a global aggregate over nothing."""
        nothing = tap.keyless and not self.noted.receipts.get(tap.place)
        if missing and not nothing and not tap.coarse:
            raise CaptureError(f"{missing} keys of the {tap.label} at tap {tap.number} have no group")

    def provenance(
        self, provenance: Sequence[ProvenanceColumn], axis: int, chunks: Iterable[Chunk]
    ) -> list[PendingTensor]:
        """Relate an axis to what its provenance columns point at: note who asks for groups, return what is known."""
        at = np.cumsum([0, *(provenance_column.width for provenance_column in provenance)])
        askers = self.askers(provenance, axis)
        gathered = {i: Gathered() for i, provenance_column in enumerate(provenance) if not provenance_column.grouped}

        def located(chunk: Chunk, i: int) -> Boxes:
            return self.boxes_of(provenance[i], chunk, chunk.columns[at[i]])

        with ThreadPoolExecutor(_THREADS) as pool:  # starts a thread when it is given the first job
            waiting = iter(chunks)
            while batch := list(islice(waiting, _BATCH)):
                jobs = [(chunk, i) for chunk in batch for i in gathered]
                run = pool.map if sum(len(chunk.rows) for chunk in batch) > _SMALL else map
                found = run(lambda job: located(*job), jobs)
                for chunk in batch:
                    for i, asker in askers.items():
                        _ask(asker, chunk.ids, [column.values() for column in chunk.columns[at[i] : at[i + 1]]])
                for (_, i), boxes_found in zip(jobs, found, strict=True):
                    gathered[i].add(boxes_found)
        made = [
            (provenance_column, gathered[i].boxes()) for i, provenance_column in enumerate(provenance) if i in gathered
        ]
        return [
            PendingTensor(axis, 1 + provenance_column.origin, all_of, provenance_column.kind)
            for provenance_column, all_of in made
            if len(all_of)
        ]

    def askers(self, provenance: Sequence[ProvenanceColumn], axis: int) -> dict[int, Asker]:
        """Register those who ask for groups, to be told rows and keys, by place among the provenance columns."""
        askers = {
            i: Asker(axis, provenance_column)
            for i, provenance_column in enumerate(provenance)
            if provenance_column.grouped
        }
        for asker in askers.values():
            self.wanted[asker.provenance_column.origin].append(asker)
        return askers

    def boxes_of(self, provenance_column: ProvenanceColumn, chunk: Chunk, noted: _Noted) -> Boxes:
        """Relate rows to the rows at their addresses in a scan."""
        segments = self.noted.scans[provenance_column.origin][1]
        if isinstance(chunk.rows, range) and not provenance_column.whole:
            found = _lines(chunk.rows.start, noted.runs(), segments)
            if found is not None:
                return found
        rows, addresses = chunk.ids, noted.values()
        present = addresses != NULL
        if not present.all():
            addresses, rows = addresses[present], rows[present]
        if provenance_column.whole:
            none = np.zeros(len(rows), dtype=np.int64)
            return boxes.from_ranges(rows, none, none + self.noted.scans[provenance_column.origin][0].files.total)
        return boxes.from_pairs(rows, segments.rows_of(addresses))


def picked(block: Block, rows: npt.NDArray[np.bool_] | Int64 | None) -> list[_Noted]:
    """Return what a block noted for some of its rows; for all of them where `rows` is None."""
    return [_Noted(column, rows) for column in block.columns]


def kept_rows(block: Block, groups: Int64, first: int) -> tuple[Chunk, Int64]:
    """Return the rows of some of a block's groups, by place, from id `first` on, and how many each of them has."""
    assert block.counts is not None
    counts = block.counts.values()
    mask = None if len(groups) == len(counts) else _rows_of(groups, counts)
    counts = counts[groups]
    rows = range(first, first + int(counts.sum()))
    return Chunk(rows, picked(block, mask)), counts


def _lines(first: int, runs: tuple[Int64, Int64] | None, segments: Segments) -> Boxes | None:
    """Relate rows from `first` on to runs of addresses, a diagonal each; None where a run is not of one block."""
    if runs is None:
        return None
    starts, lengths = runs
    src = segments.rows_of_runs(starts, lengths)
    if src is None:
        return None
    found = Boxes(np.cumsum(lengths) - lengths + first, lengths, src, lengths, lengths > 1)
    step = src[1:] - src[:-1]
    return boxes.merge(found) if bool(((step == lengths[:-1]) | (step == 0)).any()) else found


def _ask(asker: Asker, rows: Int64, columns: list[Int64]) -> None:
    present = columns[0] != NULL
    if not present.all():
        rows, columns = rows[present], [column[present] for column in columns]
    if len(rows):
        asker.rows.append(rows)
        asker.keys.append((columns[0], columns[1]))
        if asker.provenance_column.others:
            asker.without.append(columns[2])


def _between(starts: Int64, ends: Int64, low: int, high: int) -> range | Int64:
    """Of ranges that end, put one after another, at `ends`, the values at the places from `low` to `high`."""
    first, last = (int(np.searchsorted(ends, place, side="right" if place == low else "left")) for place in (low, high))
    stops = np.minimum(ends[first : last + 1], high)
    begins = np.concatenate([[low], stops[:-1]])[: len(stops)]
    heads = np.concatenate([[0], ends])[first : first + len(stops)]
    begun = starts[first : first + len(stops)] + begins - heads
    if len(stops) == 1:
        return range(int(begun[0]), int(begun[0]) + high - low)
    return _ranges(begun, stops - begins)


def _coarse(tap: PlacedTap) -> bool:
    return tap.coarse or any(provenance_column.whole for provenance_column in tap.provenance)


def _places(numbers: Int64, among: Int64) -> Int64:
    """Place of each number in `among`."""
    order = np.argsort(among, kind="stable")
    at = order[np.searchsorted(among, numbers, sorter=order) % len(order)]
    if not np.array_equal(among[at], numbers):
        raise CaptureError("a row was kept that its group has not")
    return at


def _without(which: Int64, starts: Int64, counts: Int64, places: Int64) -> tuple[Int64, Int64, Int64]:
    """Take one place out of the ranges of each asker: the range that it stands in becomes two."""
    out = places[which]
    hit = (out >= starts) & (out < starts + counts)
    before = np.where(hit, out - starts, counts)
    after = np.where(hit, starts + counts - out - 1, 0)
    return np.r_[which, which], np.r_[starts, out + 1], np.r_[before, after]


def _rows_of(groups: Int64, counts: Int64) -> npt.NDArray[np.bool_] | Int64:
    """Which rows stand in some groups of a block: the rows where they are few, else a mark for each."""
    if len(groups) * _FEW < len(counts):
        ends = np.cumsum(counts)[groups]
        return _ranges(ends - counts[groups], counts[groups])
    kept = np.zeros(len(counts), dtype=np.bool_)
    kept[groups] = True
    return np.repeat(kept, counts)


def _ranges(starts: Int64, counts: Int64) -> Int64:
    """start, start+1 … of each range, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    out: Int64 = np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - counts), counts)
    return out


def _joined(parts: Iterable[Int64]) -> Int64:
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
