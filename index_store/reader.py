"""Reading a tensor by either axis: only the pages that a question touches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from provspark.index_store.box_lists import concat, sort, transpose
from provspark.index_store.cutting import Runs
from provspark.index_store.layout import Lead
from provspark.index_store.model import Boxes, Int64
from provspark.index_store.tensor_file import TensorFile

__all__ = ["TensorReader"]

_KEPT = 256
_FEW = 1 << 14
"""A lookup of no more pages and rows keeps the pages for the next one."""
_MANY = 64
"""Rows a page: of more of them hardly a page holds none, so that it is not asked which."""
_AT_ONCE = 1 << 17
"""Boxes unpacked at once: bounds the memory of a lookup beside its answer."""


class TensorReader:
    """A tensor asked by one of its axes.

    Parameters
    ----------
    file : TensorFile
        The file that holds the boxes.
    order : {"out", "src"}
        The leading axis: the one that lookups name runs of, and that answers are sorted by.
    guide : TensorFile, optional
        Where `file` is sorted by the other axis: the file that tells which of its pages hold a row.
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
            A page that was read is not what was written.
        """
        return self._sorted(self._lookup(Runs(starts, lengths)))

    @property
    def scattered(self) -> bool:
        """Whether boxes of neighbouring rows may lie anywhere: one pass for many rows costs what one for few does."""
        return self._order != self._file.layout.lead

    def each(self, starts: Int64, lengths: Int64) -> Iterator[Boxes]:
        """What `lookup` finds, bit by bit and in no order."""
        runs = Runs(starts, lengths)
        if len(runs):
            ids = self._touched(runs)
            for some in self._batches(ids):
                yield self._cut(some, runs, self._keep(ids, runs))

    def all(self) -> Boxes:
        """All boxes, sorted by the leading axis."""
        pages = np.arange(self._file.layout.pages)
        return self._sorted(concat([self._file.decode(ids) for ids in self._batches(pages)]))

    def _lookup(self, runs: Runs) -> Boxes:
        if len(runs) == 0:
            return Boxes.empty()
        ids = self._touched(runs)
        keep = self._keep(ids, runs)
        return concat([self._cut(some, runs, keep) for some in self._batches(ids)])

    def _cut(self, pages: Int64, runs: Runs, keep: bool) -> Boxes:
        return self._file.unpacked(pages, lambda p: p.cut(runs, self._order), keep=keep)

    def _keep(self, pages: Int64, runs: Runs) -> bool:
        return len(pages) <= _KEPT and runs.count <= _FEW

    def _batches(self, ids: Int64) -> list[Int64]:
        per = max(1, _AT_ONCE // self._file.layout.page_rows)
        return [ids[i : i + per] for i in range(0, len(ids), per)]

    def _touched(self, runs: Runs) -> Int64:
        """Pages of `file` that may hold boxes within the runs."""
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
