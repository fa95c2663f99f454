"""Rows that the script takes one by one: those taken until a write begins are a read, and those taken later another."""

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
    """One call that returned an iterator.

    Parameters
    ----------
    trace : TracedRead, optional
        Where its rows are followed one by one.
    read : CoarseRead
        What is known of the call; its rows are counted here.
    before : Behind, optional
        What was read before the call and stands behind its rows.
    """

    def __init__(self, trace: TracedRead | None, read: CoarseRead, before: Behind | None) -> None:
        self._trace, self._read, self.before = trace, read, before
        self._count = self._told = 0

    def over(self, rows: Iterable[T]) -> Iterator[T]:
        """Yield the rows, counting those that are taken."""
        for row in rows:
            self._count += 1
            yield row

    def taken(self) -> Read | None:
        """Return a read of the rows taken since this was last called; see `OpenRead`."""
        rows = range(self._told, self._count)
        if not len(rows):
            return None
        self._told = rows.stop
        read = replace(self._read, rows=len(rows))
        return read if self._trace is None else TracedRows(self._trace, rows, read)
