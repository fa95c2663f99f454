"""Sets of row ids as runs, which queries keep until someone iterates over them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.boxes.lists import constant, every, is_constant


def expand(starts: Int64, lengths: Int64) -> Int64:
    """Return ``starts[i] … starts[i]+lengths[i]-1`` for every i, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    rows: Int64 = np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths)
    return rows


def overlaps(a_start: Int64, a_end: Int64, b_start: Int64, b_end: Int64) -> tuple[Int64, Int64]:
    """Return all pairs (i, j) for which the half-open, non-empty intervals a[i] and b[j] overlap.

    Neither side needs to be sorted or disjoint. Each pair comes once: either b starts within a, or a starts
    strictly within b.
    """
    if len(a_start) > _MANY and (table := _table(a_start, a_end, b_start, b_end)) is not None:
        first, count = table
        if count is None:
            return np.arange(len(a_start)), first
        return np.repeat(np.arange(len(a_start)), count), expand(first, count)
    a_order, a_start, a_end = _by_start(a_start, a_end)
    b_order, b_start, b_end = _by_start(b_start, b_end)
    first = b_start.searchsorted(a_start)
    count = b_start.searchsorted(a_end) - first
    ia, ib = np.repeat(np.arange(len(a_start)), count), expand(first, count)
    if (b_end - b_start).max(initial=1) > 1:
        first = a_start.searchsorted(b_start, "right")
        count = a_start.searchsorted(b_end) - first
        ia = np.concatenate([ia, expand(first, count)])
        ib = np.concatenate([ib, np.repeat(np.arange(len(b_start)), count)])
    return ia if a_order is None else a_order[ia], ib if b_order is None else b_order[ib]


_ZERO = np.zeros(1, dtype=np.int64)
_MANY = 4096
_LONG = 1 << 10
"""Runs of more rows than this are marked one by one."""
_PIECE = 1 << 16
"""Number of runs marked at once, and of rows whose marks are read at once."""


def _table(a_start: Int64, a_end: Int64, b_start: Int64, b_end: Int64) -> tuple[Int64, Int64 | None] | None:
    """Return for each interval of a the first one of b that it overlaps, and how many it overlaps (None: one each).

    Both are looked up in tables of all points, which is faster than searching among many. Return None if the tables
    would be large, or if starts or ends of b are not sorted.
    """
    if not len(b_start):
        return None
    low, high = int(b_start[0]), int(b_end[-1])
    if high - low > 4 * (len(a_start) + len(b_start)):
        return None
    if not ((b_start[1:] >= b_start[:-1]).all() and (b_end[1:] >= b_end[:-1]).all()):
        return None
    inside = len(a_start) > 0 and int(a_start.min()) >= low and int(a_end.max()) <= high
    dense = high - low == len(b_start) and (b_end - b_start == 1).all() and (b_start[1:] > b_start[:-1]).all()
    if dense and inside and (a_end - a_start == 1).all():
        return a_start - low, None
    begun = np.zeros(high - low + 1, dtype=np.int64)
    np.cumsum(np.bincount(b_start - low, minlength=high - low)[: high - low], out=begun[1:])
    over = np.cumsum(np.bincount(b_end - low, minlength=high - low + 1))
    starts, ends = a_start - low, a_end - low
    if not inside:
        starts, ends = np.clip(starts, 0, high - low), np.clip(ends, 0, high - low)
    first = over[starts]
    return first, np.maximum(begun[ends] - first, 0)


def _by_start(start: Int64, end: Int64) -> tuple[Int64 | None, Int64, Int64]:
    """Sort intervals by their start: searching for sorted values among sorted ones is several times as fast."""
    order = ordering(start)
    return (None, start, end) if order is None else (order, start[order], end[order])


def unite(group: Int64, start: Int64, end: Int64) -> tuple[Int64, Int64, Int64]:
    """Unite the intervals of each group that touch or overlap.

    The three arrays are sorted by (group, start). Return the index of a representative of each united interval, its
    start and its end.
    """
    if len(start) < 2:
        return np.arange(len(start)), start, end
    same = group[1:] == group[:-1]
    if not (same & (start[1:] <= end[:-1])).any():
        return np.arange(len(start)), start, end
    rank = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(~same)])
    low = int(start.min())
    reach = end - low
    span = int(reach.max()) + 1
    if (int(rank[-1]) + 1) * span < 2**62:
        reach = np.maximum.accumulate(rank * span + reach) - rank * span + low
    else:  # ranks of the ends keep the product within 64 bits
        ends, place = np.unique(end, return_inverse=True)
        reach = ends[np.maximum.accumulate(rank * len(ends) + place) - rank * len(ends)]
    new = np.concatenate([np.ones(1, dtype=np.bool_), ~same | (start[1:] > reach[:-1])])
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(start)) - 1
    return first, start[first], reach[last]


def ordering(*columns: Int64) -> Int64 | None:
    """Return the indexes that sort by the first column, then the next, and so on; None if sorted already."""
    if len(columns[0]) < 2:
        return None
    if len(columns) == 1:
        key = columns[0]
        return None if (key[1:] >= key[:-1]).all() else np.argsort(key)
    lows = [int(c.min()) for c in columns]
    spans = [int(c.max()) - low + 1 for c, low in zip(columns, lows, strict=True)]
    if prod(spans) >= 2**63:
        return np.lexsort(columns[::-1])
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column, low, span in zip(columns, lows, spans, strict=True):
        if span > 1:
            key = key * span + (column - low)
    return None if (key[1:] >= key[:-1]).all() else np.argsort(key)


