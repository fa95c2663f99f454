"""What taps noted of one write, for sealing: the rows that are kept, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.errors import CaptureError
from provspark.model.pending import PendingVersion
from provspark.tracker.sinks import Written
from provspark.tracker.sources import Segments
from provspark.tracker.taps.sidecar import Block, PackedColumn, blocks
from provspark.tracker.taps.taps import PlacedTap, Receipt

__all__ = ["Chunk", "Noted", "NotedColumn", "kept_rows", "picked", "written_chunks", "written_places"]

_FEW = 4
"""Rows of fewer than one in so many groups are picked one by one."""


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

    def of(self, tap: PlacedTap) -> list[Receipt]:
        """Return the receipts of a tap."""
        return self.receipts.get(tap.place, [])


@dataclass(frozen=True, slots=True)
class NotedColumn:
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
    columns: Sequence[NotedColumn]

    @property
    def ids(self) -> Int64:
        rows = self.rows
        return np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows


def written_chunks(noted: Noted, tap: PlacedTap) -> Iterator[Chunk]:
    """Read the rows that were written, those of the top tap, in the order of each task's files.

    Raises
    ------
    CaptureError
        Tasks wrote more rows than they noted, or fewer.
    """
    receipts = noted.of(tap)
    places = [written_places(noted, receipt) for receipt in receipts]
    if int(noted.written.counts.sum()) != sum(receipt.rows for receipt in receipts):
        raise CaptureError("files were written by tasks that noted no row")

    def chunks() -> Iterator[Chunk]:
        for receipt, (rows, counts) in zip(receipts, places, strict=True):
            ends = np.cumsum(counts)
            at = 0
            for block in blocks(tap, receipt, noted.folder):
                ids = _between(rows, ends, at, at + block.rows)
                at += block.rows
                yield Chunk(ids, picked(block, None))

    return chunks()


def written_places(noted: Noted, receipt: Receipt) -> tuple[Int64, Int64]:
    """Return the row ids of what a task wrote, in its order: ranges, by first ids and lengths."""
    written = noted.written
    mine = np.flatnonzero(written.partitions == receipt.partition)
    rows = int(written.counts[mine].sum())
    if rows != receipt.rows:
        raise CaptureError(f"task {receipt.partition} noted {receipt.rows} rows and wrote {rows} into its files")
    order = mine[np.argsort(written.offsets[mine], kind="stable")]
    return written.rows[order], written.counts[order]


def picked(block: Block, rows: npt.NDArray[np.bool_] | Int64 | None) -> list[NotedColumn]:
    """Return what a block noted for some of its rows; for all of them where `rows` is None."""
    return [NotedColumn(column, rows) for column in block.columns]


def kept_rows(block: Block, groups: Int64, first: int) -> tuple[Chunk, Int64]:
    """Return the rows of some of a block's groups, by place, from id `first` on, and how many each of them has."""
    assert block.counts is not None
    counts = block.counts.values()
    mask = None if len(groups) == len(counts) else _rows_of(groups, counts)
    counts = counts[groups]
    rows = range(first, first + int(counts.sum()))
    return Chunk(rows, picked(block, mask)), counts


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
