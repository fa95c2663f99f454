"""What every format's reader offers, and the parts that those of lines share."""

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
"""Told the least and greatest value of columns in a stretch of rows: whether a row there may be wanted."""


class RowReader(Protocol):
    """Reads rows of one file by their place in it. Columns are those of the file: no partition columns."""

    def take(self, file: DataFile, wanted: Int64, fields: Sequence[Field]) -> pa.Table:
        """Return the wanted rows (increasing, distinct, within the recorded count) in that order."""

    def scan(self, file: DataFile, fields: Sequence[Field], bounds: Bounds) -> Iterator[tuple[int, pa.Table]]:
        """Yield (first row, rows) over the file in order; stretches that `bounds` refuses may be left out."""


class LineFormat(Protocol):
    """A format of lines: which of them are rows, and what a row holds."""

    def records(self, file: DataFile) -> Iterator[list[bytes]]:
        """Yield the texts of the file's rows in order, some at a time."""

    def lines_may_differ(self, file: DataFile) -> bool:
        """Whether the recorded rows may not be the file's lines one by one, so that all of them must be counted."""

    def parse(self, file: DataFile, records: Sequence[bytes], fields: Sequence[Field]) -> pa.Table:
        """Return the values of some rows."""


class LineReader:
    """A `RowReader` over a `LineFormat`: streams, and stops after the last row that is wanted."""

    def __init__(self, lines: LineFormat) -> None:
        self._lines = lines

    def count(self, file: DataFile) -> int:
        """Number of the file's rows."""
        return sum(len(records) for records in self._lines.records(file))

    def take(self, file: DataFile, wanted: Int64, fields: Sequence[Field]) -> pa.Table:
        """See `RowReader`."""
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
        """See `RowReader`."""
        start = 0
        for records in self._lines.records(file):
            yield start, self._lines.parse(file, records, fields)
            start += len(records)
        if start != file.rows:
            raise file.wrong_count(start)
