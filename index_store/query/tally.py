"""Counts of a relation's pairs, by label and by a code of their source rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from provspark.index_store.query.relation import shrink
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import take
from provspark.model.boxes.overlap import disjoint
from provspark.model.runs import Runs

_AT_ONCE = 1 << 22
"""Maximum number of source rows processed together."""


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Number of distinct pairs of each label and code, sorted by label, then code."""

    label: Int64
    code: Int64
    count: Int64


def tally(boxes: Boxes, rows: Runs | None = None, codes: Int64 | None = None) -> Tally:
    """Count the pairs of each label, by the code of their source row.

    Parameters
    ----------
    boxes : Boxes
        From labels to source rows. Repeated pairs count once.
    rows, codes : optional
        A set that contains all source rows, and the code of each row of the set, in order. Default: code 0 for all.

    Notes
    -----
    The source rows of a rectangle are processed once, however many labels it has.
    """
    boxes = disjoint(shrink(boxes))
    width = 1 if codes is None or not len(codes) else int(codes.max()) + 1
    none = np.zeros(0, dtype=np.int64)
    parts = [(none, none, none)]
    slant = take(boxes, boxes.diagonal)
    if codes is None:
        for box, k in _places(slant.n_out):
            parts.append((slant.out[box] + k, k * 0, k * 0 + 1))
    else:
        assert rows is not None
        first = _position(rows, slant.src)
        for box, k in _places(slant.n_out):
            parts.append((slant.out[box] + k, codes[first[box] + k], k * 0 + 1))
    upright = take(boxes, ~boxes.diagonal)
    if codes is None:
        whole = np.arange(len(upright), dtype=np.int64)
        parts.append(_spread(upright, whole, whole * 0, upright.n_src))
    else:
        assert rows is not None
        first = _position(rows, upright.src)
        for box, k in _places(upright.n_src):
            key, count = np.unique(box * width + codes[first[box] + k], return_counts=True)
            parts.append(_spread(upright, key // width, key % width, count))
    label, code, count = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _summed(label, code, count, width)


def distinct_pairs(boxes: Boxes) -> int:
    """Return the number of distinct pairs."""
    return disjoint(shrink(boxes)).edges


def _places(lengths: Int64) -> Iterator[tuple[Int64, Int64]]:
    """Yield box and place within the box, for every place of every box, up to `_AT_ONCE` at a time."""
    last = np.cumsum(lengths)
    total = int(last[-1]) if len(last) else 0
    for low in range(0, total, _AT_ONCE):
        place = np.arange(low, min(low + _AT_ONCE, total))
        box = last.searchsorted(place, "right")
        yield box, place - (last - lengths)[box]


def _position(rows: Runs, at: Int64) -> Int64:
    """Return the places of rows within a set."""
    run = rows.starts.searchsorted(at, "right") - 1
    before: Int64 = (np.cumsum(rows.lengths) - rows.lengths)[run] + at - rows.starts[run]
    return before


def _spread(boxes: Boxes, box: Int64, code: Int64, count: Int64) -> tuple[Int64, Int64, Int64]:
    """Repeat code and count for every label of a box."""
    high = boxes.n_out[box]
    within = np.arange(int(high.sum())) - np.repeat(np.cumsum(high) - high, high)
    return np.repeat(boxes.out[box], high) + within, np.repeat(code, high), np.repeat(count, high)


def _summed(label: Int64, code: Int64, count: Int64, width: int) -> Tally:
    if not len(label):
        return Tally(label, code, count)
    key = label * width + code
    order = np.argsort(key, kind="stable")
    key, count = key[order], count[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    return Tally(key[first] // width, key[first] % width, np.add.reduceat(count, first))
