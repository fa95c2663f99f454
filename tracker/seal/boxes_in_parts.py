"""Collection of a tensor's boxes, added block by block of the tasks' notes."""

from __future__ import annotations

from provspark.model.boxes import Boxes
from provspark.model.boxes.overlap import disjoint
from provspark.model.boxes.pairs import concat, merge
from provspark.model.boxes.spool import Dealt, Parts, Spool

MOST = 1 << 22
"""Largest number of a tensor's boxes kept in memory. More go to a temporary file."""

MANY = 1 << 20
"""Number of boxes above which parts are not concatenated: allocating the memory costs as much as scanning the boxes."""


class Gathered:
    """Collector of boxes. No two of the added parts contain the same pair."""

    def __init__(self) -> None:
        self._parts: list[Boxes] = []
        self._held = self._end = 0
        self._spool: Spool | None = None
        self._rising = True

    def add(self, boxes: Boxes) -> None:
        """Add boxes that are sorted by ``out``."""
        if not len(boxes):
            return
        self._rising = self._rising and int(boxes.out[0]) >= self._end
        self._end = max(self._end, int((boxes.out + boxes.n_out).max()))
        self._held += len(boxes)
        if self._spool is None and self._held > MOST:
            self._spool = Spool()
            for part in self._parts:
                self._spool.add(part)
            self._parts.clear()
        if self._spool is None:
            self._parts.append(boxes)
        else:
            self._spool.add(boxes)

    def boxes(self) -> Boxes | Parts | Spool:
        """Return all boxes. They are sorted by ``out`` if the parts were added in that order or are in a file."""
        if self._spool is not None:
            return self._spool if self._rising else self._in_order(self._spool)
        return Parts(self._parts) if self._rising and self._held > MANY else concat(self._parts)

    def _in_order(self, boxes: Spool) -> Spool:
        """Sort boxes by ``out``. Parts arrive unordered if the write is partitioned: each task fills all folders."""
        dealt = Dealt("out", self._end, len(boxes))
        for part in boxes.parts():
            dealt.add(part)
        spool = Spool()
        for _, some in dealt.files():
            spool.add(merge(disjoint(some)))
        return spool
