"""Separation of overlapping boxes: a tensor is boolean, so a pair in two boxes is one pair."""

from __future__ import annotations

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import neighbours
from provspark.model.boxes.pairs import concat, expand, merge, sort, take
from provspark.model.errors import InvalidWriteError

__all__ = ["disjoint"]

_MOST_PIECES = 1 << 27


def disjoint(boxes: Boxes) -> Boxes:
    """Cut boxes so that no pair is in two of them; the set of pairs stays the same.

    The output axis is cut where any box begins or ends. Within such a strip, rectangles are ranges of the source
    axis, which are united; a diagonal keeps only what no rectangle and no other diagonal contains.

    Raises
    ------
    InvalidWriteError
        Too many boxes cross to separate them in memory.
    """
    boxes = sort(boxes)
    if len(boxes) < 2 or _plainly_disjoint(boxes):
        return boxes
    points = np.unique(np.concatenate([boxes.out, boxes.out + boxes.n_out]))
    low = np.searchsorted(points, boxes.out)
    counts = np.searchsorted(points, boxes.out + boxes.n_out) - low
    if int(counts.sum()) > _MOST_PIECES:
        crossings = int(counts.sum())
        raise InvalidWriteError(f"{len(boxes)} boxes cross in {crossings} places. Pass pairs instead.")
    box, k = expand(counts)
    strip = low[box] + k
    height = points[strip + 1] - points[strip]
    diagonal = boxes.diagonal[box] & (height > 1)
    src = boxes.src[box] + np.where(boxes.diagonal[box], points[strip] - boxes.out[box], 0)
    pieces = Boxes(points[strip], height, src, np.where(boxes.diagonal[box], height, boxes.n_src[box]), diagonal)
    span = int((pieces.src + pieces.n_src).max()) + 1
    if len(points) * span >= 2**63:
        raise InvalidWriteError(f"{len(boxes)} boxes over {span} source rows can't be separated. Pass pairs instead.")
    rect, slant = np.flatnonzero(~diagonal), np.flatnonzero(diagonal)
    start = strip[rect] * span + pieces.src[rect]
    order = np.argsort(start, kind="stable")
    rect, start = rect[order], start[order]
    reach = np.maximum.accumulate(start + pieces.n_src[rect])
    head = np.concatenate([np.ones(min(1, len(rect)), dtype=np.bool_), start[1:] >= reach[:-1]])
    line = strip[slant] * span + pieces.src[slant]
    _, first = np.unique(line, return_index=True)
    slant, line = slant[first], line[first]
    before = np.searchsorted(start, line + pieces.n_src[slant]) - 1
    hit = (before >= 0) & (reach[before] > line) if len(rect) else np.zeros(len(slant), dtype=np.bool_)
    if bool(head.all()) and not bool(hit.any()) and len(first) == int(diagonal.sum()):
        return boxes
    heads = np.flatnonzero(head)
    united = take(pieces, rect[heads])
    last = np.append(heads[1:], len(rect)) - 1
    wide = reach[last] - start[heads] if len(heads) else heads
    united = Boxes(united.out, united.n_out, united.src, wide, united.diagonal)
    free = _outside(take(pieces, slant[hit]), line[hit], start, reach)
    return merge(concat([united, take(pieces, slant[~hit]), free]))


def _plainly_disjoint(boxes: Boxes) -> bool:
    """Return whether sorted boxes share no output row, or are ranges of single rows beside each other."""
    shared = False
    for part in neighbours(len(boxes)):
        some = take(boxes, part)
        apart = some.out[:-1] + some.n_out[:-1] <= some.out[1:]
        if apart.all():
            continue
        shared = True
        beside = (some.out[1:] == some.out[:-1]) & (some.src[:-1] + some.n_src[:-1] <= some.src[1:])
        if not (apart | beside).all():
            return False
    return not shared or bool((boxes.n_out == 1).all())


def _outside(diagonals: Boxes, line: Int64, start: Int64, reach: Int64) -> Boxes:
    """Return single pairs of diagonal pieces that are in no rectangle of their strip."""
    box, k = expand(diagonals.n_out)
    out, src, at = diagonals.out[box] + k, diagonals.src[box] + k, line[box] + k
    before = np.searchsorted(start, at, side="right") - 1
    free = (before < 0) | (reach[before] <= at)
    one = np.ones(int(free.sum()), dtype=np.int64)
    return Boxes(out[free], one, src[free], one, np.zeros(len(one), dtype=np.bool_))
