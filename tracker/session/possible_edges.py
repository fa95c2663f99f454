"""Edges from a write to reads on the driver: boxes from all its rows to rows of the reads before it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.driver_datasets import UNKNOWN_ORIGIN
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.writes import Axis, Kind, Untracked
from provspark.tracker.families.cached import LOCAL

__all__ = ["Behind", "RowRanges", "all_of", "attached", "one_range"]

RowRanges = tuple[Int64, Int64]
"""Ranges of rows: first rows and lengths."""


@dataclass(frozen=True, slots=True)
class Behind:
    """Rows of earlier reads that each row of a write may derive from.

    Parameters
    ----------
    size : int
        Number of rows of all reads before the write.
    possible : tuple of range
        Rows that values of the write may derive from, through code that capture can't see into.
    context : tuple of range
        Rows that values of the write were computed from, such as the models that it applies.
    made : str
        Why rows of the write may be rows of reads that the script passed back to Spark. "" if they are not.
    unshown : bool
        Whether the script created rows from values that its text does not show. Such rows may come from anywhere.
    """

    size: int = 0
    possible: tuple[range, ...] = ()
    context: tuple[range, ...] = ()
    made: str = ""
    unshown: bool = False


def attached(write: PendingWrite, rows: RowRanges, behind: Behind) -> PendingWrite:
    """Return a write with edges from its rows to the reads in `behind`, if there are any."""
    if behind.unshown:
        write = replace(write, inputs=tuple(map(of_unknown_origin, write.inputs)))
    possible = [left for span in behind.possible for left in without(span, behind.context)]
    kinds: list[tuple[Kind, list[range]]] = [("context", list(behind.context)), ("possible", possible)]
    axis = len(write.axes)
    made = [
        PendingTensor(0, axis, all_of(rows, spans), kind)
        for kind, spans in kinds
        if len(rows[0]) and sum(map(len, spans))
    ]
    if not made or write.coverage == "untracked":
        return write
    axes = (*write.axes, Axis("reads", behind.size))
    write = replace(write, axes=axes, tensors=(*write.tensors, *made))
    if behind.made and write.coverage == "exact":
        why = f"{behind.made} The write may contain rows that the script read before."
        return replace(write, coverage="coarse", reason=Untracked(LOCAL, why, write.site))
    return write


def of_unknown_origin(version: PendingVersion) -> PendingVersion:
    """Return a version with a mark that its rows may come from anywhere, if the script created them."""
    return replace(version, options=UNKNOWN_ORIGIN) if version.format == "memory" else version


def without(whole: range, parts: Iterable[range]) -> list[range]:
    """Return the parts of a range that no range in `parts` covers.

    >>> without(range(2, 10), [range(0, 3), range(5, 6), range(12, 14)])
    [range(3, 5), range(6, 10)]
    """
    left, at = [], whole.start
    for part in sorted(parts, key=lambda r: r.start):
        if part.start > at:
            left.append(range(at, min(part.start, whole.stop)))
        at = max(at, part.stop)
    return [*left, range(at, whole.stop)] if at < whole.stop else [r for r in left if len(r)]


def one_range(size: int) -> RowRanges:
    """Return the range of all rows of a version with `size` rows."""
    return np.zeros(int(size > 0), dtype=np.int64), np.full(int(size > 0), size, dtype=np.int64)


def all_of(rows: RowRanges, spans: Iterable[range]) -> Boxes:
    """Relate each of some rows to every row of the ranges in `spans`."""
    spans = [span for span in spans if len(span)]
    n, k = len(rows[0]), len(spans)
    starts = np.array([span.start for span in spans], dtype=np.int64)
    counts = np.array([len(span) for span in spans], dtype=np.int64)
    return Boxes(
        np.repeat(rows[0], k),
        np.repeat(rows[1], k),
        np.tile(starts, n),
        np.tile(counts, n),
        np.zeros(n * k, dtype=np.bool_),
    )
