"""Requested groups of a tap: their keys, and their ranges on the tap's axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.model.arrays import Int64
from provspark.model.arrow import numbers
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import chunks, concat, constant, every, spread
from provspark.model.boxes.spool import Dealt
from provspark.tracker.seal import boxes_in_parts as gathered

__all__ = ["GroupRanges", "RequestedKeys"]

_GLANCE = 1 << 12
_CROWDED = 64
"""Largest number of hashes with a common prefix that are searched one by one. A good hash never has more."""


class RequestedKeys:
    """Distinct requested keys, each with an index.

    Parameters
    ----------
    asked : sequence of pairs of int64 arrays
        For each request, the two hashes of each of its keys.

    Attributes
    ----------
    asked : list of int64 arrays
        For each request, the index of each of its keys.
    """

    def __init__(self, asked: Sequence[tuple[Int64, Int64]]) -> None:
        first, second = (np.concatenate([hashes[i] for hashes in asked]) for i in (0, 1))
        table = _table(first, second)
        places = np.arange(len(first)) if table else None
        self._keys = None
        if places is None:
            coded = _whole(first, second).dictionary_encode()
            self._keys = coded.dictionary
            places = numbers(coded.indices).astype(np.int64)
            first, second = np.frombuffer(self._keys.buffers()[1], "<i8").reshape(-1, 2)[: len(self._keys)].T
            table = _table(first, second)
        self.asked = np.split(places, np.cumsum([len(hashes[0]) for hashes in asked])[:-1])
        self._len, self._table = len(first), table

    def __len__(self) -> int:
        return self._len

    def places(self, first: Int64, second: Int64) -> Int64:
        """Return the index of each key, -1 if it is not among these."""
        if self._table is not None:
            return self._table.places(first, second)
        indices = pc.index_in(_whole(first, second), value_set=self._keys)
        places: Int64 = numbers(indices).astype(np.int64)
        if indices.null_count:
            places[~numbers(indices.is_valid())] = -1
        return places


class _Table:
    """Lookup table of keys with distinct first hashes, by the prefix of that hash.

    It is faster than a binary search, which misses the CPU cache at each step.

    Parameters
    ----------
    first, second : arrays
        Hashes of the keys, sorted by the first one as unsigned integers.
    order : int64 array
        Index of each key.
    heads, begins : arrays
        Position of the first hash of each prefix, and the prefixes.
    shift : int
        Number of bits after the prefix.
    """

    def __init__(self, first: Any, second: Any, order: Int64, heads: Int64, begins: Any, shift: Any) -> None:
        # The sentinel at the end is no key: it stops the search for a hash that is larger than all keys.
        self._first = np.append(first, np.iinfo(np.uint64).max)
        self._second = np.append(second, second[-1:])
        self._order = np.append(order, -1)
        self._shift = shift
        self._heads = np.full(1 << 64 - int(shift), len(first), dtype=np.int32 if len(first) < 2**31 else np.int64)
        self._heads[begins] = heads

    def places(self, first: Int64, second: Int64) -> Int64:
        """Return the index of each key, -1 if it is not among these."""
        places = np.full(len(first), -1, dtype=np.int64)
        for part in chunks(len(first)):
            wanted = first[part].view(np.uint64)
            at = self._heads[wanted >> self._shift]
            hashes = self._first[at]
            late = np.flatnonzero(hashes < wanted)
            while len(late):
                at[late] += 1
                hashes[late] = self._first[at[late]]
                late = late[hashes[late] < wanted[late]]
            met = np.flatnonzero(hashes == wanted)
            met = met[self._second[at[met]] == second[part][met]]
            places[part][met] = self._order[at[met]]
        return places


def _table(first: Int64, second: Int64) -> _Table | None:
    """Return a table of keys, or None if two share a first hash or too many hashes share a prefix."""
    if len(np.unique(first[:_GLANCE])) < min(len(first), _GLANCE):
        return None
    order = np.argsort(first.view(np.uint64))
    hashes = first.view(np.uint64)[order]
    if not every(hashes[1:] > hashes[:-1]):
        return None
    shift = np.uint64(63 - len(first).bit_length())
    begins = hashes >> shift
    heads = np.flatnonzero(np.concatenate([[True], begins[1:] != begins[:-1]]))
    if int(np.diff(heads, append=len(first)).max()) > _CROWDED:
        return None
    return _Table(hashes, second[order], order, heads, begins[heads], shift)


def _whole(first: Int64, second: Int64) -> pa.Array:
    """Return two hashes as one fixed-size value of 16 bytes."""
    data = np.empty((len(first), 2), dtype="<i8")
    data[:, 0], data[:, 1] = first, second
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(first), [None, pa.py_buffer(data)])


class GroupRanges:
    """Ranges of each group on an axis. If there are too many for memory, they go to files by group number.

    Parameters
    ----------
    groups : int
        Number of groups.
    rows : int
        Upper bound of the number of ranges.
    """

    def __init__(self, groups: int, rows: int) -> None:
        self._parts: list[Boxes] = []
        self._held = 0
        self._dealt = Dealt("out", groups, rows)
        self._groups = groups
        self._seen = np.zeros(groups, dtype=np.bool_)

    @property
    def filled(self) -> int:
        """Number of groups that have a range."""
        return int(np.count_nonzero(self._seen))

    def add(self, groups: Int64, starts: Int64, counts: Int64) -> None:
        """Add one range for each of some groups."""
        self._seen[groups] = True
        self._held += len(groups)
        self._parts.append(_ranges(groups, starts, counts))
        if self._held > gathered.MOST:
            for part in self._parts:
                self._dealt.add(part)
            self._parts.clear()

    def of(self, asked: Int64) -> Iterator[tuple[Int64, Int64, Int64]]:
        """Yield the ranges of the requested groups, some groups at a time: index in `asked`, start, count."""
        if not self._dealt:
            yield _ranges_of(concat(self._parts), asked, self._groups)
            return
        rising = every(asked[1:] >= asked[:-1])
        wide = self._dealt.wide
        for low, ranges in self._dealt.files():
            high = low + wide
            if rising:
                mine = np.arange(*np.searchsorted(asked, [low, high]))
            else:
                mine = np.flatnonzero((asked >= low) & (asked < high))
            own = _ranges(ranges.out - low, ranges.src, ranges.n_src)
            which, starts, counts = _ranges_of(own, asked[mine] - low, wide)
            yield mine[which], starts, counts


def _ranges(groups: Int64, starts: Int64, counts: Int64) -> Boxes:
    n = len(groups)
    return Boxes(groups, constant(np.int64(1), n), starts, counts, constant(np.False_, n))


def _ranges_of(ranges: Boxes, asked: Int64, groups: int) -> tuple[Int64, Int64, Int64]:
    """Return the ranges of the requested groups: index in `asked`, start, count."""
    each = np.bincount(ranges.out, minlength=groups)
    ends = np.cumsum(each)
    at, which = spread((ends - each)[asked], ends[asked])
    if not every(ranges.out[1:] >= ranges.out[:-1]):
        at = np.argsort(ranges.out, kind="stable")[at]
    return which, ranges.src[at], ranges.n_src[at]
