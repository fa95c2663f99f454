"""Starts of boxes that a tensor file stores as gaps between boxes; computed only as far as needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.boxes.cutting import CuttingRuns
from provspark.model.boxes.lists import spread

__all__ = ["AnyInts", "Even", "Gaps"]

_BLOCK = 64
_ADDED = 1 << 16
"""Maximum count of 16-bit numbers whose sum fits 32 bits; einsum adds these twice as fast."""
AnyInts = npt.NDArray[Any]
"""Integers of any width."""


@dataclass(frozen=True, slots=True)
class Even:
    """Equal boxes at equal distances on one axis of a file.

    Parameters
    ----------
    gap, length, count : int
        Distance of each box from the end of the one before, and of the first from 0 (not negative); length of a box;
        number of boxes.
    """

    gap: int
    length: int
    count: int

    @property
    def step(self) -> int:
        """Distance from the start of a box to the start of the next."""
        return self.gap + self.length

    def hits(self, runs: CuttingRuns) -> tuple[Int64, Int64]:
        """Return each overlapping (box, run), both in ascending order."""
        step = self.step
        first, stop = runs.starts // step, (runs.ends + (self.length - 1)) // step
        return spread(np.minimum(first, self.count), np.minimum(stop, self.count))

    def at(self, boxes: Int64) -> Int64:
        """Return the starts of some boxes."""
        return boxes * self.step + self.gap


class Gaps:
    """Boxes of some pages on one axis, stored as gaps.

    Parameters
    ----------
    gaps : int, or array of unsigned or int64 integers
        Distance of each box from the end of the one before: one number for all, or zigzag-encoded numbers.
    lengths : int or array of such integers
        One length for all boxes, or one for each.
    bases : int64 array
        End of the box before each page.
    page_rows, total : int
        Boxes in each page but the last, and in total.
    """

    def __init__(self, gaps: AnyInts | int, lengths: AnyInts | int, bases: Int64, page_rows: int, total: int) -> None:
        self._lengths = lengths
        self._size = size = _BLOCK if page_rows % _BLOCK == 0 else page_rows
        self._total = total
        self._rise = gaps >= 0 if isinstance(gaps, int) else not np.bitwise_or.reduce(gaps) & 1
        steps = _steps(gaps, lengths, self._rise)
        blocks = -(-total // size)
        if blocks * size > total:
            steps = np.concatenate([steps, np.zeros(blocks * size - total, dtype=steps.dtype)])
        self._steps = steps.reshape(blocks, size)
        if steps.dtype == np.int16 and size <= _ADDED:
            sums = np.einsum("ij->i", self._steps.astype(np.int32)).astype(np.int64)
        else:
            sums = self._steps.sum(axis=1, dtype=np.int64)
        self._ends = np.cumsum(sums)
        each = page_rows // size
        more = bases - (self._ends - sums)[::each]
        self._ends += more if len(bases) == 1 else np.repeat(more, each)[:blocks]
        self._starts = self._ends - sums

    def hits(self, runs: CuttingRuns) -> tuple[Int64, Int64] | None:
        """Return each overlapping (box, run), by run; None if computing all starts is as fast."""
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
        """Return the starts of the boxes at some indexes."""
        if len(places) * self._size > self._total:
            return self.all()[places]
        block, place = np.divmod(places, self._size)
        starts: Int64 = self._of(block)[np.arange(len(places)), place] - self._length(places)
        return starts

    def all(self) -> Int64:
        """Return the starts of all boxes."""
        starts: Int64 = self._of(slice(None)).reshape(-1)[: self._total]
        starts -= self._lengths
        return starts

    def _of(self, blocks: Int64 | slice) -> Int64:
        """Return the ends of the boxes of some blocks, one row per block."""
        ends: Int64 = np.cumsum(self._steps[blocks], axis=1, dtype=np.int64)
        ends += self._starts[blocks][:, None]
        return ends

    def _length(self, places: Int64) -> Any:
        return self._lengths if isinstance(self._lengths, int) else self._lengths[places]


def _steps(gaps: AnyInts | int, lengths: AnyInts | int, rise: bool) -> AnyInts:
    """Return the distance from each box's end to the next one's, in a narrow type; `rise`: no gap is negative."""
    bits = max(a.bit_length() + 1 if isinstance(a, int) else 8 * a.dtype.itemsize for a in (gaps, lengths))
    wide = np.dtype(np.int16 if bits < 15 else np.int32 if bits < 31 else np.int64)
    ahead = wide.type(lengths) if isinstance(lengths, int) else lengths.astype(wide)
    if isinstance(gaps, int):
        return np.asarray(ahead + wide.type(gaps))
    steps = gaps.astype(wide)
    sign = 0 if rise else -(steps & 1)
    steps >>= 1
    if not rise:
        steps ^= sign
    steps += ahead
    return steps
