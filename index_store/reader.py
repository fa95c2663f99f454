"""Reading a tensor by either axis: only the pages that a question touches."""

from __future__ import annotations

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

    def all(self) -> Boxes:
        """All boxes, sorted by the leading axis."""
        pages = np.arange(self._file.layout.pages)
        return self._sorted(concat([self._file.decode(ids) for ids in self._batches(pages)]))

    def _lookup(self, runs: Runs) -> Boxes:
        if len(runs) == 0:
            return Boxes.empty()
        ids = self._touched(runs)
        keep = len(ids) <= _KEPT and int((runs.ends - runs.starts).sum()) <= _FEW
        batches = self._batches(ids)
        return concat([self._file.unpacked(some, lambda p: p.cut(runs, self._order), keep=keep) for some in batches])

    def _batches(self, ids: Int64) -> list[Int64]:
        per = max(1, _AT_ONCE // self._file.layout.page_rows)
        return [ids[i : i + per] for i in range(0, len(ids), per)]

    def _touched(self, runs: Runs) -> Int64:
        """Pages of `file` that may hold boxes within the runs."""
        layout = self._file.layout
        ids = layout.meet(runs, self._order)
        guide = self._guide
        if guide is None or len(ids) < 2:
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
