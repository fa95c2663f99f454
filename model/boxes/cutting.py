"""Cutting of boxes to runs of one axis, which lookups do with the boxes of pages."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import is_constant, spread, take, transpose

__all__ = ["CuttingRuns", "clip"]

_BUCKETS = 1 << 18
_MANY = 4096
"""Number of boxes above which those that overlap no run are first filtered out by buckets."""
_MOST = 1 << 25
"""Maximum number of rows in a table, at a byte each."""


class CuttingRuns:
    """Sorted disjoint runs of an axis, prepared to cut many lists of boxes.

    Parameters
    ----------
    starts, lengths : int64 arrays
        Runs in ascending order that do not overlap; none is empty.
    """

    def __init__(self, starts: Int64, lengths: Int64) -> None:
        self.starts, self.ends = starts, starts + lengths
        self._below: Int64 | None = None
        self._shift = 0
        self._table: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def count(self) -> int:
        """Number of rows in all runs."""
        return int((self.ends - self.starts).sum())

    def meet(self, low: Int64, high: Int64) -> Int64:
        """Return the indexes of the intervals [low, high) that overlap a run."""
        last = np.searchsorted(self.starts, high, side="left")
        return np.flatnonzero(last > np.searchsorted(self.ends, low, side="right"))

    def cut(self, boxes: Boxes, axis: Literal["out", "src"]) -> Boxes:
        """Return one box for each overlapping (box, run), as `clip` does."""
        if axis == "src":
            return transpose(self.cut(transpose(boxes), "out"))
        if len(boxes) > _MANY and len(self) > _MANY and is_constant(boxes.n_out) and boxes.n_out[0] == 1:
            held = self._holds(boxes.out)
            if held is not None:
                return take(boxes, np.flatnonzero(held))
        ends = boxes.out + boxes.n_out
        if len(boxes) > _MANY and len(self) > 1:
            some = self._sieve(boxes.out, ends)
            boxes, ends = take(boxes, some), ends[some]
        run, box = spread(self.ends.searchsorted(boxes.out, "right"), self.starts.searchsorted(ends, "left"))
        return self.pieces(take(boxes, box), run, "out")

    def near(self, low: int, high: int) -> slice:
        """Return the runs that overlap the interval [low, high)."""
        return slice(int(self.ends.searchsorted(low, "right")), int(self.starts.searchsorted(high, "left")))

    def hits(self, starts: Int64, ends: Int64) -> tuple[Int64, Int64]:
        """Return each overlapping (interval, run), by run; starts and ends of the intervals must be sorted."""
        if len(starts) == 0:
            return starts, starts
        near = self.near(starts[0], ends[-1])
        box, run = spread(ends.searchsorted(self.starts[near], "right"), starts.searchsorted(self.ends[near], "left"))
        return box, run + near.start

    def pieces(self, boxes: Boxes, run: Int64, axis: Literal["out", "src"]) -> Boxes:
        """Cut each box to the run with the same index, which it overlaps."""
        if axis == "src":
            return transpose(self.pieces(transpose(boxes), run, "out"))
        if is_constant(boxes.n_out) and (not len(boxes) or boxes.n_out[0] == 1):
            return boxes
        low = np.maximum(boxes.out, self.starts[run])
        n = np.minimum(boxes.out + boxes.n_out, self.ends[run]) - low
        if is_constant(boxes.diagonal) and not boxes.diagonal[:1].any():
            return Boxes(low, n, boxes.src, boxes.n_src, boxes.diagonal)
        src = boxes.src + np.where(boxes.diagonal, low - boxes.out, 0)
        return Boxes(low, n, src, np.where(boxes.diagonal, n, boxes.n_src), boxes.diagonal)

    def _holds(self, rows: Int64) -> npt.NDArray[np.bool_] | None:
        """Return whether each row is in a run, by a table of all rows; None if the table would be large.

        A binary search among many runs would miss the processor's cache at every step.
        """
        origin, stop = int(self.starts[0]), int(self.ends[-1])
        if stop - origin > _MOST:
            return None
        if self._table is None:
            change = np.zeros(stop - origin + 2, dtype=np.int8)
            change[self.starts - origin] = 1
            change[self.ends - origin] -= 1
            self._table = np.cumsum(change, dtype=np.int8, out=change).view(np.bool_)
        return self._table[np.where((rows >= origin) & (rows < stop), rows - origin, stop - origin)]

    def _sieve(self, low: Int64, high: Int64) -> Int64:
        """Return the indexes of the intervals [low, high) that touch a bucket of the axis touched by a run."""
        origin = int(self.starts[0])
        if self._below is None:
            self._shift = max(0, (int(self.ends[-1]) - origin).bit_length() - _BUCKETS.bit_length() + 1)
            marks = np.zeros(((int(self.ends[-1]) - origin - 1) >> self._shift) + 3, dtype=np.int64)
            np.add.at(marks, ((self.starts - origin) >> self._shift) + 1, 1)
            np.add.at(marks, ((self.ends - 1 - origin) >> self._shift) + 2, -1)
            self._below = np.cumsum(np.cumsum(marks) > 0)
        top = len(self._below) - 2
        first = np.clip((low - origin) >> self._shift, 0, top)
        last = np.clip(((high - 1 - origin) >> self._shift) + 1, 0, top)
        return np.flatnonzero(self._below[last] > self._below[first])


def clip(boxes: Boxes, starts: Int64, lengths: Int64, axis: Literal["out", "src"] = "out") -> Boxes:
    """Cut boxes to runs of one axis: return one box for each overlapping (box, run).

    Parameters
    ----------
    boxes : Boxes
        Boxes in any order.
    starts, lengths : int64 arrays
        Sorted disjoint runs of the axis.
    axis : {"out", "src"}
        Axis of the runs. A diagonal box is cut on both axes.

    Returns
    -------
    Boxes
        In the order of `boxes`, and of the runs within a box.
    """
    return CuttingRuns(starts, lengths).cut(boxes, axis)
