"""Choice of a tensor's files by the estimated sizes of a sample of its boxes (docs/format.md, "Which files")."""

from __future__ import annotations

from typing import Literal

import numpy as np

from provspark.index_store.store.tensors import encoding
from provspark.index_store.store.tensors.encoding import BoxFile
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import alike, chunks, constant, is_constant, picked, sort_rows, take, transpose
from provspark.model.boxes.pairs import points, sort, unite
from provspark.model.boxes.spool import Dealt, Parts, Spool, recut

__all__ = ["TensorFiles", "chosen", "cover", "local", "spooled_cover", "to_a_block"]

TensorFiles = Literal["one", "guide", "both", "turned"]
"""Files of a tensor: one in output order; the same with a guide, or with a copy, in source order; or one in source
order with a guide in output order."""

_LOCAL = 8
"""One file serves both axes if its pages' extents on the other axis overlap no more than this on average."""
_FEW = 8
"""A file of at most this many pages serves both axes: a lookup by the other axis reads them all."""
_BLOCKS = 128
"""Maximum number of blocks that a guide distinguishes: at most seven bits per edge."""
_EXACT_WORTH = 1.15
"""A second exact copy replaces the guide if the tensor grows by at most this factor."""
_SRC_WORTH = 0.75
"""Boxes are stored in source order, with a guide in output order, if that shrinks the tensor to this factor."""
_WINDOWS = 4
_WINDOW = 8_192
"""Boxes in each of the windows of an axis that sizes are estimated from."""


def chosen(boxes: Boxes, in_order: BoxFile) -> TensorFiles:
    """Choose the files for boxes that are sorted by `out`; `in_order` is the file of boxes in this order."""
    if local(boxes):
        return "one"
    by_out = in_order.size
    per = to_a_block(len(boxes)) * encoding.PAGE_ROWS
    marks = _marks(boxes.src)
    exact = guide = 0.0
    seen = 0
    for index in _windows(boxes.src, marks):
        exact += BoxFile(transpose(sort(transpose(take(boxes, index)))), "src").size
        guide += BoxFile(transpose(cover(index // per, boxes.src[index], picked(boxes.n_src, index))), "src").size
        seen += len(index)
    exact, guide = (size * len(boxes) / seen for size in (exact, guide))
    if exact < _SRC_WORTH * (by_out + guide):
        turned = exact + _guide_out(boxes, marks)
        if turned < _SRC_WORTH * (by_out + min(guide, exact)):
            return "turned"
    return "both" if by_out + exact <= _EXACT_WORTH * (by_out + guide) else "guide"


def local(boxes: Boxes | Parts | Spool) -> bool:
    """Return whether a source row is within the extents of few pages of a file in output order."""
    if len(boxes) <= _FEW * encoding.PAGE_ROWS:
        return True
    total, least, most = 0, None, 0
    parts = [boxes] if isinstance(boxes, Boxes) else recut(boxes.parts(), encoding.group_rows())
    for part in parts:
        heads = np.arange(0, len(part), encoding.PAGE_ROWS)
        low = np.minimum.reduceat(part.src, heads)
        if is_constant(part.n_src):
            high = np.maximum.reduceat(part.src, heads) + part.n_src[0]
        else:
            high = np.maximum.reduceat(part.src + part.n_src, heads)
        total += int((high - low).sum())
        first, most = int(low.min()), max(most, int(high.max()))
        least = first if least is None else min(least, first)
    return total <= _LOCAL * (most - (least or 0))


def to_a_block(boxes: int) -> int:
    """Return the number of pages per block in a guide to a file of this many boxes."""
    per, pages = 1, -(-boxes // encoding.PAGE_ROWS)
    while -(-pages // per) > _BLOCKS:
        per *= 2
    return per


def cover(block: Int64, start: Int64, length: Int64) -> Boxes:
    """Return the boxes of a guide, sorted by its axis: `out` is the axis, `src` is the block."""
    single = len(length) and is_constant(length) and int(length[0]) == 1
    united = points(block, start) if single else None
    if united is None:
        boxes = unite(block, start, length)
        united = boxes.out, boxes.src, boxes.n_src
    among, first, n = united
    if alike(n):
        first, among = sort_rows(first, among)
    else:
        first, among, n = sort_rows(first, among, n)
    return Boxes(first, n, among, constant(np.int64(1), len(n)), constant(np.False_, len(n)))


def spooled_cover(boxes: Spool) -> Spool:
    """Return the boxes of a guide in source order, from boxes in output order that do not fit in memory."""
    per = to_a_block(len(boxes)) * encoding.PAGE_ROWS
    dealt = Dealt("src", boxes.end, len(boxes))
    at = 0
    for part in boxes.parts():
        dealt.add(unite((np.arange(len(part)) + at) // per, part.src, part.n_src))
        at += len(part)
    covers = Spool()
    for _, group in dealt.files():
        covers.add(transpose(cover(group.out, group.src, group.n_src)))
    return covers


def _marks(values: Int64) -> Int64:
    """Return a sorted sample of an axis' values, evenly spaced by count."""
    return np.sort(values[:: max(1, len(values) // (_BLOCKS * _FEW))])


def _windows(values: Int64, marks: Int64) -> list[Int64]:
    """Return indexes of the values in a few windows of an axis, or all indexes if there are few values."""
    if len(values) <= _WINDOWS * _WINDOW:
        return [np.arange(len(values))]
    wide = max(1, len(marks) * _WINDOW // len(values))
    first = np.linspace(0, len(marks) - 1 - wide, _WINDOWS).astype(np.int64)
    bounds = list(zip(marks[first], np.maximum(marks[first + wide], marks[first] + 1), strict=True))
    windows: list[list[Int64]] = [[] for _ in bounds]
    for part in chunks(len(values)):
        some = values[part]
        for inside, (low, high) in zip(windows, bounds, strict=True):
            inside.append(np.flatnonzero((some >= low) & (some < high)) + part.start)
    return [np.concatenate(inside) for inside in windows]


def _guide_out(boxes: Boxes, marks: Int64) -> float:
    """Estimate the size of a guide in output order to boxes in source order; `marks` samples their source rows."""
    pages = -(-len(boxes) // encoding.PAGE_ROWS)
    blocks = -(-pages // to_a_block(len(boxes)))
    bounds = marks[np.linspace(0, len(marks), blocks, endpoint=False).astype(np.int64)[1:]]
    starts = [0] if len(boxes) <= _WINDOWS * _WINDOW else np.linspace(0, len(boxes) - _WINDOW, _WINDOWS).astype(int)
    size = seen = 0
    for start in starts:
        part = slice(start, len(boxes) if len(starts) == 1 else start + _WINDOW)
        block = np.searchsorted(bounds, boxes.src[part], "right")
        size += BoxFile(cover(block, boxes.out[part], boxes.n_out[part]), "out").size
        seen += len(block)
    return size * len(boxes) / seen
