"""A set of rows that grows: a byte a row where rows are many, runs where they are few or far apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.runs import Runs, mark, marked

_MANY = 1 << 16
"""Runs that are only gathered; of more, each row is marked."""
_MOST = 1 << 27
"""Rows that may be marked: one byte each."""
_NONE = np.zeros(0, dtype=np.int64)


class GrowingSet:
    """Rows that were met, in any order, any number of times."""

    def __init__(self) -> None:
        self._parts: list[Runs] = []
        self._waiting = 0
        self._held: npt.NDArray[np.bool_] = np.zeros(2, dtype=np.bool_)  # row r at r + 1, and none at both ends

    def add(self, starts: Int64, lengths: Int64) -> None:
        """Take in runs, in any order, that may overlap."""
        self._parts.append(Runs(starts, lengths))
        self._waiting += len(starts)
        if self._waiting > _MANY:
            self._settle()

    def runs(self) -> Runs:
        """All rows."""
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
