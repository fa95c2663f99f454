"""Boxes of one tensor in parts: in memory, or in a temporary file if they do not fit."""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import alike, concat, constant, take

__all__ = ["Dealt", "Parts", "Spool", "recut"]

_PART = 1 << 18
_BUCKET = 1 << 19
"""Number of boxes sorted at once."""
_MOST_BUCKETS = 128
_KINDS = tuple(np.dtype(kind) for kind in ("u1", "<u2", "<u4", "<i8"))


class Parts:
    """Boxes of one tensor in memory: each part is sorted, disjoint, and after the one before.

    Attributes
    ----------
    edges : int
        Number of pairs.
    """

    def __init__(self, parts: Sequence[Boxes]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    @property
    def edges(self) -> int:
        return sum(part.edges for part in self._parts)

    def parts(self) -> Iterator[Boxes]:
        """Yield the boxes, part by part."""
        yield from self._parts


class Spool:
    """Boxes of one tensor in a file without a name, in the order in which they were added.

    The boxes of a tensor are sorted. Several threads can read the parts, any number of times.

    Attributes
    ----------
    edges : int
        Number of pairs.
    end : int
        One past the last source row.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="provspark-", buffering=0)  # noqa: SIM115 - it lives with the object
        weakref.finalize(self, self._file.close)
        self._parts: list[tuple[int, list[tuple[int, Any]]]] = []
        self._at = 0
        self._lock = threading.Lock()
        self._len = self.edges = self.end = 0

    def __len__(self) -> int:
        return self._len

    def add(self, boxes: Boxes) -> None:
        """Append boxes."""
        for start in range(0, len(boxes), _PART):
            part = take(boxes, slice(start, start + _PART))
            columns = (part.out, part.n_out, part.src, part.n_src, part.diagonal.view(np.uint8))
            with self._lock:
                self._parts.append((len(part), [self._put(column) for column in columns]))
                self._len += len(part)
                self.edges += part.edges
                self.end = max(self.end, int((part.src + part.n_src).max()))

    def parts(self) -> Iterator[Boxes]:
        """Read the boxes, part by part."""
        for rows, columns in self._parts:
            out, n_out, src, n_src, diagonal = (self._get(rows, *column) for column in columns)
            flags = constant(bool(diagonal[0]), rows) if diagonal.strides == (0,) else diagonal.astype(np.bool_)
            yield Boxes(out, n_out, src, n_src, flags)

    def _put(self, values: Any) -> tuple[int, Any]:
        """Write a column; return its offset and type, or -1 and its only value."""
        if alike(values):
            return -1, int(values[0])
        most = int(values.max())
        kind = next(k for k in _KINDS if most <= np.iinfo(k).max)
        data, at = values.astype(kind).tobytes(), self._at
        self._file.write(data)
        self._at += len(data)
        return at, kind

    def _get(self, rows: int, at: int, kind: Any) -> Int64:
        if at < 0:
            return constant(np.int64(kind), rows)  # type: ignore[no-any-return]
        data = os.pread(self._file.fileno(), rows * kind.itemsize, at)
        return np.frombuffer(data, dtype=kind).astype(np.int64)


def buckets(boxes: int) -> int:
    """Return the number of files among which boxes are distributed, to be sorted one file at a time."""
    return min(_MOST_BUCKETS, -(-boxes // _BUCKET)) or 1


class Dealt:
    """Boxes distributed among files by where they begin on an axis, so that those of one file fit in memory.

    Parameters
    ----------
    axis : {"out", "src"}
    end : int
        End of the axis.
    boxes : int
        Maximum number of boxes.
    """

    def __init__(self, axis: Literal["out", "src"], end: int, boxes: int) -> None:
        self._axis = axis
        self.wide = -(-end // buckets(boxes)) or 1
        self._spools: dict[int, Spool] = {}

    def __len__(self) -> int:
        return len(self._spools)

    def add(self, boxes: Boxes) -> None:
        """Add boxes to their files."""
        bucket = getattr(boxes, self._axis) // self.wide
        for number in np.unique(bucket).tolist():
            self._spools.setdefault(number, Spool()).add(take(boxes, bucket == number))

    def files(self) -> Iterator[tuple[int, Boxes]]:
        """Yield the boxes of each file along the axis, with the first of the `wide` rows that belong to the file."""
        for number in sorted(self._spools):
            yield number * self.wide, concat(list(self._spools[number].parts()))


def recut(parts: Iterable[Boxes], rows: int) -> Iterator[Boxes]:
    """Cut boxes into parts of `rows` boxes; the last part may have fewer."""
    held: list[Boxes] = []
    waiting = 0
    for part in parts:
        while waiting + len(part) >= rows:
            cut = rows - waiting
            yield concat([*held, take(part, slice(0, cut))])
            held, waiting, part = [], 0, take(part, slice(cut, None))
        if len(part):
            held.append(part)
            waiting += len(part)
    if held:
        yield concat(held)
