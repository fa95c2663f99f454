"""Interface of the readers of all formats, and the part that readers of lines share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from provspark.index_store.values.files import DataFile
from provspark.model.arrays import Int64
from provspark.model.datasets import Field

__all__ = ["Bounds", "LineFormat", "LineReader", "RowReader"]

Bounds = Callable[[dict[str, tuple[Any, Any]]], bool]
"""Takes minimum and maximum of columns in a stretch of rows; returns whether a row there may be wanted."""


class RowReader(Protocol):
    """Reader of a file's rows by position. Columns are those of the file, without partition columns."""

    def take(self, file: DataFile, wanted: Int64, fields: Sequence[Field]) -> pa.Table:
        """Return the wanted rows (increasing, distinct, within the recorded count) in that order."""

    def scan(self, file: DataFile, fields: Sequence[Field], bounds: Bounds) -> Iterator[tuple[int, pa.Table]]:
        """Yield (first row, rows) of the file in order; stretches that `bounds` rejects may be skipped."""


class LineFormat(Protocol):
    """A format of lines: which lines are rows, and which values a row contains."""

    def records(self, file: DataFile) -> Iterator[list[bytes]]:
        """Yield the texts of the file's rows in order, some at a time."""

    def lines_may_differ(self, file: DataFile) -> bool:
        """Return whether the recorded rows may differ from the file's lines, so that all lines must be counted."""

    def parse(self, file: DataFile, records: Sequence[bytes], fields: Sequence[Field]) -> pa.Table:
        """Return the values of some rows."""


class LineReader:
    """A `RowReader` for a `LineFormat`: it streams, and stops after the last wanted row."""

    def __init__(self, lines: LineFormat) -> None:
        self._lines = lines

    def count(self, file: DataFile) -> int:
        """Return the number of rows in the file."""
        return sum(len(records) for records in self._lines.records(file))

    def take(self, file: DataFile, wanted: Int64, fields: Sequence[Field]) -> pa.Table:
        lines: list[bytes] = []
        start, whole = 0, self._lines.lines_may_differ(file)
        for records in self._lines.records(file):
            upto = int(np.searchsorted(wanted, start + len(records)))
            lines.extend(records[row - start] for row in wanted[len(lines) : upto].tolist())
            start += len(records)
            if start > file.rows:
                raise file.wrong_count(start)
            if upto == len(wanted) and not whole:
                break
        else:
            if start != file.rows or len(lines) < len(wanted):
                raise file.wrong_count(start)
        return self._lines.parse(file, lines, fields)

    def scan(self, file: DataFile, fields: Sequence[Field], bounds: Bounds) -> Iterator[tuple[int, pa.Table]]:
        start = 0
        for records in self._lines.records(file):
            yield start, self._lines.parse(file, records, fields)
            start += len(records)
        if start != file.rows:
            raise file.wrong_count(start)
