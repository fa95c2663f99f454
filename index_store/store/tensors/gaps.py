"""Starts on an axis that stand in a file as gaps between boxes: worked out no further than is asked."""

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
"""Numbers of 16 bits whose sum has 32: einsum adds such up twice as fast."""
AnyInts = npt.NDArray[Any]
"""Integers of whatever width holds them."""


@dataclass(frozen=True, slots=True)
class Even:
    """Boxes of a file, all alike, at equal distances on one axis.

    Parameters
    ----------
    gap, length, count : int
        Distance of each box from the end of the one before, and of the first from 0, none negative; its length; how
        many there are.
    """

    gap: int
    length: int
    count: int

    @property
    def step(self) -> int:
        """From the start of a box to the start of the next."""
        return self.gap + self.length

    def hits(self, runs: CuttingRuns) -> tuple[Int64, Int64]:
        """Each (box, run) that overlap, neither falling."""
        step = self.step
        first, stop = runs.starts // step, (runs.ends + (self.length - 1)) // step
        return spread(np.minimum(first, self.count), np.minimum(stop, self.count))

    def at(self, boxes: Int64) -> Int64:
        """Starts of some boxes."""
        return boxes * self.step + self.gap


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
        starts: Int64 = self._of(block)[np.arange(len(places)), place] - self._length(places)
        return starts

    def all(self) -> Int64:
        """Starts of all boxes."""
        starts: Int64 = self._of(slice(None)).reshape(-1)[: self._total]
        starts -= self._lengths
        return starts

    def _of(self, blocks: Int64 | slice) -> Int64:
        """Ends of the boxes of some blocks, a line each."""
        ends: Int64 = np.cumsum(self._steps[blocks], axis=1, dtype=np.int64)
        ends += self._starts[blocks][:, None]
        return ends

    def _length(self, places: Int64) -> Any:
        return self._lengths if isinstance(self._lengths, int) else self._lengths[places]


def _steps(gaps: AnyInts | int, lengths: AnyInts | int, rise: bool) -> AnyInts:
    """From the end of each box to the end of the next, in as few bytes as hold it; `rise`: no gap is negative."""
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
