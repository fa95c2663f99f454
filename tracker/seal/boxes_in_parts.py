"""Boxes of one tensor as they come, block by block of what a task noted."""

from __future__ import annotations

from provspark.model.boxes import Boxes
from provspark.model.boxes.overlap import disjoint
from provspark.model.boxes.pairs import concat, merge
from provspark.model.boxes.spool import Dealt, Parts, Spool

MOST = 1 << 22
"""Boxes of a tensor that are kept in memory: more go to a temporary file."""

MANY = 1 << 20
"""Boxes that are not put together: memory that is asked for anew costs as much as to look through them."""


class Gathered:
    """Boxes that are added in parts, no pair in two of them."""

    def __init__(self) -> None:
        self._parts: list[Boxes] = []
        self._held = self._end = 0
        self._spool: Spool | None = None
        self._rising = True

    def add(self, boxes: Boxes) -> None:
        """Put boxes, sorted by out, to the others."""
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
        """All of them: sorted where they came so, or are in a file."""
        if self._spool is not None:
            return self._spool if self._rising else self._in_order(self._spool)
        return Parts(self._parts) if self._rising and self._held > MANY else concat(self._parts)

    def _in_order(self, boxes: Spool) -> Spool:
        """Boxes sorted by out, of parts that came in no order: each task of a partitioned write fills all folders."""
        dealt = Dealt("out", self._end, len(boxes))
        for part in boxes.parts():
            dealt.add(part)
        spool = Spool()
        for _, some in dealt.files():
            spool.add(merge(disjoint(some)))
        return spool
