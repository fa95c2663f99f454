"""Joining of neighbouring boxes to longer diagonals and rectangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from provspark.model.arrays import Bools, Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import cells, concat, is_constant, neighbours, order_of, sort, take

__all__ = ["FEW_JOINED", "lines", "merge"]

_BOTH, _DOWN, _ALONG = 0, 1, 2
_STEPS = np.array([1 + _DOWN, 1 + _BOTH], dtype=np.int8)
"""Ways to the next row, by the step of the source rows."""
_MANY = 1 << 12
"""Number of pairs below which all neighbours are joined."""
FEW_JOINED = 0.99
"""Boxes per pair above which pairs are better stored singly."""
_WORTH_A_ROUND = 1000
"""Joining ends after a round that removes no more than one box in this many."""


def merge(boxes: Boxes) -> Boxes:
    """Join neighbours to longer diagonals and rectangles, until hardly any two can be joined.

    The set of pairs stays the same. Overlapping boxes stay as they are; empty boxes are dropped.

    Returns
    -------
    Boxes
        Sorted by out, then src. A box of one pair is not marked diagonal.
    """
    if len(boxes) and min(int(n.min()) for n in (boxes.n_out, boxes.n_src)) < 1:
        boxes = take(boxes, (boxes.n_out > 0) & (boxes.n_src > 0))
    boxes = sort(boxes)
    if len(boxes) > 1 and _units(boxes):
        lined = lines(boxes.out, boxes.src)
        if lined is not None:
            return lined
    boxes = _rounds(boxes)
    unit = (boxes.n_out == 1) & boxes.diagonal
    if bool(unit.any()):
        boxes = Boxes(boxes.out, boxes.n_out, boxes.src, boxes.n_src, boxes.diagonal & ~unit)
    return boxes


def lines(out: Int64, src: Int64) -> Boxes | None:
    """Return what `merge` makes of pairs with ascending output rows, one pair each; None if they are not such pairs."""
    ways = _ways(out, src)
    if ways is None:
        return None
    upright = bool((ways == 1 + _DOWN).any())
    if upright:
        if len(out) >= _MANY and np.count_nonzero(ways) <= len(out) * (1 - FEW_JOINED):
            return cells(out, src)
        _part(ways)
    heads = np.flatnonzero(np.concatenate([np.ones(min(1, len(out)), dtype=np.bool_), ways == 0]))
    size = np.diff(heads, append=len(out))
    across = size
    diagonal = size > 1
    if upright:
        diagonal &= np.append(ways, 0)[heads] == 1 + _BOTH
        across = np.where(diagonal, size, 1)
    boxes = Boxes(out[heads], size, src[heads], across, diagonal)
    few = len(out) - len(boxes) <= len(out) // _WORTH_A_ROUND
    return _rounds(boxes) if upright and not few else boxes


def _ways(out: Int64, src: Int64) -> Any:
    """Return for each pair but the last 1 plus the way in which the next pair continues it; 0 if it does not.

    Return None if the output rows are not ascending.
    """
    ways = np.empty(max(0, len(out) - 1), dtype=np.int8)
    for part in neighbours(len(out)):
        down = np.diff(out[part])
        if int(down.min()) < 1:
            return None
        across = np.diff(src[part])
        near = (down == 1) & (across.view(np.uint64) < len(_STEPS))
        ways[part][: len(near)] = np.where(near, _STEPS.take(across, mode="clip"), 0)
    return ways


def _part(ways: Any) -> None:
    """Keep a pair that ends one run and begins another in the longer one; of equal ones, in the downward one."""
    bounds = np.flatnonzero(ways[1:] != ways[:-1]) + 1
    length = np.diff(bounds, prepend=0, append=len(ways))
    shared = np.flatnonzero((ways[bounds - 1] > 0) & (ways[bounds] > 0))
    before, after, at = length[shared], length[shared + 1], bounds[shared]
    first = (before > after) | ((before == after) & (ways[at - 1] == 1 + _DOWN))
    ways[at - ~first] = 0


def _rounds(boxes: Boxes) -> Boxes:
    while len(boxes) > 1:
        before = len(boxes)
        boxes = _join(boxes)
        if before - len(boxes) <= before // _WORTH_A_ROUND:
            break
    return boxes


def _units(boxes: Boxes) -> bool:
    return bool(all(int(n[0]) == 1 and (is_constant(n) or (n == 1).all()) for n in (boxes.n_out, boxes.n_src)))


def _join(boxes: Boxes) -> Boxes:
    """Run one round of `merge`: each box joins the run of neighbours with the most pairs.

    A unit box may continue along a diagonal (both axes advance), across (src advances) or down (out advances);
    ties go across first, so that a full square becomes one rectangle instead of a diagonal and a rest.
    """
    # If no two boxes share an output row, only neighbours in output order can join, and none across.
    tiled = _tiled(boxes)
    if tiled and not any(_joinable(take(boxes, part)) for part in neighbours(len(boxes))):
        return boxes
    ways = []
    for way in (_BOTH, _DOWN) if tiled else (_BOTH, _DOWN, _ALONG):
        order = _candidates(boxes, way, tiled)
        lined = boxes if order is None else take(boxes, order)
        linked = _joined(lined, way)
        if bool(linked.any()):
            ways.append((way, order, lined, linked))
    if not ways:
        return boxes
    if len(ways) == 1:
        way, order, lined, linked = ways[0]
        joined = _collapse(lined, linked, way)
        if order is None:
            return joined
        rest = np.ones(len(boxes), dtype=np.bool_)
        rest[order] = False
        return sort(concat([joined, take(boxes, rest)]))
    choice = np.full(len(boxes), -1, dtype=np.int8)
    best = np.zeros(len(boxes), dtype=np.int64)
    for way, order, lined, linked in reversed(ways):
        weight = _run_weights(lined, linked)
        where = slice(None) if order is None else order
        better = weight > best[where]
        choice[np.flatnonzero(better) if order is None else order[better]] = way
        best[where] = np.maximum(best[where], weight)
    parts = [take(boxes, choice < 0)]
    for way, order, _, _ in ways:
        mine = np.flatnonzero(choice == way) if order is None else order[choice[order] == way]
        if len(mine) == 0:
            continue
        lined = take(boxes, mine)
        parts.append(_collapse(lined, _linked(lined, way), way))
    return sort(concat(parts))


def _tiled(boxes: Boxes) -> bool:
    return all(
        bool((boxes.out[part][1:] >= (boxes.out[part] + boxes.n_out[part])[:-1]).all())
        for part in neighbours(len(boxes))
    )


def _joinable(boxes: Boxes) -> bool:
    """Return whether any box joins the next one in output order; no two boxes may share an output row."""
    step = boxes.src[1:] - boxes.src[:-1]
    near = (boxes.out[:-1] + boxes.n_out[:-1] == boxes.out[1:]) & ((step == boxes.n_src[:-1]) | (step == 0))
    if not near.any():
        return False
    return bool(_joined(boxes, _BOTH).any() or _joined(boxes, _DOWN).any())


def _joined(boxes: Boxes, way: int) -> Bools:
    """Return for each box but the last whether it joins the next one along `way`."""
    fit = _fits(boxes, way)
    return _linked(boxes, way) & fit[1:] & fit[:-1]


def _candidates(boxes: Boxes, way: int, tiled: bool) -> Int64 | None:
    """Return indexes of the boxes that may join along `way`, neighbours adjacent; None for all boxes in order."""
    if tiled:
        return None
    mask = _fits(boxes, way)
    index = None if bool(mask.all()) else np.flatnonzero(mask)
    if way == _ALONG:
        return index
    out, src = (boxes.out, boxes.src) if index is None else (boxes.out[index], boxes.src[index])
    order = order_of(src - out, out) if way == _BOTH else order_of(src, out)
    if order is None:
        return index
    return order if index is None else index[order]


def _fits(boxes: Boxes, way: int) -> Bools:
    """Return whether each box has a shape that can join along `way`."""
    unit = (boxes.n_out == 1) & (boxes.n_src == 1)
    fits: Bools = unit | (boxes.diagonal if way == _BOTH else ~boxes.diagonal)
    return fits


def _linked(boxes: Boxes, way: int) -> Bools:
    """Return for each box but the last whether the next one continues it along `way`."""
    linked: Bools
    if way == _ALONG:
        linked = (boxes.out[:-1] == boxes.out[1:]) & (boxes.n_out[:-1] == boxes.n_out[1:])
    else:
        linked = boxes.out[:-1] + boxes.n_out[:-1] == boxes.out[1:]
    if way == _DOWN:
        linked &= (boxes.src[:-1] == boxes.src[1:]) & (boxes.n_src[:-1] == boxes.n_src[1:])
    else:
        linked &= boxes.src[:-1] + boxes.n_src[:-1] == boxes.src[1:]
    return linked


def _run_weights(boxes: Boxes, linked: Bools) -> Int64:
    """Return for each box the number of pairs in its run; 0 if it is alone."""
    cells = np.where(boxes.diagonal, boxes.n_out, boxes.n_out * boxes.n_src)
    heads = np.flatnonzero(np.concatenate([[True], ~linked]))
    size = np.diff(np.append(heads, len(cells)))
    return np.repeat(np.where(size > 1, np.add.reduceat(cells, heads), 0), size)


def _collapse(boxes: Boxes, linked: Bools, way: int) -> Boxes:
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
