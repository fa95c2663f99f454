"""The groups of a tap that are asked for, and where they stand on its axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.index_store.arrow import numbers
from provspark.index_store.box_lists import constant, matched
from provspark.index_store.boxes import concat
from provspark.index_store.model import Boxes, Int64
from provspark.index_store.spool import Spool, buckets
from provspark.tracker import gathered

__all__ = ["Keys", "Ranges", "keys_of"]


def keys_of(first: Int64, second: Int64) -> pa.Array:
    """Two hashes as one fixed-size value of 16 bytes."""
    data = np.empty((len(first), 2), dtype="<i8")
    data[:, 0], data[:, 1] = first, second
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(first), [None, pa.py_buffer(data)])


class Keys:
    """Different keys, in the order in which they are first asked for."""

    def __init__(self, asked: Sequence[pa.Array]) -> None:
        self._keys = pa.chunked_array(asked).unique()
        first, second = np.frombuffer(self._keys.buffers()[1], dtype="<i8").reshape(-1, 2)[: len(self._keys)].T
        self._order = np.argsort(first, kind="stable")
        self._first, self._second = first[self._order], second[self._order]
        self._clear = bool((self._first[1:] > self._first[:-1]).all())

    def __len__(self) -> int:
        return len(self._keys)

    def places(self, first: Int64, second: Int64) -> Int64:
        """Place of each key, -1 where it is none of these."""
        if not self._clear:
            found = pc.index_in(keys_of(first, second), value_set=self._keys)
            places: Int64 = numbers(found).astype(np.int64)
            if found.null_count:
                places[~numbers(found.is_valid())] = -1
            return places
        at = np.minimum(np.searchsorted(self._first, first), len(self._first) - 1)
        met = (self._first[at] == first) & (self._second[at] == second)
        return np.where(met, self._order[at], -1)


class Ranges:
    """Ranges of an axis in which each group stands: more than fit memory go to files, so many groups to each.

    Parameters
    ----------
    groups : number of groups
    rows : at most so many ranges
    """

    def __init__(self, groups: int, rows: int) -> None:
        self._parts: dict[int, list[Boxes]] | None = {} if rows <= gathered.MOST else None
        self._wide = -(-groups // buckets(rows)) or 1
        self._spools: dict[int, Spool] = {}
        self._groups = groups
        self._seen = np.zeros(groups, dtype=np.bool_)

    @property
    def found(self) -> int:
        """Number of groups that have a range."""
        return int(self._seen.sum())

    def add(self, groups: Int64, starts: Int64, counts: Int64) -> None:
        """Note one range for each of some groups."""
        self._seen[groups] = True
        bucket = groups // self._wide
        for number in np.unique(bucket).tolist():
            mine = bucket == number
            one, no = constant(np.int64(1), int(mine.sum())), constant(np.False_, int(mine.sum()))
            part = Boxes(groups[mine], one, starts[mine], counts[mine], no)
            if self._parts is not None:
                self._parts.setdefault(number, []).append(part)
            else:
                self._spools.setdefault(number, Spool()).add(part)

    def of(self, asked: Int64) -> Iterator[tuple[Int64, Int64, Int64]]:
        """Yield the ranges of the groups asked for, some groups at a time: place in `asked`, start, count."""
        kept = self._parts if self._parts is not None else self._spools
        rising = bool((asked[1:] >= asked[:-1]).all())
        for number in sorted(kept):
            parts = kept[number]
            ranges = concat(list(parts if isinstance(parts, list) else parts.parts()))
            order = np.argsort(ranges.out, kind="stable")
            groups = ranges.out[order]
            low, high = number * self._wide, (number + 1) * self._wide
            if rising:
                mine = np.arange(*np.searchsorted(asked, [low, high]))
            else:
                mine = np.flatnonzero((asked >= low) & (asked < high))
            which, place = matched(asked[mine], groups)
            at = order[place]
            yield mine[which], ranges.src[at], ranges.n_src[at]
