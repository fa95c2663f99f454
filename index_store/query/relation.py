"""Algebra of boxes: compose, unite and shrink relations between two axes.

A question keeps its answer so far as boxes. Their out axis numbers the selected rows (the labels), and their src axis
is the one that the walk has reached. Each further step is one `compose` with a tensor's boxes, for one row or ten
million.
"""

from __future__ import annotations

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import are_cells, concat, constant, every, expand, is_constant, picked, take, transpose
from provspark.model.boxes.pairs import merge
from provspark.model.boxes.pairs import unite as ranges
from provspark.model.runs import Runs, ordering, overlaps, unite

_SAMPLE = 4096


def identity(runs: Runs) -> Boxes:
    """Relate each row of a set to itself."""
    return Boxes(runs.starts, runs.lengths, runs.starts, runs.lengths, np.ones(len(runs.starts), dtype=np.bool_))


def labelled(runs: Runs) -> Boxes:
    """Relate the i-th row of a set, in ascending order, as label i, to that row."""
    last = np.cumsum(runs.lengths)
    ones = np.ones(len(runs.starts), dtype=np.bool_)
    return Boxes(last - runs.lengths, runs.lengths, runs.starts, runs.lengths, ones)


def gathered(runs: Runs) -> Boxes:
    """Relate all rows of a set to the one label 0."""
    n = len(runs.starts)
    zero, one = constant(np.int64(0), n), constant(np.int64(1), n)
    return Boxes(zero, one, runs.starts, runs.lengths, constant(np.False_, n))


def image(boxes: Boxes) -> Runs:
    """Return the rows of the src axis that any label relates to."""
    return Runs.united(boxes.src, boxes.n_src)


def compose(first: Boxes, second: Boxes) -> Boxes:
    """Relate a to c if `first` relates a to some b, and `second` that b to c. Boxes may repeat pairs."""
    if not len(first) or not len(second):
        return Boxes.empty()
    if len(first) == 1 and first.diagonal[0] and _covers(first, second):
        return Boxes(second.out + (first.out - first.src), second.n_out, second.src, second.n_src, second.diagonal)
    if is_constant(first.n_src) and first.n_src[0] == 1 and _is_map(second):
        at = first.src - second.out[0]
        if int(at.min()) >= 0 and int(at.max()) < len(second):
            return Boxes(
                first.out, first.n_out, second.src[at], picked(second.n_src, at), constant(np.False_, len(first))
            )
    i, j = overlaps(first.src, first.src + first.n_src, second.out, second.out + second.n_out)
    if (_full(first) and _full(second)) or (_cells(first) and _cells(second)):
        src = second.src[j]
        return Boxes(first.out[i], picked(first.n_out, i), src, picked(second.n_src, j), constant(np.False_, len(i)))
    if _full(first) and _ones(first.n_src) and every(second.diagonal):
        src = second.src[j]
        src += first.src[i]
        src -= second.out[j]
        single = constant(np.int64(1), len(i))
        return Boxes(first.out[i], picked(first.n_out, i), src, single, constant(np.False_, len(i)))
    one, other = take(first, i), take(second, j)
    a, b = one.src, other.out
    low = np.maximum(a, b)
    n = np.minimum(a + one.n_src, b + other.n_out) - low
    return Boxes(
        one.out + np.where(one.diagonal, low - a, 0),
        np.where(one.diagonal, n, one.n_out),
        other.src + np.where(other.diagonal, low - b, 0),
        np.where(other.diagonal, n, other.n_src),
        one.diagonal & other.diagonal,
    )


def _covers(one: Boxes, boxes: Boxes) -> bool:
    """Return whether the src rows of the box `one` include the out rows of all others."""
    low, high = int(one.src[0]), int(one.src[0] + one.n_src[0])
    return int(boxes.out.min()) >= low and int((boxes.out + boxes.n_out).max()) <= high


def _cells(boxes: Boxes) -> bool:
    """Whether each box is one pair."""
    return are_cells(boxes) or (_ones(boxes.n_out) and _ones(boxes.n_src))


def _full(boxes: Boxes) -> bool:
    """Whether no box is a diagonal."""
    return not np.count_nonzero(boxes.diagonal[:1] if is_constant(boxes.diagonal) else boxes.diagonal)


def _ones(lengths: Int64) -> bool:
    """Whether all are 1."""
    return every(lengths[:1] == 1) if is_constant(lengths) else every(lengths == 1)


def _is_map(boxes: Boxes) -> bool:
    """Return whether each box has one out row, these are consecutive, and no box is a diagonal."""
    if not (is_constant(boxes.n_out) and is_constant(boxes.diagonal)) or boxes.n_out[0] != 1 or boxes.diagonal[0]:
        return False
    out = boxes.out
    return int(out[-1] - out[0]) == len(out) - 1 and bool((out[1:] > out[:-1]).all())


def restrict(boxes: Boxes, runs: Runs) -> Boxes:
    """Keep the pairs whose src row is in a set."""
    return compose(boxes, identity(runs))


