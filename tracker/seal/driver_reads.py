"""Sealing of a read on the driver: rows that tasks noted become rows of what the call returned, in its order."""

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
    """Rows of a task that were returned: `count` of them after its first `skip` ones."""

    receipt: Receipt
    skip: int
    count: int


def every_stage(receipts: Sequence[Receipt]) -> list[Receipt]:
    """Return the receipts that count of a tap that several jobs ran, some partitions each: of each one the last.

    Raises
    ------
    CaptureError
        A task could not keep what it noted.
    """
    by_partition: dict[int, Receipt] = {}
    for receipt in sorted(receipts, key=lambda r: (r.stage, r.attempt, r.task)):
        by_partition[receipt.partition] = receipt
    return [kept(by_partition[partition]) for partition in sorted(by_partition)]


def pieces(receipts: Sequence[Receipt], rows: range, *, last: bool = False) -> list[Piece]:
    """Return which rows of tasks, put one after the other, were returned.

    Parameters
    ----------
    receipts : sequence of Receipt
        Of the top tap, in order of their partitions.
    rows : range
        Places of the rows returned: counted from the first one noted, or from the last one back with `last`.

    Raises
    ------
    CaptureError
        Tasks noted fewer rows.
    """
    noted = sum(receipt.rows for receipt in receipts)
    if noted < rows.stop:
        raise CaptureError(f"tasks noted {noted} rows, and {rows.stop} were returned")
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
        Of its output the version counts.
    returned : sequence of Piece
        The rows that were returned, in order.
    site : str

    Raises
    ------
    CaptureError
        The notes contradict each other.
    """
    return seal(noted, site, lambda noted, tap: _chunks(noted, tap, returned))


def _chunks(noted: Noted, tap: PlacedTap, returned: Sequence[Piece]) -> Iterator[Chunk]:
    """Read the rows returned, task by task."""
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
