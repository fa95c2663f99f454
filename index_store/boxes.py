"""Box algebra in plain numpy: cover pairs with boxes, join neighbours, cut boxes to runs.

A box relates ``n_out`` output rows to ``n_src`` source rows, all with all or along its diagonal
(`provspark.index_store.model.Boxes`). Nothing here loops over rows.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from provspark.index_store.model import Boxes, Int64

__all__ = ["clip", "concat", "expand", "from_pairs", "from_ranges", "merge", "pairs", "sort", "take", "transpose"]

Bool = npt.NDArray[np.bool_]
_BOTH, _DOWN, _ALONG = 0, 1, 2
_WORTH_A_ROUND = 1000
"""Another round of joining is made if the last one took away more than one box in so many."""


def from_pairs(out: npt.ArrayLike, src: npt.ArrayLike) -> Boxes:
    """Cover (out, src) pairs with few boxes: diagonals, ranges on one side, rectangles.

    Parameters
    ----------
    out, src : int arrays of one length, ids of 0 and more
        In any order; a pair that is repeated counts once.

    Returns
    -------
    Boxes
        Disjoint, sorted by out, then src; `pairs` gives the pairs back exactly.
    """
    out, src = _ids("out", out), _ids("src", src)
    _one_length(out, src)
    out, src = _distinct(out, src)
    one = np.broadcast_to(np.int64(1), out.shape)
    return merge(Boxes(out, one, src, one, np.broadcast_to(np.False_, out.shape)))


def from_ranges(out: npt.ArrayLike, start: npt.ArrayLike, length: npt.ArrayLike) -> Boxes:
    """Cover "row out[i] came from start[i] … start[i]+length[i]-1" with few boxes.

    Several ranges of one row may touch or overlap; each pair counts once. Empty ranges are dropped.
    """
    out, start, length = _ids("out", out), _ids("start", start), _ids("length", length)
    _one_length(out, start, length)
    some = length > 0
    if not some.all():
        out, start, length = out[some], start[some], length[some]
    if len(out) == 0:
        return Boxes.empty()
    order = _order(out, start)
    if order is not None:
        out, start, length = out[order], start[order], length[order]
    end = start + length
    same = out[1:] == out[:-1]
    if bool((same & (start[1:] < end[:-1])).any()):
        heads = np.flatnonzero(_heads(out, start, end))
        end = np.maximum.reduceat(end, heads)
        out, start = out[heads], start[heads]
    one = np.broadcast_to(np.int64(1), out.shape)
    return merge(Boxes(out, one, start, end - start, np.broadcast_to(np.False_, out.shape)))


def pairs(boxes: Boxes) -> tuple[Int64, Int64]:
    """List all (out, src) pairs, sorted by out, then src, each once."""
    cells = np.where(boxes.diagonal, boxes.n_out, boxes.n_out * boxes.n_src)
    box, k = expand(cells)
    if bool(boxes.diagonal.all()):
        return _distinct(boxes.out[box] + k, boxes.src[box] + k)
    width = np.where(boxes.diagonal, 1, boxes.n_src)[box]
    down = k // width
    across = np.where(boxes.diagonal[box], k, k - down * width)
    return _distinct(boxes.out[box] + down, boxes.src[box] + across)


def transpose(boxes: Boxes) -> Boxes:
    """Swap the two axes; the order of boxes stays (see `sort`)."""
    return Boxes(boxes.src, boxes.n_src, boxes.out, boxes.n_out, boxes.diagonal)


def sort(boxes: Boxes) -> Boxes:
    """Sort by out, then src."""
    order = _order(boxes.out, boxes.src)
    return boxes if order is None else take(boxes, order)


def take(boxes: Boxes, index: npt.NDArray[Any] | slice) -> Boxes:
    """Pick boxes by position, mask or slice."""
    return Boxes(boxes.out[index], boxes.n_out[index], boxes.src[index], boxes.n_src[index], boxes.diagonal[index])


def concat(parts: list[Boxes]) -> Boxes:
    """Put lists of boxes one after another."""
    if not parts:
        return Boxes.empty()
    if len(parts) == 1:
        return parts[0]
    return Boxes(
        np.concatenate([p.out for p in parts]),
        np.concatenate([p.n_out for p in parts]),
        np.concatenate([p.src for p in parts]),
        np.concatenate([p.n_src for p in parts]),
        np.concatenate([p.diagonal for p in parts]),
    )


def clip(boxes: Boxes, starts: Int64, lengths: Int64, axis: Literal["out", "src"] = "out") -> Boxes:
    """Cut boxes to runs of one axis: one box for each (box, run) that overlap.

    Parameters
    ----------
    boxes : Boxes
        In any order.
    starts, lengths : int64 arrays
        Sorted disjoint runs of the axis.
    axis : {"out", "src"}
        Which axis the runs are of. A diagonal box is cut on both.

    Returns
    -------
    Boxes
        In the order of `boxes`, and of the runs within a box.
    """
    if axis == "src":
        return transpose(clip(transpose(boxes), starts, lengths))
    ends = starts + lengths
    stop = boxes.out + boxes.n_out
    first = np.searchsorted(ends, boxes.out, side="right")
    last = np.searchsorted(starts, stop, side="left")
    box, k = expand(np.maximum(last - first, 0))
    run = first[box] + k
    low = np.maximum(boxes.out[box], starts[run])
    n = np.minimum(stop[box], ends[run]) - low
    diagonal = boxes.diagonal[box]
    src = boxes.src[box] + np.where(diagonal, low - boxes.out[box], 0)
    return Boxes(low, n, src, np.where(diagonal, n, boxes.n_src[box]), diagonal)


def merge(boxes: Boxes) -> Boxes:
    """Join neighbours into longer diagonals and rectangles, until hardly any two join.

    The set of pairs stays the same. Boxes that overlap are left as they are, except that empty ones go.

    Returns
    -------
    Boxes
        Sorted by out, then src. A box of one pair is never marked diagonal.
    """
    some = (boxes.n_out > 0) & (boxes.n_src > 0)
    if not some.all():
        boxes = take(boxes, some)
    boxes = sort(boxes)
    while len(boxes) > 1:
        before = len(boxes)
        boxes = _join(boxes)
        if before - len(boxes) <= before // _WORTH_A_ROUND:
            break
    unit = (boxes.n_out == 1) & boxes.diagonal
    if bool(unit.any()):
        boxes = Boxes(boxes.out, boxes.n_out, boxes.src, boxes.n_src, boxes.diagonal & ~unit)
    return boxes


def _join(boxes: Boxes) -> Boxes:
    """One round of `merge`: each box joins the run of neighbours that holds most pairs.

    A unit box may go along a diagonal (both axes advance), across (src advances) or down (out advances);
    ties go across first, so that a full square becomes one rectangle and not a diagonal with rests.
    """
    # Where no two boxes share an output row, only neighbours in output order can join, and none across.
    tiled = bool((boxes.out[1:] >= boxes.out[:-1] + boxes.n_out[:-1]).all())
    found = []
    for way in (_BOTH, _DOWN) if tiled else (_BOTH, _DOWN, _ALONG):
        order = _candidates(boxes, way, tiled)
        lined = boxes if order is None else take(boxes, order)
        fit = _fits(lined, way)
        linked = _linked(lined, way) & fit[1:] & fit[:-1]
        if bool(linked.any()):
            found.append((way, order, lined, linked))
    if not found:
        return boxes
    if len(found) == 1:
        way, order, lined, linked = found[0]
        joined = _collapse(lined, linked, way)
        if order is None:
            return joined
        rest = np.ones(len(boxes), dtype=np.bool_)
        rest[order] = False
        return sort(concat([joined, take(boxes, rest)]))
    choice = np.full(len(boxes), -1, dtype=np.int8)
    best = np.zeros(len(boxes), dtype=np.int64)
    for way, order, lined, linked in reversed(found):
        weight = _run_weights(lined, linked)
        where = slice(None) if order is None else order
        better = weight > best[where]
        choice[np.flatnonzero(better) if order is None else order[better]] = way
        best[where] = np.maximum(best[where], weight)
    parts = [take(boxes, choice < 0)]
    for way, order, _, _ in found:
        mine = np.flatnonzero(choice == way) if order is None else order[choice[order] == way]
        if len(mine) == 0:
            continue
        lined = take(boxes, mine)
        parts.append(_collapse(lined, _linked(lined, way), way))
    return sort(concat(parts))


def _candidates(boxes: Boxes, way: int, tiled: bool) -> Int64 | None:
    """Positions of the boxes that may join along `way`, neighbours adjacent; None for all as they stand."""
    if tiled:
        return None
    mask = _fits(boxes, way)
    index = None if bool(mask.all()) else np.flatnonzero(mask)
    if way == _ALONG:
        return index
    out, src = (boxes.out, boxes.src) if index is None else (boxes.out[index], boxes.src[index])
    order = _order(src - out, out) if way == _BOTH else _order(src, out)
    if order is None:
        return index
    return order if index is None else index[order]


def _fits(boxes: Boxes, way: int) -> Bool:
    """Whether a box is of a shape that can join along `way`."""
    unit = (boxes.n_out == 1) & (boxes.n_src == 1)
    fits: Bool = unit | (boxes.diagonal if way == _BOTH else ~boxes.diagonal)
    return fits


def _linked(boxes: Boxes, way: int) -> Bool:
    """For each box but the last: whether the next one continues it along `way`."""
    linked: Bool
    if way == _ALONG:
        linked = (boxes.out[:-1] == boxes.out[1:]) & (boxes.n_out[:-1] == boxes.n_out[1:])
    else:
        linked = boxes.out[:-1] + boxes.n_out[:-1] == boxes.out[1:]
    if way == _DOWN:
        linked &= (boxes.src[:-1] == boxes.src[1:]) & (boxes.n_src[:-1] == boxes.n_src[1:])
    else:
        linked &= boxes.src[:-1] + boxes.n_src[:-1] == boxes.src[1:]
    return linked


def _run_weights(boxes: Boxes, linked: Bool) -> Int64:
    """For each box: the pairs of the run that it stands in; 0 where it stands alone."""
    cells = np.where(boxes.diagonal, boxes.n_out, boxes.n_out * boxes.n_src)
    heads = np.flatnonzero(np.concatenate([[True], ~linked]))
    size = np.diff(np.append(heads, len(cells)))
    return np.repeat(np.where(size > 1, np.add.reduceat(cells, heads), 0), size)


def _collapse(boxes: Boxes, linked: Bool, way: int) -> Boxes:
    """Make one box of each run of linked boxes."""
    heads = np.flatnonzero(np.concatenate([[True], ~linked]))
    if len(heads) == len(boxes):
        return boxes
    last = np.append(heads[1:], len(boxes)) - 1
    n_out, n_src = boxes.n_out[heads], boxes.n_src[heads]
    if way != _ALONG:
        n_out = boxes.out[last] + boxes.n_out[last] - boxes.out[heads]
    if way != _DOWN:
        n_src = boxes.src[last] + boxes.n_src[last] - boxes.src[heads]
    alone = last == heads
    diagonal = boxes.diagonal[heads] | ~alone if way == _BOTH else boxes.diagonal[heads] & alone
    return Boxes(boxes.out[heads], n_out, boxes.src[heads], n_src, diagonal)


def expand(counts: Int64) -> tuple[Int64, Int64]:
    """Repeat position i counts[i] times; beside it, count 0 … counts[i]-1."""
    index = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return index, np.arange(total) - np.repeat(ends - counts, counts)


def _order(major: Int64, minor: Int64) -> Int64 | None:
    """Sort order by major, then minor; None where they stand so already."""
    if len(major) < 2:
        return None
    step = major[1:] - major[:-1]
    if bool(((step > 0) | ((step == 0) & (minor[1:] >= minor[:-1]))).all()):
        return None
    key = _packed(major, minor)
    return np.lexsort((minor, major)) if key is None else np.argsort(key)


def _distinct(out: Int64, src: Int64) -> tuple[Int64, Int64]:
    """Sort pairs and drop repeated ones."""
    if len(out) < 2:
        return out, src
    step = out[1:] - out[:-1]
    if bool(((step > 0) | ((step == 0) & (src[1:] > src[:-1]))).all()):
        return out, src
    key = _packed(out, src)
    if key is None:
        order = np.lexsort((src, out))
        out, src = out[order], src[order]
        new = np.concatenate([[True], (out[1:] != out[:-1]) | (src[1:] != src[:-1])])
        return out[new], src[new]
    key.sort()
    new = np.concatenate([[True], key[1:] != key[:-1]])
    low = int(src.min())
    span = int(src.max()) - low + 1
    high, rest = np.divmod(key if bool(new.all()) else key[new], span)
    return high + int(out.min()), rest + low


def _packed(major: Int64, minor: Int64) -> Int64 | None:
    """Both as one int64 that sorts alike; None where it would overflow."""
    low, first = int(minor.min()), int(major.min())
    span = int(minor.max()) - low + 1
    if (int(major.max()) - first + 1) * span >= 2**63:
        return None
    packed: Int64 = (major - first) * span + (minor - low)
    return packed


def _heads(out: Int64, start: Int64, end: Int64) -> Bool:
    """Mark the ranges, sorted by (out, start), that no earlier range of the same row reaches."""
    points, rank = np.unique(np.concatenate([start, end]), return_inverse=True)
    low, high = rank[: len(start)], rank[len(start) :]
    line = np.cumsum(np.concatenate([[0], out[1:] != out[:-1]])) * len(points)
    reach = np.maximum.accumulate(line + high)
    return np.concatenate([[True], line[1:] + low[1:] > reach[:-1]])


def _ids(name: str, values: npt.ArrayLike) -> Int64:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        found = f"{array.ndim} dimensions of {array.dtype}"
        raise ValueError(f"{name} must be a one-dimensional array of integers, found {found}")
    array = array.astype(np.int64, copy=False)
    if len(array) and int(array.min()) < 0:
        raise ValueError(f"{name} holds {int(array.min())}; ids start at 0")
    return array


def _one_length(*arrays: Int64) -> None:
    if len({len(a) for a in arrays}) > 1:
        raise ValueError(f"arrays of one length are needed, found lengths {[len(a) for a in arrays]}")
