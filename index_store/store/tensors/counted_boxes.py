"""Lookup of a few rows in a tensor file whose boxes are at computable places; avoids the overhead of numpy calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from provspark.index_store.store.tensors.file import TensorFile
from provspark.index_store.store.tensors.gaps import Even
from provspark.index_store.store.tensors.layout import Lead
from provspark.model.arrays import Int64
from provspark.model.boxes.lists import constant
from provspark.model.errors import CorruptIndexError

__all__ = ["MOST", "Few"]

MOST = 32
"""Maximum number of rows that are looked up this way; for more, numpy is as fast or faster (docs/dependencies.md)."""


@dataclass(frozen=True, slots=True)
class Few:
    """Boxes of a tensor file in which all columns are constant, except perhaps one column of starts.

    Parameters
    ----------
    file : TensorFile
    here : Even
        Places of the boxes on the axis of the lookup.
    there : Even or str
        Places on the other axis, or the name of the column that stores the starts there.
    wide : int
        Bytes per stored start.
    diagonal : bool
    n_there : int
        Length of each box on the other axis.
    """

    file: TensorFile
    here: Even
    there: Even | str
    wide: int
    diagonal: bool
    n_there: int

    @classmethod
    def of(cls, file: TensorFile, axis: Lead) -> Few | None:
        """Return the boxes of a file for lookups by an axis, or None if their places can't be computed."""
        layout = file.layout
        other: Lead = "src" if axis == "out" else "out"
        here, there = layout.even(axis), layout.even(other)
        starts, lengths = layout.columns[other], layout.columns[layout.length(other)]
        diagonal = layout.columns["diagonal"].constant
        if axis != layout.lead or here is None or lengths.constant is None or diagonal is None:
            return None
        if there is None and (starts.form != "plain" or starts.codec != "none" or not starts.width):
            return None
        return cls(file, here, there or other, starts.width, bool(diagonal), lengths.constant)

    def across(self, starts: Int64, lengths: Int64) -> tuple[Int64, Int64]:
        """Return starts and lengths on the other axis of what relates to some runs of this one; they may repeat."""
        gap, length, step, count = self.here.gap, self.here.length, self.here.step, self.here.count
        boxes: list[int] = []
        cut: list[tuple[int, int]] = []
        for start, n in zip(starts.tolist(), lengths.tolist(), strict=True):
            end = start + n
            for box in range(start // step, min((end + length - 1) // step, count)):
                boxes.append(box)
                if self.diagonal:
                    first = gap + box * step
                    cut.append((max(0, start - first), min(length, end - first)))
        there = self._starts(boxes)
        if not self.diagonal:
            return np.array(there, dtype=np.int64), constant(np.int64(self.n_there), len(there))
        stretches = [(first + low, high - low) for first, (low, high) in zip(there, cut, strict=True)]
        table = np.array(stretches, dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def _starts(self, boxes: list[int]) -> list[int]:
        there, wide, per = self.there, self.wide, self.file.layout.page_rows
        if isinstance(there, Even):
            return [there.gap + box * there.step for box in boxes]
        if not boxes:
            return []
        ids = list(dict.fromkeys(box // per for box in boxes))
        pages = dict(zip(ids, self.file.values(ids, there), strict=True))
        for number, page in pages.items():
            if len(page) != self.file.layout.boxes(number) * wide:
                raise CorruptIndexError(
                    self.file.where,
                    f"page {number} has {len(page)} bytes instead of {self.file.layout.boxes(number) * wide}",
                )
        starts = []
        for box in boxes:
            page, place = divmod(box, per)
            starts.append(int.from_bytes(pages[page][place * wide : place * wide + wide], "little"))
        return starts
