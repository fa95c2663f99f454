"""Lists of boxes as arrays: pick, put together, sort, transpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes

__all__ = [
    "alike",
    "are_cells",
    "cells",
    "chunks",
    "concat",
    "constant",
    "every",
    "expand",
    "is_constant",
    "joined_bits",
    "matched",
    "neighbours",
    "order_of",
    "packed",
    "picked",
    "sort",
    "spread",
    "take",
    "transpose",
]

_GLANCE = 1024
_CHUNK = 1 << 16


def constant(value: Any, n: int) -> Any:
    """One value, an int64 or a bool, for `n` places, kept once; `is_constant` knows it."""
    held = _held(value)
    return np.ndarray((n,), held.dtype, held, strides=(0,))  # np.broadcast_to, ten times as fast


@lru_cache(maxsize=1 << 10, typed=True)
def _held(value: Any) -> npt.NDArray[Any]:
    """One value, that nobody can change."""
    array = np.array([value])
    array.flags.writeable = False
    return array


def every(mask: npt.NDArray[np.bool_]) -> bool:
    """Whether all is true; for few values several times as fast as ``all``."""
    return int(np.count_nonzero(mask)) == len(mask)


def is_constant(array: npt.NDArray[Any]) -> bool:
    """Whether it is one value kept once."""
    return array.strides == (0,)


def alike(values: npt.NDArray[Any]) -> bool:
    """Whether all are one value; told without a look at all where the first ones differ."""
    if len(values) == 0 or is_constant(values):
        return True
    return bool((values[:_GLANCE] == values[0]).all()) and bool((values == values[0]).all())


def cells(out: Int64, src: Int64) -> Boxes:
    """A box for each pair: `are_cells` knows it."""
    one = constant(np.int64(1), len(out))
    return Boxes(out, one, src, one, constant(np.False_, len(out)))


def are_cells(boxes: Boxes) -> bool:
    """Whether it is plain to see that each box is one pair: no look is taken at every one."""
    return bool(
        len(boxes)
        and is_constant(boxes.n_out)
        and is_constant(boxes.n_src)
        and is_constant(boxes.diagonal)
        and boxes.n_out[0] == boxes.n_src[0] == 1
    )


def take(boxes: Boxes, index: npt.NDArray[Any] | slice) -> Boxes:
    """Pick boxes by position, mask or slice."""
    return Boxes(
        boxes.out[index],
        picked(boxes.n_out, index),
        boxes.src[index],
        picked(boxes.n_src, index),
        boxes.diagonal[index],
    )


def picked(array: Any, index: Any) -> Any:
    """Pick; one value broadcast stays broadcast."""
    if not is_constant(array) or not len(array) or isinstance(index, slice) or index.dtype == np.bool_:
        return array[index]
    return constant(array[0], len(index))


def concat(parts: list[Boxes]) -> Boxes:
    """Put lists of boxes one after another."""
    if not parts:
        return Boxes.empty()
    if len(parts) == 1:
        return parts[0]
    return Boxes(
        _joined([p.out for p in parts]),
        _joined([p.n_out for p in parts]),
        _joined([p.src for p in parts]),
        _joined([p.n_src for p in parts]),
        _joined([p.diagonal for p in parts]),
    )


def _joined(arrays: list[Any]) -> Any:
    """Concatenate; one value broadcast in all stays broadcast."""
    some = [a for a in arrays if len(a)]
    if some and all(is_constant(a) and a[0] == some[0][0] for a in some):
        return constant(some[0][0], sum(map(len, some)))
    return np.concatenate(arrays)


def transpose(boxes: Boxes) -> Boxes:
    """Swap the two axes; the order of boxes stays (see `sort`)."""
    return Boxes(boxes.src, boxes.n_src, boxes.out, boxes.n_out, boxes.diagonal)


def sort(boxes: Boxes) -> Boxes:
    """Sort by out, then src."""
    order = order_of(boxes.out, boxes.src)
    return boxes if order is None else take(boxes, order)


def chunks(n: int) -> Iterator[slice]:
    """Slices of `n` places, one after another: what is made of one stays in the processor's cache."""
    for start in range(0, n, _CHUNK):
        yield slice(start, start + _CHUNK)


