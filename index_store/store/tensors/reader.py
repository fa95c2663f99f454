"""Reader of a tensor by either axis; it reads only the pages that a question touches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TypeVar

import numpy as np

from provspark.index_store.store.tensors.counted_boxes import MOST, Few
from provspark.index_store.store.tensors.file import TensorFile
from provspark.index_store.store.tensors.layout import Lead
from provspark.index_store.store.tensors.packed import Hits, Packed
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.cutting import CuttingRuns
from provspark.model.boxes.lists import concat, every, sort, transpose

__all__ = ["TensorReader"]

T = TypeVar("T")
_KEPT = 256
_FEW = 1 << 14
"""A lookup of at most this many rows and `_KEPT` pages caches its pages."""
_MANY = 64
"""Rows per page above which nearly every page contains one, so that the guide is not read."""
_AT_ONCE = 1 << 17
"""Number of boxes decoded at once; it limits the memory of a lookup besides its result."""


class TensorReader:
    """Reader of a tensor by one of its axes.

    Parameters
    ----------
    file : TensorFile
        The file that holds the boxes.
    order : {"out", "src"}
        Axis whose rows are looked up, and by which results are sorted.
    guide : TensorFile, optional
        If `file` is sorted by the other axis, the file that finds its pages for a row.
    """

    def __init__(self, file: TensorFile, order: Lead, guide: TensorFile | None = None) -> None:
        self._file, self._order, self._guide = file, order, guide

    def lookup(self, starts: Int64, lengths: Int64) -> Boxes:
        """Return the boxes that overlap runs of the leading axis, cut to them.

        Parameters
        ----------
        starts, lengths : int64 arrays
            Sorted disjoint runs, none empty.

        Returns
        -------
        Boxes
            Sorted by the leading axis; a diagonal box is cut on both axes.

        Raises
        ------
        CorruptIndexError
            A page that was read is damaged.
        """
        return self._sorted(self._lookup(CuttingRuns(starts, lengths)))

    @property
    def scattered(self) -> bool:
        """Whether the file is sorted by the other axis: then looking up many rows costs about as much as a few."""
        return self._order != self._file.layout.lead

    def across(self, starts: Int64, lengths: Int64) -> Iterator[tuple[Int64, Int64]]:
        """Yield starts and lengths on the other axis of what `lookup` returns: in parts, in no order, with repeats."""
        few = self._few
        if few is not None and len(starts) <= MOST and int(lengths.sum()) <= MOST:
            yield few.across(starts, lengths)
        else:
            runs = CuttingRuns(starts, lengths)
            yield from self._each(runs, lambda p, hits: p.across(runs, self._order, hits))

    @cached_property
    def _few(self) -> Few | None:
        return Few.of(self._file, self._order)

    def all(self) -> Boxes:
        """Return all boxes, sorted by the leading axis."""
        pages = np.arange(self._file.layout.pages)
        return self._sorted(concat([self._file.decode(pages[some]) for some in self._batches(len(pages))]))

    def _lookup(self, runs: CuttingRuns) -> Boxes:
        return concat(list(self._each(runs, lambda p, hits: p.cut(runs, self._order, hits))))

    def _each(self, runs: CuttingRuns, use: Callable[[Packed, Hits | None], T]) -> Iterator[T]:
        """Call `use` with the boxes within the runs, some pages at a time, and yield its results."""
        if len(runs) == 0:
            return
        file, order, layout = self._file, self._order, self._file.layout
        even = layout.even(order) if order == layout.lead else None
        if even is None:
            ids = self._touched(runs)
            keep = self._keep(ids, runs)
            for some in self._batches(len(ids)):
                yield file.unpacked(ids[some], use, keep=keep)
            return
        box, run = even.hits(runs)
        ids, first, place = _paged(box, layout.page_rows)
        keep = self._keep(ids, runs)
        for some in self._batches(len(ids)):
            part = slice(int(first[some.start]), int(first[some.stop]))
            hits = place[part] - some.start * layout.page_rows, run[part]
            yield file.unpacked(ids[some], use, hits, keep=keep)

    def _keep(self, pages: Int64, runs: CuttingRuns) -> bool:
        return len(pages) <= _KEPT and runs.count <= _FEW

    def _batches(self, pages: int) -> list[slice]:
        per = max(1, _AT_ONCE // self._file.layout.page_rows)
        return [slice(i, min(i + per, pages)) for i in range(0, pages, per)]

    def _touched(self, runs: CuttingRuns) -> Int64:
        """Return the pages of `file` that may contain boxes within the runs."""
        layout = self._file.layout
        ids = layout.meet(runs, self._order)
        guide = self._guide
        if guide is None or len(ids) < 2 or runs.count > _MANY * len(ids):
            return ids
        blocks = TensorReader(guide, self._order)._lookup(runs)
        block, n = (blocks.src, blocks.n_src) if self._order == "out" else (blocks.out, blocks.n_out)
        edges = np.zeros(layout.pages // guide.layout.block + 2, dtype=np.int64)
        np.add.at(edges, block, 1)
        np.add.at(edges, block + n, -1)
        return ids[np.cumsum(edges)[ids // guide.layout.block] > 0]

    def _sorted(self, boxes: Boxes) -> Boxes:
        lead = boxes.out if self._order == "out" else boxes.src
        if (lead[1:] >= lead[:-1]).all():
            return boxes
        return sort(boxes) if self._order == "out" else transpose(sort(transpose(boxes)))


def _paged(boxes: Int64, per: int) -> tuple[Int64, Int64, Int64]:
    """Return the pages of boxes in ascending order, the index of each page's first box, and the boxes' places."""
    if len(boxes) and int(boxes[-1] - boxes[0]) == len(boxes) - 1 and every(boxes[1:] > boxes[:-1]):
        ids = np.arange(boxes[0] // per, boxes[-1] // per + 1)
        first = np.append(ids * per - boxes[0], len(boxes))
        first[0] = 0
        return ids, first, boxes - ids[0] * per
    page = boxes // per
    if len(boxes) and page[0] == page[-1]:
        return page[:1], np.array([0, len(boxes)]), boxes - page[0] * per
    new = np.ones(len(boxes) + 1, dtype=np.bool_)
    np.not_equal(page[1:], page[:-1], out=new[1:-1])
    first = np.flatnonzero(new)
    ids = page[first[:-1]]
    rank = np.cumsum(new[:-1]) - 1
    return ids, first, boxes + (rank - page) * per
