"""Sealing: turns what taps noted into tensors, in the driver.

Keys are resolved to ranges of inner axes, addresses to row ids. Groups that no output row refers to are left out, so
from the top tap down each tap is read once, for the keys that those above it ask for. Nothing is multiplied out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.errors import CaptureError
from provspark.index_store import boxes
from provspark.index_store.arrow import numbers
from provspark.index_store.model import Axis, Boxes, Int64, Kind, PendingTensor, PendingVersion, PendingWrite
from provspark.tracker.legs import Leg
from provspark.tracker.sidecar import NULL, Block, Column, blocks
from provspark.tracker.sinks import Written
from provspark.tracker.sources import Segments
from provspark.tracker.taps import Receipt, Tap

_THREADS = 4
"""Legs resolved at once: sorting lets go of Python's lock."""


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

    taps: Sequence[Tap]
    receipts: dict[int, list[Receipt]]
    folder: str
    scans: Sequence[tuple[PendingVersion, Segments]]
    written: Written


@dataclass(slots=True)
class _Wanted:
    """Who refers to the groups of a tap: rows of upper axes by kind of edge, each with the two hashes of its key."""

    axes: list[tuple[int, Kind]] = field(default_factory=list)
    rows: list[Int64] = field(default_factory=list)
    keys: list[pa.Array] = field(default_factory=list)
    without: list[Int64 | None] = field(default_factory=list)
    """Numbers of the rows of their groups that they leave out."""


def seal(noted: Noted, site: str = "") -> PendingWrite:
    """Resolve a write's notes to tensors.

    Raises
    ------
    CaptureError
        The notes contradict each other: a key without its group, more rows written than noted.
    """
    return _Sealing(noted).run(site)


class _Sealing:
    def __init__(self, noted: Noted) -> None:
        self.noted = noted
        output = noted.written.version
        self.axes = [
            Axis("output", output.files.total, output.files.identity(output.dataset), label=output.dataset.uri)
        ]
        self.tensors: list[PendingTensor] = []
        self.wanted: dict[int, _Wanted] = {tap.number: _Wanted() for tap in noted.taps if tap.keyed}
        for number, (version, _) in enumerate(noted.scans):
            identity = version.files.identity(version.dataset)
            self.axes.append(Axis("input", version.files.total, identity, number, version.dataset.uri))

    def run(self, site: str) -> PendingWrite:
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

    def top(self, tap: Tap) -> None:
        """The output's own legs: rows in the order of each task's files."""
        written = self.noted.written
        ids: list[Int64] = []
        parts: list[Block] = []
        for receipt in self.noted.receipts.get(tap.place, []):
            mine = np.flatnonzero(written.partitions == receipt.partition)
            order = mine[np.argsort(written.offsets[mine], kind="stable")]
            counts = written.counts[order]
            if int(counts.sum()) != receipt.rows:
                raise CaptureError(
                    f"task {receipt.partition} noted {receipt.rows} rows and wrote {int(counts.sum())} into its files"
                )
            ids.append(_ranges(written.rows[order], counts))
            parts.extend(blocks(tap, receipt, self.noted.folder))
        if int(written.counts.sum()) != sum(len(i) for i in ids):
            raise CaptureError("files were written by tasks that noted no row")
        rows = _joined(ids)
        self.legs(
            tap.legs,
            0,
            rows,
            [_joined(c.values() for c in column) for column in _transposed(parts, tap.width)],
        )

    def inner(self, tap: Tap) -> None:
        """The derivations of the groups that are asked for: a new axis, its ranges for those above, its legs below."""
        wanted = self.wanted[tap.number]
        if not wanted.keys:
            return
        asked = pa.chunked_array(wanted.keys).combine_chunks()
        distinct = asked.unique()
        axis = len(self.axes)
        size = 0
        found: list[tuple[Int64, Int64, Int64]] = []
        columns: list[list[Int64]] = [[] for _ in range(tap.width)]
        for receipt in self.noted.receipts.get(tap.place, []):
            for block in blocks(tap, receipt, self.noted.folder):
                if block.counts is None:
                    raise CaptureError(f"tap {tap.number} left no keys")
                which = self.asked_in(tap, block, distinct)
                kept = which >= 0
                if not kept.any():
                    continue
                counts = block.counts.values()
                starts = np.cumsum(counts[kept]) - counts[kept] + size
                found.append((which[kept], starts, counts[kept]))
                size += int(counts[kept].sum())
                if kept.all():
                    for i, column in enumerate(block.columns):
                        columns[i].append(column.values())
                else:
                    mask = np.repeat(kept, counts)
                    for i, column in enumerate(block.columns):
                        columns[i].append(column.values()[mask])
        self.axes.append(Axis("inner", size, label=tap.label))
        groups, starts, counts = (_joined(f[i] for f in found) for i in range(3))
        self.check_found(tap, groups, len(distinct))
        order = np.argsort(groups, kind="stable")
        groups, starts, counts = groups[order], starts[order], counts[order]
        for upper, rows, keys, without in zip(wanted.axes, wanted.rows, wanted.keys, wanted.without, strict=True):
            ranges = _found(_index_in(keys, distinct), groups, starts, counts)
            if without is not None:
                ranges = _without(ranges, _places(without, _joined(columns[-1])))
            self.add(upper[0], axis, boxes.from_ranges(rows[ranges[0]], *ranges[1:]), upper[1])
        self.legs(tap.legs, axis, np.arange(size, dtype=np.int64), [_joined(c) for c in columns])

    def asked_in(self, tap: Tap, block: Block, distinct: pa.Array) -> Int64:
        """Place of each of a block's keys among those asked for, -1 where nobody asks."""
        if block.keys is None:
            raise CaptureError(f"tap {tap.number} left no keys")
        first = block.keys[0].values()
        if tap.whole:
            return np.zeros(len(first), dtype=np.int64)
        return _index_in(_keys(first, block.keys[1].values()), distinct)

    def check_found(self, tap: Tap, groups: Int64, distinct: int) -> None:
        """Every key asked for has a group, but for the one of a global aggregate over nothing."""
        missing = distinct - len(np.unique(groups))
        nothing = tap.keyless and not self.noted.receipts.get(tap.place)
        if missing and not nothing and not tap.coarse:
            raise CaptureError(f"{missing} keys of the {tap.label} at tap {tap.number} have no group")

    def legs(self, legs: Sequence[Leg], axis: int, rows: Int64, columns: Sequence[Int64]) -> None:
        """Relate an axis to what its legs point at; `rows` are its row ids, one for each entry of `columns`."""
        at = 0
        located: list[tuple[Leg, Int64, Int64]] = []
        for leg in legs:
            first = columns[at]
            present = first != NULL
            if leg.grouped:
                second, mine = columns[at + 1], rows
                without = columns[at + 2] if leg.others else None
                if not present.all():
                    first, second, mine = first[present], second[present], rows[present]
                    without = None if without is None else without[present]
                if len(mine):
                    wanted = self.wanted[leg.origin]
                    wanted.axes.append((axis, leg.kind))
                    wanted.rows.append(mine)
                    wanted.keys.append(_keys(first, second))
                    wanted.without.append(without)
            else:
                addresses, mine = (first, rows) if present.all() else (first[present], rows[present])
                located.append((leg, mine, addresses))
            at += leg.width
        with ThreadPoolExecutor(_THREADS) as pool:
            for (leg, _, _), made in zip(located, pool.map(self.boxes_of, located), strict=True):
                self.add(axis, 1 + leg.origin, made, leg.kind)

    def boxes_of(self, located: tuple[Leg, Int64, Int64]) -> Boxes:
        """Relate rows to the rows at their addresses in a scan."""
        leg, rows, addresses = located
        if leg.whole:
            none = np.zeros(len(rows), dtype=np.int64)
            return boxes.from_ranges(rows, none, none + self.noted.scans[leg.origin][0].files.total)
        return boxes.from_pairs(rows, self.noted.scans[leg.origin][1].rows_of(addresses))

    def add(self, out: int, src: int, made: Boxes, kind: Kind) -> None:
        if len(made):
            self.tensors.append(PendingTensor(out, src, made, kind))


