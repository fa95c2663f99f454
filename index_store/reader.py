"""Reading a tensor by either axis: only the row groups that a question touches."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from provspark.index_store.box_lists import concat, sort, transpose
from provspark.index_store.cache import Cache
from provspark.index_store.cutting import Runs
from provspark.index_store.model import Boxes, Int64
from provspark.index_store.tensor_file import TensorFile

__all__ = ["Group", "TensorReader"]

_KEPT = 64
"""A lookup of no more row groups than this keeps them decoded for the next one."""
_BATCH = 256
"""Row groups decoded at once: bounds the memory of a lookup beside its answer."""


class Group:
    """Decoded boxes of a row group or of several, ready to be cut."""

    def __init__(self, boxes: Boxes) -> None:
        self.boxes = boxes
        self._rising: dict[str, Int64 | None] = {}

    @classmethod
    def detached(cls, boxes: Boxes) -> Group:
        """A group that does not hold on to what was decoded with it."""
        b = boxes
        return cls(Boxes(_own(b.out), _own(b.n_out), _own(b.src), _own(b.n_src), _own(b.diagonal)))

    @property
    def weight(self) -> int:
        """Bytes, with what `cut` keeps beside."""
        b = self.boxes
        arrays = (b.out, b.n_out, b.src, b.n_src, b.diagonal)
        return 1024 + sum(a.nbytes for a in arrays if a.strides != (0,)) + 2 * b.out.nbytes

    def cut(self, runs: Runs, axis: Literal["out", "src"]) -> Boxes:
        """Cut to runs of an axis; a search by run where neither starts nor ends of the boxes fall along it."""
        b = self.boxes
        if axis not in self._rising:
            starts, n = (b.out, b.n_out) if axis == "out" else (b.src, b.n_src)
            ends = starts + n
            rising = bool((starts[1:] >= starts[:-1]).all() and (ends[1:] >= ends[:-1]).all())
            self._rising[axis] = ends if rising else None
        rising_ends = self._rising[axis]
        return runs.cut(b, axis) if rising_ends is None else runs.cut_rising(b, rising_ends, axis)


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
        self, file: TensorFile, order: Literal["out", "src"], guide: TensorFile | None, cache: Cache[Group]
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
        return self._sorted(self._lookup(Runs(starts, lengths)))

    def all(self) -> Boxes:
        """All boxes, sorted by the leading axis."""
        return self._sorted(concat(self._file.decode(np.arange(len(self._file.layout.ends)))))

    def _lookup(self, runs: Runs) -> Boxes:
        if len(runs) == 0:
            return Boxes.empty()
        ids = self._touched(runs)
        if len(ids) <= _KEPT:
            return concat([group.cut(runs, self._order) for group in self._kept(ids)])
        parts = []
        for i in range(0, len(ids), _BATCH):
            decoded = self._file.decode(ids[i : i + _BATCH])
            parts += [Group(boxes).cut(runs, self._order) for boxes in decoded]
        return concat(parts)

    def _touched(self, runs: Runs) -> Int64:
        """Row groups of `file` that may hold boxes within the runs."""
        layout = self._file.layout
        low, high = getattr(layout, f"{self._order}_low"), getattr(layout, f"{self._order}_high")
        ids = runs.meet(low, high)
        guide = self._guide
        if guide is None or len(ids) < 2:
            return ids
        blocks = TensorReader(guide, self._order, None, self._cache)._lookup(runs)
        block, n = (blocks.src, blocks.n_src) if self._order == "out" else (blocks.out, blocks.n_out)
        edges = np.zeros(len(layout.ends) // guide.layout.block + 2, dtype=np.int64)
        np.add.at(edges, block, 1)
        np.add.at(edges, block + n, -1)
        return ids[np.cumsum(edges)[ids // guide.layout.block] > 0]

    def _kept(self, ids: Int64) -> list[Group]:
        """Decoded row groups, from the cache or into it."""
        where = self._file.where
        found = {i: self._cache.get((where, i)) for i in ids.tolist()}
        missing = [i for i, group in found.items() if group is None]
        for i, boxes in zip(missing, self._file.groups(np.array(missing, dtype=np.int64)), strict=True):
            group = found[i] = Group.detached(boxes)
            self._cache.put((where, i), group, group.weight)
        return [group for group in found.values() if group is not None]

    def _sorted(self, boxes: Boxes) -> Boxes:
        return sort(boxes) if self._order == "out" else transpose(sort(transpose(boxes)))


def _own(array: Any) -> Any:
    return array if array.strides == (0,) or array.base is None else array.copy()
