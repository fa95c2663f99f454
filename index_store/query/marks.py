"""A set of rows that grows: a byte a row where rows are many, runs where they are few or far apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from provspark.index_store.model import Int64
from provspark.index_store.query.runs import Runs, expand

_MANY = 1 << 16
"""Runs that are only gathered; of more, each row is marked."""
_MOST = 1 << 27
"""Rows that may be marked: one byte each."""
_LONG = 1 << 10
"""Runs of more rows are marked one by one."""


class Marks:
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
        marked = self._marked()
        if not self._parts:
            return marked
        parts = [*self._parts, marked]
        return Runs.united(np.concatenate([p.starts for p in parts]), np.concatenate([p.lengths for p in parts]))

    def _settle(self) -> None:
        size = max(int((p.starts + p.lengths).max(initial=0)) for p in self._parts)
        if size > _MOST:
            self._parts = [self.runs()]
            self._held = self._held[:2] & False
            self._waiting = -len(self._parts[0].starts)
            return
        if size + 2 > len(self._held):
            grown = np.zeros(max(size, min(2 * len(self._held), _MOST)) + 2, dtype=np.bool_)
            grown[: len(self._held)] = self._held
            self._held = grown
        for part in self._parts:
            self._mark(part.starts, part.lengths)
        self._parts, self._waiting = [], 0

    def _mark(self, starts: Int64, lengths: Int64) -> None:
        long = lengths > _LONG
        if long.any():
            for start, n in zip(starts[long].tolist(), lengths[long].tolist(), strict=True):
                self._held[start + 1 : start + n + 1] = True
            starts, lengths = starts[~long], lengths[~long]
        for low in range(0, len(starts), _MANY):
            some = slice(low, low + _MANY)
            self._held[expand(starts[some] + 1, lengths[some])] = True

    def _marked(self) -> Runs:
        edges = np.flatnonzero(self._held[1:] != self._held[:-1])
        starts = edges[::2].copy()
        return Runs(starts, edges[1::2] - starts)
