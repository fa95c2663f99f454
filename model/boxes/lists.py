"""Lists of boxes as arrays: select, concatenate, sort, transpose."""

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
    """Return an array of `n` equal values, an int64 or a bool, stored once; `is_constant` recognises it."""
    held = _held(value)
    return np.ndarray((n,), held.dtype, held, strides=(0,))  # ten times as fast as np.broadcast_to


@lru_cache(maxsize=1 << 10, typed=True)
def _held(value: Any) -> npt.NDArray[Any]:
    """Return a read-only array of one value."""
    array = np.array([value])
    array.flags.writeable = False
    return array


def every(mask: npt.NDArray[np.bool_]) -> bool:
    """Return whether all values are true; for few values several times as fast as ``all``."""
    return int(np.count_nonzero(mask)) == len(mask)


def is_constant(array: npt.NDArray[Any]) -> bool:
    """Return whether an array is one value stored once."""
    return array.strides == (0,)


def alike(values: npt.NDArray[Any]) -> bool:
    """Return whether all values are equal; the rest is not compared if the first ones differ."""
    if len(values) == 0 or is_constant(values):
        return True
    return bool((values[:_GLANCE] == values[0]).all()) and bool((values == values[0]).all())


def cells(out: Int64, src: Int64) -> Boxes:
    """Return a box for each pair; `are_cells` recognises the result."""
    one = constant(np.int64(1), len(out))
    return Boxes(out, one, src, one, constant(np.False_, len(out)))


def are_cells(boxes: Boxes) -> bool:
    """Return whether each box is known to be one pair, without comparing every box."""
    return bool(
        len(boxes)
        and is_constant(boxes.n_out)
        and is_constant(boxes.n_src)
        and is_constant(boxes.diagonal)
        and boxes.n_out[0] == boxes.n_src[0] == 1
    )


def take(boxes: Boxes, index: npt.NDArray[Any] | slice) -> Boxes:
    """Select boxes by index, mask or slice."""
    return Boxes(
        boxes.out[index],
        picked(boxes.n_out, index),
        boxes.src[index],
        picked(boxes.n_src, index),
        boxes.diagonal[index],
    )


def picked(array: Any, index: Any) -> Any:
    """Select elements; one value stored once stays so."""
    if not is_constant(array) or not len(array) or isinstance(index, slice) or index.dtype == np.bool_:
        return array[index]
    return constant(array[0], len(index))


def concat(parts: list[Boxes]) -> Boxes:
    """Concatenate lists of boxes."""
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
    """Concatenate arrays; one value stored once in all of them stays so."""
    some = [a for a in arrays if len(a)]
    if some and all(is_constant(a) and a[0] == some[0][0] for a in some):
        return constant(some[0][0], sum(map(len, some)))
    return np.concatenate(arrays)


def transpose(boxes: Boxes) -> Boxes:
    """Swap the two axes; the order of the boxes stays the same (see `sort`)."""
    return Boxes(boxes.src, boxes.n_src, boxes.out, boxes.n_out, boxes.diagonal)


def sort(boxes: Boxes) -> Boxes:
    """Sort by out, then src."""
    order = order_of(boxes.out, boxes.src)
    return boxes if order is None else take(boxes, order)


def chunks(n: int) -> Iterator[slice]:
    """Yield slices of `n` elements, one after another, which are small enough for the processor's cache."""
    for start in range(0, n, _CHUNK):
        yield slice(start, start + _CHUNK)


def neighbours(n: int) -> Iterator[slice]:
    """Yield such slices, each with the first element of the next: any two neighbours are in one slice."""
    for start in range(0, n - 1, _CHUNK):
        yield slice(start, start + _CHUNK + 1)


def expand(counts: Int64) -> tuple[Int64, Int64]:
    """Return each index i counts[i] times, and for each the numbers 0 … counts[i]-1."""
    index = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return index, np.arange(total) - np.repeat(ends - counts, counts)


def spread(first: Int64, stop: Int64) -> tuple[Int64, Int64]:
    """Return the numbers first[i] … stop[i]-1 of all i, and for each its i."""
    if len(first) == 1:
        numbers = np.arange(first[0], stop[0])
        return numbers, constant(np.int64(0), len(numbers))
    counts = stop - first
    if every(counts == 1):
        return first, np.arange(len(first))
    index, k = expand(np.maximum(counts, 0))
    return first[index] + k, index


def matched(left: Int64, right: Int64) -> tuple[Int64, Int64]:
    """Return the indexes of all equal values on the left and on the right, which is sorted; by index on the left."""
    place, i = spread(right.searchsorted(left, "left"), right.searchsorted(left, "right"))
    return i, place


def rising(major: Int64, minor: Int64, *, strictly: bool = False) -> bool:
    """Return whether pairs are sorted by major, then minor; with `strictly`, also whether no two are equal."""
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
    """Return the sort order by major, then minor; None if they are sorted already."""
    if len(major) < 2:
        return None
    if rising(major, minor):
        return None
    key = packed(major, minor)
    return np.lexsort((minor, major)) if key is None else np.argsort(key)


def sort_rows(*columns: Int64) -> tuple[Int64, ...]:
    """Sort the rows of some id columns by the first column, then the second, and so on.

    A row that fits into 63 bits is sorted as one number, which is three times as fast as by order and `take`.
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
    """Return rows of the given bits per column as one number each; 32-bit numbers are sorted twice as fast."""
    kind = np.dtype(np.uint32 if sum(bits) <= 32 else np.uint64)
    key = columns[0].astype(kind)
    for column, wide in zip(columns[1:], bits[1:], strict=True):
        key <<= kind.type(wide)
        key |= column.astype(kind, copy=False)
    return key


def packed(major: Int64, minor: Int64) -> Int64 | None:
    """Return both as one int64 that sorts in the same way; None if it would overflow."""
    low, first = int(minor.min()), int(major.min())
    span = int(minor.max()) - low + 1
    if (int(major.max()) - first + 1) * span >= 2**63:
        return None
    packed: Int64 = (major - first) * span + (minor - low)
    return packed
