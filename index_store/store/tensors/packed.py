"""Boxes of some pages of a tensor file, decoded only as far as a question needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from provspark.index_store.store.tensors.gaps import AnyInts, Even, Gaps
from provspark.index_store.store.tensors.layout import COLUMNS, Layout, Lead
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.cutting import CuttingRuns
from provspark.model.boxes.lists import constant, is_constant

__all__ = ["Hits", "Packed", "Unpacked"]

Hits = tuple[Int64, Int64]
"""Indexes of boxes, and of the run that each overlaps."""


class Unpacked(Protocol):
    """Stored column of some pages."""

    def all(self) -> AnyInts:
        """Return all values."""

    def at(self, index: Int64) -> AnyInts:
        """Return the values at some indexes."""


class Packed:
    """Boxes of some pages, decoded only as far as needed.

    Parameters
    ----------
    layout : Layout
    pages : int64 array
        One or more pages in ascending order; only the file's last page may have fewer boxes.
    stored : mapping of Unpacked
        The pages' columns that are stored in the file.
    """

    def __init__(self, layout: Layout, pages: Int64, stored: Mapping[str, Unpacked]) -> None:
        self._layout, self._pages, self._stored = layout, pages, stored
        per = layout.page_rows
        self._total = (len(pages) - 1) * per + layout.boxes(int(pages[-1]))
        self._raw: dict[str, AnyInts | int] = {}
        self._known: dict[str, Any] = {}
        self._axes: dict[str, Even | Gaps] = {}

    def boxes(self) -> Boxes:
        """Return all boxes."""
        return Boxes(*map(self._column, COLUMNS))

    def cut(self, runs: CuttingRuns, axis: Lead, hits: Hits | None = None) -> Boxes:
        """Return one box for each overlapping (box, run), cut to the run; decode only these if possible.

        `hits` are the indexes of these boxes and runs, if known.
        """
        hits = hits or self._hits(runs, axis)
        return runs.cut(self.boxes(), axis) if hits is None else runs.pieces(self._take(hits[0]), hits[1], axis)

    def across(self, runs: CuttingRuns, axis: Lead, hits: Hits | None = None) -> tuple[Int64, Int64]:
        """Return starts and lengths on the other axis of the boxes that `cut` returns."""
        other: Lead = "src" if axis == "out" else "out"
        hits = hits or self._hits(runs, axis)
        diagonal = self._layout.columns["diagonal"].constant
        if hits is None or diagonal is None:
            boxes = self.cut(runs, axis, hits)
            return getattr(boxes, other), getattr(boxes, f"n_{other}")
        box, run = hits
        there = self._taken(other, box)
        if not diagonal:
            return there, self._taken(f"n_{other}", box)
        here = self._taken(axis, box)
        low = np.maximum(here, runs.starts[run])
        return there + (low - here), np.minimum(here + self._taken(f"n_{axis}", box), runs.ends[run]) - low

    def _hits(self, runs: CuttingRuns, axis: Lead) -> Hits | None:
        """Return each overlapping (box, run); None if the boxes' starts or ends on the axis are not sorted."""
        if axis != self._layout.lead:
            return None
        gapped = self._gapped(axis)
        hits = gapped.hits(runs) if isinstance(gapped, Gaps) else None
        if hits is not None:
            return hits
        starts, lengths = self._column(axis), self._column(f"n_{axis}")
        ends = starts + lengths
        return runs.hits(starts, ends) if is_constant(lengths) or bool((ends[1:] >= ends[:-1]).all()) else None

    def _take(self, index: Int64) -> Boxes:
        """Return the boxes at some indexes."""
        if len(index) == self._total and bool((index[1:] > index[:-1]).all()):
            return self.boxes()
        return Boxes(*(self._taken(name, index) for name in COLUMNS))

    def _taken(self, name: str, index: Int64) -> Any:
        name = self._name(name)
        if name in self._known:
            return self._known[name][index]
        gapped, value = self._gapped(name), self._layout.columns[name].constant
        if gapped is not None:
            return gapped.at(self._numbers_of(index) if isinstance(gapped, Even) else index)
        if value is not None:
            return _typed(name, value, len(index))
        # Decoding one value costs several times as much as one among all, and all are kept for the next call.
        few = name not in self._raw and 8 * len(index) < self._total
        return _typed(name, self._stored[name].at(index) if few else self._numbers(name)[index], len(index))

    def _column(self, name: str) -> Any:
        name = self._name(name)
        column = self._known.get(name)
        if column is None:
            gapped = self._gapped(name)
            if gapped is None:
                column = _typed(name, self._numbers(name), self._total)
            else:
                column = gapped.all() if isinstance(gapped, Gaps) else self._evenly(gapped)
            self._known[name] = column
        return column

    def _evenly(self, axis: Even) -> Int64:
        """Return all starts on an axis on which boxes are evenly spaced."""
        first, last = int(self._pages[0]), int(self._pages[-1])
        if last - first < len(self._pages):
            # The gap is also the first box's distance from 0, so no base is needed. `load_layout` rejects negative gaps
            # and empty boxes, so the step is above 0.
            start = first * self._layout.page_rows * axis.step + axis.gap
            return np.arange(start, start + self._total * axis.step, axis.step)
        return axis.at(self._numbers_of(np.arange(self._total)))

    def _name(self, name: str) -> str:
        return self._layout.length("src") if name == "n_src" else name

    def _numbers_of(self, places: Int64) -> Int64:
        """Return the numbers in the file of the boxes at some indexes."""
        per, first = self._layout.page_rows, int(self._pages[0])
        if int(self._pages[-1]) - first == len(self._pages) - 1:
            return places + first * per
        page = places // per
        return places + (self._pages[page] - page) * per

    def _numbers(self, name: str) -> Any:
        """Return a column as stored, with zigzag-encoded gaps; or its constant, which is not encoded."""
        value = self._layout.columns[name].constant
        if value is not None:
            return value
        numbers = self._raw.get(name)
        if numbers is None:
            numbers = self._raw[name] = self._stored[name].all()
        return numbers

    def _gapped(self, name: str) -> Even | Gaps | None:
        """Return the starts on an axis if they are stored as gaps; else None."""
        if self._layout.columns[name].form != "gap":
            return None
        gapped = self._axes.get(name)
        if gapped is None:
            axis: Lead = "out" if name == "out" else "src"
            gapped = self._axes[name] = self._layout.even(axis) or self._opened(axis)
        return gapped

    def _opened(self, axis: Lead) -> Gaps:
        base, per = getattr(self._layout, f"{axis}_base"), self._layout.page_rows
        gaps, lengths = self._numbers(axis), self._numbers(self._layout.length(axis))
        return Gaps(gaps, lengths, base[self._pages], per, self._total)


def _typed(name: str, values: Any, n: int) -> Any:
    """Convert the values of a column, or its constant, to the type that boxes use."""
    one = isinstance(values, int)
    if name == "diagonal":
        return constant(bool(values), n) if one else values != 0
    return constant(np.int64(values), n) if one else values.astype(np.int64, copy=False)
