"""A growing set of rows, stored as a byte per row if there are many, or as runs if they are few or far apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.runs import Runs, mark, marked

_MANY = 1 << 16
"""Number of runs up to which runs are only collected; beyond it, rows are marked."""
_MOST = 1 << 27
"""Number of rows that can be marked, with one byte each."""
_NONE = np.zeros(0, dtype=np.int64)


class GrowingSet:
    """Set of rows that are added in any order, any number of times."""

    def __init__(self) -> None:
        self._parts: list[Runs] = []
        self._waiting = 0
        self._held: npt.NDArray[np.bool_] = np.zeros(2, dtype=np.bool_)  # row r at r + 1, and none at both ends

    def add(self, starts: Int64, lengths: Int64) -> None:
        """Add runs, which may be unsorted and overlap."""
        self._parts.append(Runs(starts, lengths))
        self._waiting += len(starts)
        if self._waiting > _MANY:
            self._settle()

    def runs(self) -> Runs:
        """Return all rows."""
        if len(self._held) > 2:
            self._settle()
        if len(self._held) > 2:
            return marked(self._held)
        if len(self._parts) == 1:
            return Runs.united(self._parts[0].starts, self._parts[0].lengths)
        starts, lengths = ([getattr(p, name) for p in self._parts] for name in ("starts", "lengths"))
        return Runs.united(np.concatenate([*starts, _NONE]), np.concatenate([*lengths, _NONE]))

    def _settle(self) -> None:
        size = max((int((p.starts + p.lengths).max(initial=0)) for p in self._parts), default=0)
        if size > _MOST:
            self._parts.append(marked(self._held))
            self._held = self._held[:2] & False
            self._parts = [self.runs()]
            self._waiting = -len(self._parts[0].starts)
            return
        if size + 2 > len(self._held):
            grown = np.zeros(max(size, min(2 * len(self._held), _MOST)) + 2, dtype=np.bool_)
            grown[: len(self._held)] = self._held
            self._held = grown
        for part in self._parts:
            mark(self._held, part.starts, part.lengths)
        self._parts, self._waiting = [], 0
