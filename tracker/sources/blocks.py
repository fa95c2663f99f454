"""Blocks of files with their row counts: which are complete, which are missing, and the rows before each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.errors import CaptureError

OPENED = -1
OVERFLOWED = -2


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of files that Spark read, four numbers each; `distinct` sorts them by file and start.

    Parameters
    ----------
    file : int64 array
        Position of the file in path order.
    start, length : int64 arrays
        Offset and length of the block, in bytes.
    rows : int64 array
        Number of rows of a block read to its end; otherwise `OPENED` or `OVERFLOWED`.
    """

    file: Int64
    start: Int64
    length: Int64
    rows: Int64

    def __len__(self) -> int:
        return len(self.file)

    def __getitem__(self, mask: npt.NDArray[np.bool_] | Int64) -> Blocks:
        return Blocks(self.file[mask], self.start[mask], self.length[mask], self.rows[mask])

    @property
    def end(self) -> Int64:
        """Offset of the block's end in the file, in bytes."""
        return self.start + self.length

    def distinct(self) -> Blocks:
        """Return each block once, sorted, with its row count if it was read to its end at least once.

        Raises
        ------
        CaptureError
            Two readings of a block gave different counts, or a block has more rows than addresses.
        """
        if (self.rows == OVERFLOWED).any():
            many = int((self.rows == OVERFLOWED).sum())
            raise CaptureError(
                f"{many} file splits have more than 65,536 rows for each byte of their size, the most that capture can "
                f"number. Write the data to Parquet, and read those files"
            )
        b = self[np.lexsort((self.rows, self.length, self.start, self.file))]
        same = np.zeros(len(b), dtype=np.bool_)
        same[1:] = (np.diff(b.file) == 0) & (np.diff(b.start) == 0) & (np.diff(b.length) == 0)
        differ = np.flatnonzero(same[1:] & (b.rows[:-1] != OPENED) & (np.diff(b.rows) != 0))
        if len(differ):
            i = int(differ[0])
            raise CaptureError(
                f"the split at byte {b.start[i]} of file number {b.file[i]} (from 0, in path order) had {b.rows[i]} "
                f"rows in one read and {b.rows[i + 1]} in another, so the file changed, or its reader is not "
                f"deterministic. Run the step again while nothing writes there"
            )
        last = np.ones(len(b), dtype=np.bool_)
        last[:-1] = ~same[1:]
        return b[last]

    def cover(self, sizes: Int64) -> npt.NDArray[np.bool_]:
        """Return for each file whether its blocks (made by `distinct`) are all counted and have no gap or overlap."""
        fresh = np.ones(len(self), dtype=np.bool_)
        fresh[1:] = np.diff(self.file) != 0
        last = np.ones(len(self), dtype=np.bool_)
        last[:-1] = fresh[1:]
        begins = np.zeros(len(self), dtype=np.int64)
        begins[1:] = self.end[:-1]
        begins[fresh] = 0
        good = (self.rows >= 0) & (self.start == begins) & (~last | (self.end == sizes[self.file]))
        out = np.zeros(len(sizes), dtype=np.bool_)
        out[self.file] = True
        out[self.file[~good]] = False
        return out

    def split(self, sizes: Int64) -> int:
        """Return the largest block size whose multiples include all boundaries of these blocks; 0 if any size does."""
        inner = self.end[self.end < sizes[self.file]]
        return int(np.gcd.reduce(np.concatenate([self.start, inner]))) if len(self) else 0

    def rows_before(self) -> Int64:
        """Return the number of rows before each block in its file, for blocks made by `distinct` and counted."""
        running = np.cumsum(self.rows) - self.rows
        first = np.searchsorted(self.file, self.file, side="left")
        return running - running[first]


def measure(blocks: Blocks, pieces: Blocks, sizes: Int64) -> tuple[Int64, Int64]:
    """Return the number of rows before each block, and in it, from `pieces`, which cover the blocks' files.

    Raises
    ------
    CaptureError
        A boundary of a block is not one of the pieces', or the block's own count differs.
    """
    files = np.unique(np.concatenate([blocks.file, pieces.file]))
    totals = np.zeros(len(sizes), dtype=np.int64)
    np.add.at(totals, pieces.file, pieces.rows)
    apart = np.cumsum(sizes + 1) - sizes - 1
    places = np.concatenate([apart[pieces.file] + pieces.start, apart[files] + sizes[files]])
    order = np.argsort(places, kind="stable")
    places = places[order]
    rows = np.concatenate([pieces.rows_before(), totals[files]])[order]
    begins, ends = apart[blocks.file] + blocks.start, apart[blocks.file] + blocks.end
    left = np.searchsorted(places, begins, side="left")
    right = np.searchsorted(places, ends, side="right") - 1
    if (places[left] != begins).any() or (places[right] != ends).any():
        changed = int(((places[left] != begins) | (places[right] != ends)).sum())
        raise CaptureError(
            f"Spark read {changed} file splits with other boundaries when it counted their rows again. Run the step "
            f"again"
        )
    before = np.where(blocks.start == 0, 0, rows[left])
    counts = rows[right] - before
    wrong = np.flatnonzero((blocks.rows >= 0) & (blocks.rows != counts))
    if len(wrong):
        i = int(wrong[0])
        raise CaptureError(
            f"the split at byte {blocks.start[i]} of file number {blocks.file[i]} (from 0, in path order) had "
            f"{blocks.rows[i]} rows when it was read and {counts[i]} when they were counted again, so the file "
            f"changed. Run the step again while nothing writes there"
        )
    return before, counts
