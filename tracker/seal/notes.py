"""Notes of a write's taps, for sealing: reads the kept rows block by block."""

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
"""If fewer than one in so many groups are kept, their rows are picked by index instead of by mask."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Everything that a write leaves for sealing.

    Parameters
    ----------
    taps : sequence of PlacedTap
        Taps of the write, inner ones first. The last is the top tap.
    receipts : dict
        The tasks' receipts by the tap's place.
    folder : str
        URL of the sidecar files.
    scans : sequence
        For each occurrence of an input, its version and the map from addresses to row ids.
    written : Written
        Version of the output and the row ids of each task's rows.
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
    """Notes of one column, restricted to the kept rows."""

    column: PackedColumn
    kept: npt.NDArray[np.bool_] | Int64 | None = None

    def values(self) -> Int64:
        values = self.column.values()
        return values if self.kept is None else values[self.kept]

    def runs(self) -> tuple[Int64, Int64] | None:
        return self.column.runs() if self.kept is None else None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows of an axis, as a range if they are consecutive, and their notes, which are unpacked on demand."""

    rows: range | Int64
    columns: Sequence[NotedColumn]

    @property
    def ids(self) -> Int64:
        rows = self.rows
        return np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows


def written_chunks(noted: Noted, tap: PlacedTap) -> Iterator[Chunk]:
    """Read the written rows at the top tap, in the order of each task's files.

    Raises
    ------
    CaptureError
        The tasks wrote another number of rows than they noted.
    """
    receipts = noted.of(tap)
    places = [written_places(noted, receipt) for receipt in receipts]
    if int(noted.written.counts.sum()) != sum(receipt.rows for receipt in receipts):
        raise CaptureError(
            f"{noted.written.version.dataset} has files with rows of Spark tasks for which capture has no record; run "
            f"the step again"
        )

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
    """Return the row ids that a task wrote, in its order, as ranges: first ids and lengths."""
    written = noted.written
    mine = np.flatnonzero(written.partitions == receipt.partition)
    rows = int(written.counts[mine].sum())
    if rows != receipt.rows:
        raise CaptureError(
            f"the files of Spark task {receipt.partition} have {rows} rows, but capture recorded {receipt.rows}; run "
            f"the step again"
        )
    order = mine[np.argsort(written.offsets[mine], kind="stable")]
    return written.rows[order], written.counts[order]


def picked(block: Block, rows: npt.NDArray[np.bool_] | Int64 | None) -> list[NotedColumn]:
    """Return the columns of a block for some of its rows, or for all if `rows` is None."""
    return [NotedColumn(column, rows) for column in block.columns]


def kept_rows(block: Block, groups: Int64, first: int) -> tuple[Chunk, Int64]:
    """Return the rows of some of a block's groups, with ids from `first` on, and the number of rows of each group."""
    assert block.counts is not None
    counts = block.counts.values()
    mask = None if len(groups) == len(counts) else _rows_of(groups, counts)
    counts = counts[groups]
    rows = range(first, first + int(counts.sum()))
    return Chunk(rows, picked(block, mask)), counts


def _between(starts: Int64, ends: Int64, low: int, high: int) -> range | Int64:
    """Return the values at the positions `low` to `high` of concatenated ranges, which end at the positions `ends`."""
    first, last = (int(np.searchsorted(ends, place, side="right" if place == low else "left")) for place in (low, high))
    stops = np.minimum(ends[first : last + 1], high)
    begins = np.concatenate([[low], stops[:-1]])[: len(stops)]
    heads = np.concatenate([[0], ends])[first : first + len(stops)]
    begun = starts[first : first + len(stops)] + begins - heads
    if len(stops) == 1:
        return range(int(begun[0]), int(begun[0]) + high - low)
    return _ranges(begun, stops - begins)


def _rows_of(groups: Int64, counts: Int64) -> npt.NDArray[np.bool_] | Int64:
    """Return the rows of some groups of a block: their indices if the groups are few, else a mask of all rows."""
    if len(groups) * _FEW < len(counts):
        ends = np.cumsum(counts)[groups]
        return _ranges(ends - counts[groups], counts[groups])
    kept = np.zeros(len(counts), dtype=np.bool_)
    kept[groups] = True
    return np.repeat(kept, counts)


def _ranges(starts: Int64, counts: Int64) -> Int64:
    """Return the concatenated values of ranges: start, start+1, … of each."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    out: Int64 = np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - counts), counts)
    return out