@dataclass(frozen=True, eq=False)
class Runs:
    """A set of row ids: ``lengths[i]`` of them from ``starts[i]`` on; sorted, disjoint, not touching."""

    starts: Int64
    lengths: Int64

    @classmethod
    def span(cls, n: int) -> Runs:
        """Return the set 0 … n-1."""
        return cls(np.zeros(min(n, 1), dtype=np.int64), np.full(min(n, 1), n, dtype=np.int64))

    @classmethod
    def united(cls, starts: Int64, lengths: Int64) -> Runs:
        """Return the union of runs, which may be in any order and overlap."""
        if len(starts) == 1 and lengths[0]:
            return cls(starts, lengths)
        if len(starts) and every(starts[1:] > starts[:-1] + lengths[:-1]) and np.count_nonzero(lengths) == len(starts):
            return cls(starts, lengths)
        if len(starts) <= _MANY and is_constant(lengths) and every(lengths[:1] == 1):
            return cls._of_few(np.sort(starts))
        if len(starts) > _MANY and not (starts[1:] > starts[:-1]).all():
            low = int(starts.min())
            span = int((starts + lengths).max()) - low
            if span < 8 * len(starts):
                held = np.zeros(span + 2, dtype=np.bool_)
                mark(held, starts - low, lengths)
                return marked(held, low)
        order = ordering(starts)
        if order is not None:
            starts, lengths = starts[order], lengths[order]
        if len(lengths) and not lengths.all():
            starts, lengths = starts[lengths > 0], lengths[lengths > 0]
        _, start, end = unite(np.zeros(len(starts), dtype=np.int64), starts, starts + lengths)
        return cls(start, end - start)

    @classmethod
    def of(cls, rows: Iterable[int] | Int64) -> Runs:
        """Return the set of these row ids, given in any order."""
        if not isinstance(rows, np.ndarray):
            rows = np.array(list(rows), dtype=np.int64)
        return cls.united(rows, np.ones(len(rows), dtype=np.int64))

    @classmethod
    def _of_few(cls, rows: Int64) -> Runs:
        """Return the set of sorted rows, which may repeat."""
        if not len(rows):
            return cls(rows, rows)
        edge = np.flatnonzero(rows[1:] - rows[:-1] > 1)
        if len(edge) == len(rows) - 1:
            return cls(rows, constant(np.int64(1), len(rows)))
        first = np.concatenate([_ZERO, edge + 1])
        starts = rows[first]
        return cls(starts, rows[np.concatenate([edge, _ZERO - 1])] - starts + 1)

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.lengths.sum())

    @property
    def ends(self) -> Int64:
        """One past the last row of each run."""
        return self.starts + self.lengths

    def __bool__(self) -> bool:
        return len(self.starts) > 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Runs):
            return NotImplemented
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.lengths, other.lengths)

    def __hash__(self) -> int:
        return hash((self.starts.tobytes(), self.lengths.tobytes()))

    def __or__(self, other: Runs) -> Runs:
        if self == other:
            return self
        return Runs.united(np.concatenate([self.starts, other.starts]), np.concatenate([self.lengths, other.lengths]))

    def __and__(self, other: Runs) -> Runs:
        i, j = overlaps(self.starts, self.ends, other.starts, other.ends)
        start = np.maximum(self.starts[i], other.starts[j])
        return Runs.united(start, np.minimum(self.ends[i], other.ends[j]) - start)

    def __sub__(self, other: Runs) -> Runs:
        if not self or not other:
            return self
        edge = max(int(self.ends[-1]), int(other.ends[-1]))
        start = np.concatenate([np.zeros(1, dtype=np.int64), other.ends])
        end = np.append(other.starts, edge)
        return self & Runs(start[end > start], (end - start)[end > start])

    def counts(self, bounds: Int64) -> Int64:
        """Return how many rows are between each of some ascending bounds and the next."""
        if not len(self.starts):
            return np.zeros(max(len(bounds) - 1, 0), dtype=np.int64)
        before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.lengths)])
        run = np.maximum(self.starts.searchsorted(bounds, "right") - 1, 0)
        inside: Int64 = np.diff(before[run] + np.clip(bounds - self.starts[run], 0, self.lengths[run]))
        return inside

    def rows(self) -> Int64:
        """Return the row ids, ascending."""
        return expand(self.starts, self.lengths)

    def at(self, ordinals: Int64) -> Int64:
        """Return the row ids at these positions in ascending order."""
        last = np.cumsum(self.lengths)
        run = last.searchsorted(ordinals, "right")
        return self.starts[run] + ordinals - (last - self.lengths)[run]


def mark(held: npt.NDArray[np.bool_], starts: Int64, lengths: Int64) -> None:
    """Mark rows, which may be in any order and repeat: row r at r + 1."""
    long = lengths > _LONG
    if long.any():
        for start, n in zip(starts[long].tolist(), lengths[long].tolist(), strict=True):
            held[start + 1 : start + n + 1] = True
        starts, lengths = starts[~long], lengths[~long]
    for low in range(0, len(starts), _PIECE):
        some = slice(low, low + _PIECE)
        held[expand(starts[some] + 1, lengths[some])] = True


def marked(held: npt.NDArray[np.bool_], low: int = 0) -> Runs:
    """Return the marked rows, row r at r + 1 - low; both ends must not be marked.

    The marks are read piece by piece, so that little memory is used besides the result.
    """
    change = held[1:] != held[:-1]
    n = int(np.count_nonzero(change)) // 2
    starts, ends = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    begun = ended = 0
    for start in range(0, len(change), _PIECE):
        edges = np.flatnonzero(change[start : start + _PIECE]) + (start + low)
        first = begun - ended
        some, others = edges[first::2], edges[1 - first :: 2]
        starts[begun : begun + len(some)] = some
        ends[ended : ended + len(others)] = others
        begun, ended = begun + len(some), ended + len(others)
    ends -= starts
    return Runs(starts, ends)