def neighbours(n: int) -> Iterator[slice]:
    """The same, each with the first place of the next: each two neighbours are in one."""
    for start in range(0, n - 1, _CHUNK):
        yield slice(start, start + _CHUNK + 1)


def expand(counts: Int64) -> tuple[Int64, Int64]:
    """Repeat position i counts[i] times; beside it, count 0 … counts[i]-1."""
    index = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return index, np.arange(total) - np.repeat(ends - counts, counts)


def spread(first: Int64, stop: Int64) -> tuple[Int64, Int64]:
    """Each of the numbers first[i] … stop[i]-1, and beside it i."""
    if len(first) == 1:
        numbers = np.arange(first[0], stop[0])
        return numbers, constant(np.int64(0), len(numbers))
    counts = stop - first
    if every(counts == 1):
        return first, np.arange(len(first))
    index, k = expand(np.maximum(counts, 0))
    return first[index] + k, index


def matched(left: Int64, right: Int64) -> tuple[Int64, Int64]:
    """Places of equal values, each on the left with each on the right, which is sorted; by place on the left."""
    place, i = spread(right.searchsorted(left, "left"), right.searchsorted(left, "right"))
    return i, place


def rising(major: Int64, minor: Int64, *, strictly: bool = False) -> bool:
    """Whether pairs stand sorted by major, then minor; with `strictly`, no two alike."""
    for part in neighbours(len(major)):
        above, below = major[part][1:], major[part][:-1]
        step = above > below
        if every(step):
            continue
        level = np.diff(minor[part]) >= int(strictly)
        if not every(step | ((above == below) & level)):
            return False
    return True


def order_of(major: Int64, minor: Int64) -> Int64 | None:
    """Sort order by major, then minor; None where they stand so already."""
    if len(major) < 2:
        return None
    if rising(major, minor):
        return None
    key = packed(major, minor)
    return np.lexsort((minor, major)) if key is None else np.argsort(key)


def sort_rows(*columns: Int64) -> tuple[Int64, ...]:
    """Sort the rows of some columns of ids by the first, then the second, and so on.

    Where a row fits into 63 bits it is sorted as one number, which is three times as fast as by order and `take`.
    """
    if len(columns[0]) < 2:
        return columns
    bits = [int(c.max()).bit_length() for c in columns]
    if sum(bits) > 63:
        order = np.lexsort(columns[::-1])
        return tuple(c[order] for c in columns)
    key = joined_bits(columns, bits)
    key.sort()
    lower: list[Int64] = []
    for wide in reversed(bits[1:]):
        lower.append((key & ((1 << wide) - 1)).astype(np.int64, copy=False))
        key >>= wide
    return (key.astype(np.int64, copy=False), *reversed(lower))


def joined_bits(columns: Sequence[Int64], bits: Sequence[int]) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Rows of so many bits of each column as one number, of 32 bits where it fits: that is sorted twice as fast."""
    kind = np.dtype(np.uint32 if sum(bits) <= 32 else np.uint64)
    key = columns[0].astype(kind)
    for column, wide in zip(columns[1:], bits[1:], strict=True):
        key <<= kind.type(wide)
        key |= column.astype(kind, copy=False)
    return key


def packed(major: Int64, minor: Int64) -> Int64 | None:
    """Both as one int64 that sorts alike; None where it would overflow."""
    low, first = int(minor.min()), int(major.min())
    span = int(minor.max()) - low + 1
    if (int(major.max()) - first + 1) * span >= 2**63:
        return None
    packed: Int64 = (major - first) * span + (minor - low)
    return packed