def _coarse(tap: Tap) -> bool:
    return tap.coarse or any(leg.whole for leg in tap.legs)


def _keys(first: Int64, second: Int64) -> pa.Array:
    """Two hashes as one fixed-size value of 16 bytes."""
    data = np.empty((len(first), 2), dtype="<i8")
    data[:, 0], data[:, 1] = first, second
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(first), [None, pa.py_buffer(data)])


def _index_in(keys: pa.Array, among: pa.Array) -> Int64:
    """Place of each key in `among`, -1 where it is not there."""
    found = pc.index_in(keys, value_set=among)
    places: Int64 = numbers(found).astype(np.int64)
    if found.null_count:
        places[~numbers(found.is_valid())] = -1
    return places


def _found(asked: Int64, groups: Int64, starts: Int64, counts: Int64) -> tuple[Int64, Int64, Int64]:
    """Return the ranges in which the groups asked for stand: place in `asked`, start, count."""
    first = np.searchsorted(groups, asked, "left")
    many = np.searchsorted(groups, asked, "right") - first
    at = _ranges(first, many)
    return np.repeat(np.arange(len(asked)), many), starts[at], counts[at]


def _places(numbers: Int64, among: Int64) -> Int64:
    """Place of each number in `among`."""
    order = np.argsort(among, kind="stable")
    at = order[np.searchsorted(among, numbers, sorter=order) % len(order)]
    if not np.array_equal(among[at], numbers):
        raise CaptureError("a row was kept that its group has not")
    return at


def _without(ranges: tuple[Int64, Int64, Int64], places: Int64) -> tuple[Int64, Int64, Int64]:
    """Take one place out of the ranges of each asker: the range that it stands in becomes two."""
    which, starts, counts = ranges
    out = places[which]
    hit = (out >= starts) & (out < starts + counts)
    before = np.where(hit, out - starts, counts)
    after = np.where(hit, starts + counts - out - 1, 0)
    return np.r_[which, which], np.r_[starts, out + 1], np.r_[before, after]


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


def _transposed(parts: Sequence[Block], width: int) -> list[list[Column]]:
    return [[block.columns[i] for block in parts] for i in range(width)]
