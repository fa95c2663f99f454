"""Reading a tensor by either axis: only the row groups that a question touches."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from provspark.index_store.boxes import clip, concat, sort, take, transpose
from provspark.index_store.cache import Cache
from provspark.index_store.model import Boxes, Int64
from provspark.index_store.tensor_file import TensorFile

__all__ = ["Group", "TensorReader"]

_BATCH = 64
"""Row groups decoded at once: bounds the memory of a lookup beside its answer."""


class TensorReader:
    """A tensor asked by one of its axes.

    Parameters
    ----------
    file : TensorFile
        The file that holds the boxes.
    order : {"out", "src"}
        The leading axis: the one that lookups name runs of, and that answers are sorted by.
    guide : TensorFile or None
        Where `file` is sorted by the other axis: the file that tells which of its row groups hold a row.
    cache : Cache
        Decoded row groups; shared by readers.
    """

    def __init__(
        self,
        file: TensorFile,
        order: Literal["out", "src"],
        guide: TensorFile | None,
        cache: Cache[Group],
    ) -> None:
        self._file, self._order, self._guide, self._cache = file, order, guide, cache

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
            A row group that was read is not what was written.
        """
        if len(starts) == 0:
            return Boxes.empty()
        ids = self._touched(starts, lengths)
        parts = []
        for i in range(0, len(ids), _BATCH):
            batch = self._load(ids[i : i + _BATCH], keep=len(ids) <= _BATCH)
            parts += [group.cut(starts, lengths, self._order) for group in batch]
        return self._sorted(concat(parts))

    def all(self) -> Boxes:
        """All boxes, sorted by the leading axis."""
        return self._sorted(concat(self._file.groups(np.arange(len(self._file.layout.ends)))))

    def _touched(self, starts: Int64, lengths: Int64) -> Int64:
        """Row groups of `file` that may hold boxes within the runs."""
        ids = _overlapping(self._file, self._order, starts, lengths)
        guide = self._guide
        if guide is None or len(ids) < 2:
            return ids
        reader = TensorReader(guide, self._order, None, self._cache)
        blocks = reader.lookup(starts, lengths)
        number, n = (blocks.src, blocks.n_src) if self._order == "out" else (blocks.out, blocks.n_out)
        per, count = guide.layout.per, len(self._file.layout.ends)
        edges = np.zeros(count // per + 3, dtype=np.int64)
        np.add.at(edges, number, 1)
        np.add.at(edges, number + n, -1)
        marked = np.cumsum(edges) > 0
        return ids[marked[ids // per]]

    def _load(self, ids: Int64, *, keep: bool) -> list[Group]:
        """Decoded row groups; kept for the next lookup where this one is small."""
        where = self._file.where
        found = {i: self._cache.get((where, i)) for i in ids.tolist()}
        missing = np.array([i for i, group in found.items() if group is None], dtype=np.int64)
        for i, boxes in zip(missing.tolist(), self._file.groups(missing), strict=True):
            group = found[i] = Group(boxes)
            if keep:
                group.detach()
                self._cache.put((where, i), group, group.weight)
        return [group for group in found.values() if group is not None]

    def _sorted(self, boxes: Boxes) -> Boxes:
        return sort(boxes) if self._order == "out" else transpose(sort(transpose(boxes)))


class Group:
    """A decoded row group, and whether its starts and ends never fall along an axis."""

    def __init__(self, boxes: Boxes) -> None:
        self.boxes = boxes
        self._ends: dict[str, Int64 | None] = {}

    def detach(self) -> None:
        """Let go of the other row groups that were decoded with this one."""
        b = self.boxes
        self.boxes = Boxes(_own(b.out), _own(b.n_out), _own(b.src), _own(b.n_src), _own(b.diagonal))

    @property
    def weight(self) -> int:
        """Bytes, with what `cut` keeps beside."""
        b = self.boxes
        arrays = (b.out, b.n_out, b.src, b.n_src, b.diagonal)
        return 1024 + sum(a.nbytes for a in arrays if a.strides != (0,)) + b.out.nbytes

    def cut(self, starts: Int64, lengths: Int64, order: Literal["out", "src"]) -> Boxes:
        """Cut to runs; where starts and ends never fall, only boxes within the runs' span are looked at."""
        b = self.boxes
        first, n = (b.out, b.n_out) if order == "out" else (b.src, b.n_src)
        if order not in self._ends:
            ends = first + n
            rising = bool((first[1:] >= first[:-1]).all() and (ends[1:] >= ends[:-1]).all())
            self._ends[order] = ends if rising else None
        ends_or_none = self._ends[order]
        if ends_or_none is not None:
            begin = int(np.searchsorted(ends_or_none, starts[0], side="right"))
            stop = int(np.searchsorted(first, starts[-1] + lengths[-1], side="left"))
            b = take(b, slice(begin, max(begin, stop)))
        return clip(b, starts, lengths, order)


def _own(array: Any) -> Any:
    return array if array.strides == (0,) or array.base is None else array.copy()


def _overlapping(file: TensorFile, order: str, starts: Int64, lengths: Int64) -> Int64:
    """Row groups whose extent along an axis overlaps some run."""
    low, high = getattr(file.layout, f"{order}_low"), getattr(file.layout, f"{order}_high")
    first = np.searchsorted(starts + lengths, low, side="right")
    last = np.searchsorted(starts, high, side="left")
    return np.flatnonzero(last > first)
