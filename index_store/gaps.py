"""Starts on an axis that stand in a file as gaps between boxes: worked out no further than is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from provspark.index_store.box_lists import expand
from provspark.index_store.cutting import Runs
from provspark.index_store.model import Int64

__all__ = ["Even", "Gaps", "Narrow"]

_BLOCK = 64
Narrow = npt.NDArray[Any]
"""Integers of whatever width holds them."""


class Even:
    """Boxes of some pages, all alike, at equal distances on one axis.

    Parameters
    ----------
    gap, length : int
        Distance of each box from the end of the one before, and its length.
    base : int
        End of the box before the first page.
    pages : int64 array
        Numbers of the pages, ascending; boxes of pages between them are not asked for.
    page_rows, total : int
        Boxes of each page but the last, and of all.
    """

    def __init__(self, gap: int, length: int, base: int, pages: Int64, page_rows: int, total: int) -> None:
        self._start, self._step, self._length = base + gap, gap + length, length
        self._pages, self._rows, self._total = pages, page_rows, total
        self._span = total + (int(pages[-1]) - int(pages[0]) + 1 - len(pages)) * page_rows

    def hits(self, runs: Runs) -> tuple[Int64, Int64] | None:
        """Each (box, run) that overlap, by run; None where that can't be told so."""
        if self._step < 1:
            return None
        near = runs.near(self._start, self._start + (self._span - 1) * self._step + self._length)
        first = np.maximum((runs.starts[near] - self._start - self._length) // self._step + 1, 0)
        stop = np.minimum(-((self._start - runs.ends[near]) // self._step), self._span)
        run, k = expand(np.maximum(stop - first, 0))
        box = first[run] + k
        run += near.start
        if self._span > self._total:
            page, place = np.divmod(box, self._rows)
            box = self._pages.searchsorted(page + self._pages[0]) * self._rows + place
        return box, run

    def at(self, places: Int64) -> Int64:
        """Starts of the boxes at some places."""
        if self._span > self._total:
            page, place = np.divmod(places, self._rows)
            places = (self._pages[page] - self._pages[0]) * self._rows + place
        return self._start + places * self._step

    def all(self) -> Int64:
        """Starts of all boxes."""
        return self.at(np.arange(self._total))


class Gaps:
    """Boxes of some pages on one axis.

    Parameters
    ----------
    gaps : int, or array of unsigned or int64 integers
        Distance of each box from the end of the one before: one for all, or zigzag-coded.
    lengths : int or array of such integers
        One for all, or of each box.
    bases : int64 array
        For each page the end of the box before it.
    page_rows, total : int
        Boxes of each page but the last, and of all.
    """

    def __init__(self, gaps: Narrow | int, lengths: Narrow | int, bases: Int64, page_rows: int, total: int) -> None:
        self._lengths = lengths
        self._size = size = _BLOCK if page_rows % _BLOCK == 0 else page_rows
        self._total = total
        steps = _steps(gaps, lengths)
        self._rise = gaps >= 0 if isinstance(gaps, int) else not (gaps & gaps.dtype.type(1)).any()
        blocks = -(-total // size)
        if blocks * size > total:
            steps = np.concatenate([steps, np.zeros(blocks * size - total, dtype=steps.dtype)])
        self._steps = steps.reshape(blocks, size)
        sums = self._steps.sum(axis=1, dtype=np.int64)
        self._ends = np.cumsum(sums)
        each = page_rows // size
        more = bases - (self._ends - sums)[::each]
        self._ends += more if len(bases) == 1 else np.repeat(more, each)[:blocks]
        self._starts = self._ends - sums

    def hits(self, runs: Runs) -> tuple[Int64, Int64] | None:
        """Each (box, run) that overlap, by run; None where all starts tell that as soon."""
        blocks = runs.meet(self._starts, self._ends) if self._rise else self._starts
        if 2 * len(blocks) > len(self._starts):
            return None
        places = (blocks[:, None] * self._size + np.arange(self._size)).reshape(-1)
        if len(places) and places[-1] >= self._total:
            places = places[: self._total - int(places[-1]) - 1]
        ends = self._of(blocks).reshape(-1)[: len(places)]
        box, run = runs.hits(ends - self._length(places), ends)
        return places[box], run

    def at(self, places: Int64) -> Int64:
        """Starts of the boxes at some places."""
        if len(places) * self._size > self._total:
            return self.all()[places]
        block, place = np.divmod(places, self._size)
        found: Int64 = self._of(block)[np.arange(len(places)), place] - self._length(places)
        return found

    def all(self) -> Int64:
        """Starts of all boxes."""
        found: Int64 = self._of(slice(None)).reshape(-1)[: self._total]
        found -= self._lengths
        return found

    def _of(self, blocks: Int64 | slice) -> Int64:
        """Ends of the boxes of some blocks, a line each."""
        ends: Int64 = np.cumsum(self._steps[blocks], axis=1, dtype=np.int64)
        ends += self._starts[blocks][:, None]
        return ends

    def _length(self, places: Int64) -> Any:
        return self._lengths if isinstance(self._lengths, int) else self._lengths[places]


def _steps(gaps: Narrow | int, lengths: Narrow | int) -> Narrow:
    """From the end of each box to the end of the next, in as few bytes as hold it."""
    bits = max(a.bit_length() + 1 if isinstance(a, int) else 8 * a.dtype.itemsize for a in (gaps, lengths))
    wide = np.dtype(np.int16 if bits < 15 else np.int32 if bits < 31 else np.int64)
    ahead = wide.type(lengths) if isinstance(lengths, int) else lengths.astype(wide)
    if isinstance(gaps, int):
        return np.asarray(ahead + wide.type(gaps))
    steps = gaps.astype(wide)
    sign = -(steps & 1)
    steps >>= 1
    steps ^= sign
    steps += ahead
    return steps
