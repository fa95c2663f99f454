"""Intersection and difference of relations, as boxes."""

from __future__ import annotations

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import concat, expand, take
from provspark.model.runs import ordering, overlaps, unite


def common(a: Boxes, b: Boxes) -> Boxes:
    """Return the pairs that are in both relations. Boxes may repeat pairs."""
    return _crossings(a, b)[1]


def without(a: Boxes, b: Boxes) -> Boxes:
    """Return the pairs of the first relation that are not in the second."""
    at, _ = _crossings(a, b)
    touched = np.zeros(len(a), dtype=np.bool_)
    touched[at] = True
    clean, rest = take(a, ~touched), _lines(take(a, touched))
    at, cut = _crossings(rest, b)
    # Each box is now a line, and intervals along it are removed.
    along = rest.diagonal | (rest.n_src == 1)
    low = np.where(along[at], cut.out - rest.out[at], cut.src - rest.src[at])
    n = np.where(along[at], cut.n_out, cut.n_src)
    line, low, high = _gaps(np.where(along, rest.n_out, rest.n_src), at, low, low + n)
    n = high - low
    slant, upright = rest.diagonal[line], along[line]
    left = Boxes(
        rest.out[line] + np.where(upright, low, 0),
        np.where(upright, n, 1),
        rest.src[line] + np.where(slant | ~upright, low, 0),
        np.where(slant | ~upright, n, 1),
        slant,
    )
    return concat([clean, left])


def same_pairs(a: Boxes, b: Boxes) -> bool:
    """Whether two relations contain the same pairs."""
    alike = len(a) == len(b) and all(
        np.array_equal(x, y)
        for x, y in zip(
            (a.out, a.n_out, a.src, a.n_src, a.diagonal), (b.out, b.n_out, b.src, b.n_src, b.diagonal), strict=True
        )
    )
    return alike or (not len(without(a, b)) and not len(without(b, a)))


def _lines(boxes: Boxes) -> Boxes:
    """Cut rectangles that are longer than 1 on both axes into rows."""
    wide = ~boxes.diagonal & (boxes.n_out > 1) & (boxes.n_src > 1)
    if not wide.any():
        return boxes
    wides = take(boxes, wide)
    i, k = expand(wides.n_out)
    one = np.ones(len(i), dtype=np.int64)
    rows = Boxes(wides.out[i] + k, one, wides.src[i], wides.n_src[i], one < 0)
    return concat([take(boxes, ~wide), rows])


def _gaps(lengths: Int64, line: Int64, low: Int64, high: Int64) -> tuple[Int64, Int64, Int64]:
    """Return what intervals leave of lines 0 … length-1: the line's number, the begin and the end of each gap."""
    # With an empty interval at both ends of each line, every gap is between two intervals.
    all_lines, zero = np.arange(len(lengths), dtype=np.int64), np.zeros(len(lengths), dtype=np.int64)
    line = np.concatenate([all_lines, all_lines, line])
    low, high = np.concatenate([zero, lengths, low]), np.concatenate([zero, lengths, high])
    order = ordering(line, low)
    if order is not None:
        line, low, high = line[order], low[order], high[order]
    first, low, high = unite(line, low, high)
    line = line[first]
    rest = np.flatnonzero((line[1:] == line[:-1]) & (low[1:] > high[:-1]))
    return line[rest], high[rest], low[rest + 1]


def _crossings(a: Boxes, b: Boxes) -> tuple[Int64, Boxes]:
    """Return each piece that a box of the first and a box of the second share, and the index of the first's box."""
    if not len(a) or not len(b):
        return np.zeros(0, dtype=np.int64), Boxes.empty()
    i, j = overlaps(a.out, a.out + a.n_out, b.out, b.out + b.n_out)
    x, y = take(a, i), take(b, j)
    out = np.maximum(x.out, y.out)
    out_end = np.minimum(x.out + x.n_out, y.out + y.n_out)
    src = np.maximum(x.src, y.src)
    src_end = np.minimum(x.src + x.n_src, y.src + y.n_src)
    slant = x.diagonal | y.diagonal
    shift = np.where(x.diagonal, x.src - x.out, y.src - y.out)
    low = np.maximum(out, src - shift)
    out, out_end = np.where(slant, low, out), np.where(slant, np.minimum(out_end, src_end - shift), out_end)
    src, src_end = np.where(slant, low + shift, src), np.where(slant, out_end + shift, src_end)
    keep = (out < out_end) & (src < src_end)
    both = x.diagonal & y.diagonal
    keep &= ~both | (x.src - x.out == y.src - y.out)
    pieces = Boxes(out, out_end - out, src, src_end - src, slant)
    return i[keep], take(pieces, keep)