def shrink(boxes: Boxes) -> Boxes:
    """Return the same relation in fewer boxes: unite runs of equal labels, labels of equal runs, and diagonals.

    The pairs stay the same. Some boxes may still overlap in part; `boxes.pairs` is exact nevertheless.
    """
    if len(boxes) < 2:
        return boxes
    if (boxes.out[1:] >= (boxes.out[:-1] + boxes.n_out[:-1])).all():
        # Each label is in one box, so only neighbours can merge. If none of a sample can, few of the others can.
        return boxes if are_cells(boxes) and _scattered(boxes) else merge(boxes)
    long = boxes.diagonal & (boxes.n_out > 1)
    if long.all():
        return _merge_diagonals(boxes)
    if not long.any():
        labels = int(boxes.n_out.sum())
        single = labels * 4 <= len(boxes) * 5
        wide = _united(_each_label(boxes) if labels > len(boxes) else boxes) if single else _merge_src(boxes)
        if _one_label(wide) or (single and _lone(wide)):
            return wide
        tall = transpose(_merge_src(transpose(wide)))
        cell = (tall.n_out == 1) & (tall.n_src == 1)
        if np.count_nonzero(cell) < 2:
            return tall
        return concat([take(tall, ~cell), _merge_diagonals(take(tall, cell))])
    rest = shrink(take(boxes, ~long))
    cell = rest.diagonal | ((rest.n_out == 1) & (rest.n_src == 1))
    return concat([take(rest, ~cell), _merge_diagonals(concat([take(boxes, long), take(rest, cell)]))])


def _lone(boxes: Boxes) -> bool:
    """Return whether few runs recur or continue at the next label, by a sample; boxes are sorted by label and row."""
    if len(boxes) <= _SAMPLE:
        return False
    low, span = int(boxes.src.min()), int(boxes.src.max() - boxes.src.min()) + 2
    first = int(boxes.out[0])
    if (int(boxes.out[-1]) - first + 2) * span >= 2**63:
        return False
    key = (boxes.out - first) * span
    key += boxes.src
    key -= low
    at = np.arange(0, len(boxes), len(boxes) // _SAMPLE)
    n_src = boxes.n_src[at]
    together = 0
    for further in (0, 1):
        near = np.minimum(key.searchsorted(key[at] + (span + further)), len(boxes) - 1)
        same = (key[near] == key[at] + (span + further)) & (boxes.n_src[near] == n_src)
        together += int(np.count_nonzero(same & (n_src == 1) if further else same))
    return together * 4 < len(at)


def _scattered(boxes: Boxes) -> bool:
    """Return whether hardly any cell continues the one before it, by a sample."""
    at = np.arange(0, len(boxes) - 1, max(1, len(boxes) // _SAMPLE))
    step = boxes.src[at + 1] - boxes.src[at]
    beside = ((step == 0) | (step == 1)) & (boxes.out[at + 1] - boxes.out[at] == 1)
    return len(boxes) > _SAMPLE and int(beside.sum()) * 100 < len(at)


def united(parts: list[Boxes]) -> Boxes:
    """Return the union of relations between the same axes. Several are shrunk into one."""
    return parts[0] if len(parts) == 1 else shrink(concat(parts))


def _one_label(boxes: Boxes) -> bool:
    return bool((boxes.out == boxes.out[0]).all() and (boxes.n_out == boxes.n_out[0]).all())


def _merge_src(boxes: Boxes) -> Boxes:
    """Unite the src runs of rectangles with equal out runs."""
    out, n_out, src, n_src = boxes.out, boxes.n_out, boxes.src, boxes.n_src
    order = ordering(out, n_out, src)
    if order is not None:
        out, n_out, src, n_src = out[order], n_out[order], src[order], n_src[order]
    group = np.zeros(len(out), dtype=np.int64)
    np.cumsum((out[1:] != out[:-1]) | (n_out[1:] != n_out[:-1]), out=group[1:])
    first, start, end = unite(group, src, src + n_src)
    return Boxes(out[first], n_out[first], start, end - start, np.zeros(len(first), dtype=np.bool_))


def _each_label(boxes: Boxes) -> Boxes:
    """Split rectangles into one for each label."""
    box, k = expand(boxes.n_out)
    one = constant(np.int64(1), len(box))
    return Boxes(boxes.out[box] + k, one, boxes.src[box], picked(boxes.n_src, box), constant(np.False_, len(box)))


def _united(boxes: Boxes) -> Boxes:
    """Do the same as `_merge_src` for boxes of one label each, which is faster."""
    one = constant(np.int64(1), len(boxes))
    return ranges(boxes.out, boxes.src, one if _ones(boxes.n_src) else boxes.n_src)


def _merge_diagonals(boxes: Boxes) -> Boxes:
    """Unite diagonals of equal offset that touch or overlap."""
    offset, out, n_out = boxes.src - boxes.out, boxes.out, boxes.n_out
    order = ordering(offset, out)
    if order is not None:
        offset, out, n_out = offset[order], out[order], n_out[order]
    first, start, end = unite(offset, out, out + n_out)
    n = end - start
    return Boxes(start, n, start + offset[first], n, np.ones(len(first), dtype=np.bool_))
