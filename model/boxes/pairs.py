"""Box algebra in plain numpy: cover pairs and ranges with boxes, and list the pairs of boxes.

A box relates ``n_out`` output rows to ``n_src`` source rows, all with all or along its diagonal
(`provspark.model.boxes.Boxes`). Nothing here loops over rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Bools, Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.cutting import clip
from provspark.model.boxes.joining import lines, merge
from provspark.model.boxes.lists import (
    cells,
    concat,
    constant,
    every,
    expand,
    is_constant,
    joined_bits,
    rising,
    sort,
    sort_rows,
    take,
    transpose,
)

__all__ = [
    "clip",
    "concat",
    "expand",
    "from_pairs",
    "from_ranges",
    "merge",
    "pairs",
    "points",
    "sort",
    "take",
    "transpose",
    "unite",
]


def from_pairs(out: npt.ArrayLike, src: npt.ArrayLike) -> Boxes:
    """Cover (out, src) pairs with few boxes: diagonals, ranges on one side, rectangles.

    Parameters
    ----------
    out, src : int arrays of one length, ids of 0 and more
        In any order; repeated pairs count once.

    Returns
    -------
    Boxes
        Disjoint, sorted by out, then src; `pairs` returns exactly the same pairs.
    """
    out, src = _ids("out", out), _ids("src", src)
    _one_length(out, src)
    lined = lines(out, src)
    if lined is not None:
        return lined
    return merge(cells(*_distinct(out, src)))


def from_ranges(out: npt.ArrayLike, start: npt.ArrayLike, length: npt.ArrayLike) -> Boxes:
    """Cover "row out[i] came from start[i] … start[i]+length[i]-1" with few boxes.

    Several ranges of one row may touch or overlap; each pair counts once. Empty ranges are dropped.
    """
    return merge(unite(out, start, length))


def unite(out: npt.ArrayLike, start: npt.ArrayLike, length: npt.ArrayLike) -> Boxes:
    """Cover the same with a box per range: ranges of a row that touch or overlap become one."""
    out, start, length = _ids("out", out), _ids("start", start), _ids("length", length)
    _one_length(out, start, length)
    if not every(length[: 1 if is_constant(length) else None] > 0):
        some = length > 0
        out, start, length = out[some], start[some], length[some]
    if len(out) == 0:
        return Boxes.empty()
    if is_constant(length) and length[0] == 1:
        single = points(out, start)
        if single is not None:
            out, start, length = (column.astype(np.int64, copy=False) for column in single)
            return Boxes(out, constant(np.int64(1), len(out)), start, length, constant(np.False_, len(out)))
    if not rising(out, start):
        out, start, length = sort_rows(out, start, length)
    end = start + length
    same = out[1:] == out[:-1]
    if bool((same & (start[1:] <= end[:-1])).any()):
        heads = np.flatnonzero(_heads(out, start, end))
        end = np.maximum.reduceat(end, heads)
        out, start = out[heads], start[heads]
    one = constant(np.int64(1), len(out))
    return Boxes(out, one, start, end - start, constant(np.False_, len(out)))


def pairs(boxes: Boxes) -> tuple[Int64, Int64]:
    """Return all (out, src) pairs, sorted by out, then src, each once."""
    large = np.flatnonzero((boxes.n_out != 1) | (boxes.n_src != 1))
    if not len(large):
        return _distinct(boxes.out, boxes.src)
    some = boxes if len(large) == len(boxes) else take(boxes, large)
    cells = np.where(some.diagonal, some.n_out, some.n_out * some.n_src)
    box, k = expand(cells)
    counts = cells
    at: Int64 | slice = slice(None)
    if len(large) < len(boxes):
        counts = np.ones(len(boxes), dtype=np.int64)
        counts[large] = cells
        more = cells - 1
        at = (large + np.cumsum(more) - more)[box] + k
    out, src = np.repeat(boxes.out, counts), np.repeat(boxes.src, counts)
    if some.diagonal.all():
        out[at] += k
        src[at] += k
    else:
        width = np.where(some.diagonal, 1, some.n_src)[box]
        down = k // width
        out[at] += down
        src[at] += np.where(some.diagonal[box], k, k - down * width)
    return _distinct(out, src)


def _distinct(out: Int64, src: Int64) -> tuple[Int64, Int64]:
    """Sort pairs and drop repeated ones."""
    if len(out) < 2:
        return out, src
    if rising(out, src, strictly=True):
        return out, src
    out, src = sort_rows(out, src)
    new = np.concatenate([[True], (out[1:] != out[:-1]) | (src[1:] != src[:-1])])
    return (out, src) if bool(new.all()) else (out[new], src[new])


def _heads(out: Int64, start: Int64, end: Int64) -> Bools:
    """Mark the ranges, sorted by (out, start), that no earlier range of the same row reaches."""
    row = np.cumsum(np.concatenate([[0], out[1:] != out[:-1]]))
    span = int(end.max()) + 1
    if (int(row[-1]) + 1) * span >= 2**63:
        points, rank = np.unique(np.concatenate([start, end]), return_inverse=True)
        start, end, span = rank[: len(start)], rank[len(start) :], len(points)
    row *= span
    reach = np.maximum.accumulate(row + end)
    return np.concatenate([[True], (row + start)[1:] > reach[:-1]])


def points(out: Int64, start: Int64) -> tuple[Int64, Int64, Int64] | None:
    """Unite ranges of length 1 per row; return rows, starts and lengths, as integers of a sufficient width.

    Return None if a row and a start do not fit into one number.
    """
    wide = (int(start.max()) + 1).bit_length()  # the last row of one and the first of the next are two apart
    if int(out.max()).bit_length() + wide > 63:
        return None
    key = joined_bits((out, start), (int(out.max()).bit_length(), wide))
    key.sort()
    steps = key[1:] - key[:-1]
    heads = np.flatnonzero(np.concatenate([[True], steps > 1]))
    length: Int64 = constant(np.int64(1), len(heads))
    if len(heads) < len(key):
        if steps.all():
            length = np.diff(heads, append=len(key))
        else:
            last = np.append(heads[1:], len(key)) - 1
            length = (key[last] - key[heads] + 1).astype(np.int64, copy=False)
        key = key[heads]
    return key >> key.dtype.type(wide), key & ((1 << wide) - 1), length


def _ids(name: str, values: npt.ArrayLike) -> Int64:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        shape = f"{array.ndim} dimensions of {array.dtype}"
        raise ValueError(f"{name} must be a one-dimensional array of integers, not {shape}")
    array = array.astype(np.int64, copy=False)
    if len(array) and int(array[0] if is_constant(array) else array.min()) < 0:
        raise ValueError(f"{name} contains {int(array.min())}; ids start at 0")
    return array


def _one_length(*arrays: Int64) -> None:
    if len({len(a) for a in arrays}) > 1:
        raise ValueError(f"the arrays must have one length, not {[len(a) for a in arrays]}")
