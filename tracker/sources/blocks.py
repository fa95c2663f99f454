"""Blocks of files and their row counts: which are exact, what is missing, and rows before each."""

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
    """Blocks that Spark read, four numbers each, in order of file and start once `distinct` made them.

    Parameters
    ----------
    file : int64 array
        Place of the file in path order.
    start, length : int64 arrays
        Bytes.
    rows : int64 array
        Rows that the reader gave until it had no more; `OPENED` where it was not read to its end.
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
        """Bytes from the file's start to the block's end."""
        return self.start + self.length

    def distinct(self) -> Blocks:
        """Return each block once, with its count if any reading of it came to its end.

        Raises
        ------
        CaptureError
            If two readings of one block gave different counts, or more rows than there are addresses.
        """
        if (self.rows == OVERFLOWED).any():
            raise CaptureError("a block of a file has more than 65,536 rows a byte: they can't be numbered")
        b = self[np.lexsort((self.rows, self.length, self.start, self.file))]
        same = np.zeros(len(b), dtype=np.bool_)
        same[1:] = (np.diff(b.file) == 0) & (np.diff(b.start) == 0) & (np.diff(b.length) == 0)
        differ = np.flatnonzero(same[1:] & (b.rows[:-1] != OPENED) & (np.diff(b.rows) != 0))
        if len(differ):
            i = int(differ[0])
            raise CaptureError(
                f"the block at byte {b.start[i]} of file {b.file[i]} (in path order) had {b.rows[i]} rows in one "
                f"reading and {b.rows[i + 1]} in another: the file changed, or its reader is not to be relied on"
            )
        last = np.ones(len(b), dtype=np.bool_)
        last[:-1] = ~same[1:]
        return b[last]

    def cover(self, sizes: Int64) -> npt.NDArray[np.bool_]:
        """Return for each file whether its (distinct) blocks are all counted and leave no gap or overlap."""
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
        """Return the greatest size of equal blocks that have a boundary wherever these have; 0 if any do."""
        inner = self.end[self.end < sizes[self.file]]
        return int(np.gcd.reduce(np.concatenate([self.start, inner]))) if len(self) else 0

    def rows_before(self) -> Int64:
        """Return the rows of the same file before each (distinct, counted) block."""
        running = np.cumsum(self.rows) - self.rows
        first = np.searchsorted(self.file, self.file, side="left")
        return running - running[first]


def measure(blocks: Blocks, pieces: Blocks, sizes: Int64) -> tuple[Int64, Int64]:
    """Return rows before each block and rows in it, both from `pieces`, which cover the blocks' files.

    Raises
    ------
    CaptureError
        If a block's boundary is none of the pieces', or a count of its own differs.
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
        raise CaptureError("blocks of a file were cut otherwise when they were counted again")
    before = np.where(blocks.start == 0, 0, rows[left])
    counts = rows[right] - before
    wrong = np.flatnonzero((blocks.rows >= 0) & (blocks.rows != counts))
    if len(wrong):
        i = int(wrong[0])
        raise CaptureError(
            f"the block at byte {blocks.start[i]} of file {blocks.file[i]} (in path order) had {blocks.rows[i]} rows "
            f"when it was read and {counts[i]} when it was counted again: the file changed meanwhile"
        )
    return before, counts
