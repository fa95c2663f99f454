"""Rows that the script consumes one by one. Those consumed before a write are one read, later ones another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from provspark.tracker.session.coarse_read import CoarseRead
from provspark.tracker.session.driver_reads import Read
from provspark.tracker.session.possible_edges import Behind
from provspark.tracker.session.traced_read import TracedRead, TracedRows

__all__ = ["Taking"]

T = TypeVar("T")


class Taking:
    """A call that returned an iterator.

    Parameters
    ----------
    trace : TracedRead, optional
        The traced read, if its rows are followed one by one.
    read : CoarseRead
        Description of the call. Its number of rows is not used.
    before : Behind, optional
        Reads before the call that its rows may derive from.
    """

    def __init__(self, trace: TracedRead | None, read: CoarseRead, before: Behind | None) -> None:
        self._trace, self._read, self.before = trace, read, before
        self._count = self._told = 0

    def over(self, rows: Iterable[T]) -> Iterator[T]:
        """Yield the rows, and count them."""
        for row in rows:
            self._count += 1
            yield row

    def taken(self) -> Read | None:
        """Return a read of the rows consumed since the last call of this method, or None if there are none."""
        rows = range(self._told, self._count)
        if not len(rows):
            return None
        self._told = rows.stop
        read = replace(self._read, rows=len(rows))
        return read if self._trace is None else TracedRows(self._trace, rows, read)
