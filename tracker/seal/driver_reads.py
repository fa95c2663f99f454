"""Sealing of a read on the driver: maps the rows that tasks noted to the rows that the call returned, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from provspark.model.errors import CaptureError
from provspark.model.pending import PendingWrite
from provspark.tracker.seal.in_driver import seal
from provspark.tracker.seal.notes import Chunk, Noted, picked
from provspark.tracker.taps.sidecar import blocks
from provspark.tracker.taps.taps import PlacedTap, Receipt, kept

__all__ = ["Piece", "every_stage", "pieces", "seal_read"]


@dataclass(frozen=True, slots=True)
class Piece:
    """Returned rows of one task: `count` rows after the first `skip` rows."""

    receipt: Receipt
    skip: int
    count: int


def every_stage(receipts: Sequence[Receipt]) -> list[Receipt]:
    """Return the receipts that count if several jobs ran a tap for some partitions each: the last of each partition.

    Raises
    ------
    CaptureError
        A task could not store its notes.
    """
    by_partition: dict[int, Receipt] = {}
    for receipt in sorted(receipts, key=lambda r: (r.stage, r.attempt, r.task)):
        by_partition[receipt.partition] = receipt
    return [kept(by_partition[partition]) for partition in sorted(by_partition)]


def pieces(receipts: Sequence[Receipt], rows: range, *, last: bool = False) -> list[Piece]:
    """Return which rows of the tasks, in order, the call returned.

    Parameters
    ----------
    receipts : sequence of Receipt
        Receipts of the top tap, in the order of their partitions.
    rows : range
        Positions of the returned rows among those noted. With `last`, they count backward from the last row.

    Raises
    ------
    CaptureError
        Tasks noted fewer rows than the call returned.
    """
    noted = sum(receipt.rows for receipt in receipts)
    if noted < rows.stop:
        raise CaptureError(f"the call returned {rows.stop} rows, but capture recorded {noted}; run the step again")
    low, high = (noted - rows.stop, noted - rows.start) if last else (rows.start, rows.stop)
    taken, at = [], 0
    for receipt in receipts:
        begin, end = max(low, at), min(high, at + receipt.rows)
        if begin < end:
            taken.append(Piece(receipt, begin - at, end - begin))
        at += receipt.rows
    return taken


def seal_read(noted: Noted, returned: Sequence[Piece], site: str = "") -> PendingWrite:
    """Resolve a read's notes to tensors.

    Parameters
    ----------
    noted : Noted
        Notes of the read. Of `written`, only the version is used.
    returned : sequence of Piece
        The returned rows, in order.
    site : str
        ``file:line`` of the call.

    Raises
    ------
    CaptureError
        The notes contradict each other.
    """
    return seal(noted, site, lambda noted, tap: _chunks(noted, tap, returned))


def _chunks(noted: Noted, tap: PlacedTap, returned: Sequence[Piece]) -> Iterator[Chunk]:
    """Read the returned rows, task by task."""
    first = 0
    for piece in returned:
        low, high, at = piece.skip, piece.skip + piece.count, 0
        for block in blocks(tap, piece.receipt, noted.folder):
            begin, end = max(low, at), min(high, at + block.rows)
            if begin < end:
                whole = end - begin == block.rows
                mask = None if whole else np.arange(begin - at, end - at, dtype=np.int64)
                start = first + begin - low
                yield Chunk(range(start, start + end - begin), picked(block, mask))
            at += block.rows
        first += piece.count
