"""Row groups of tensor files of format 1, read by pyarrow."""

from __future__ import annotations

import io
from bisect import bisect_right
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from provspark.index_store.store.tensors.layout import Spans
from provspark.model.arrays import Int64

__all__ = ["read_groups"]


def read_groups(metadata: Any, size: int, ids: Int64, spans: Spans, data: list[bytes]) -> dict[str, Whole]:
    """Read the stored columns of some row groups.

    Parameters
    ----------
    metadata : pyarrow.parquet.FileMetaData
    size : int
        Size of the file in bytes.
    ids : int64 array
        Row groups, in ascending order.
    spans, data
        Byte ranges of all row groups, and the bytes of those in `ids`.
    """
    starts = spans.at[ids].tolist()
    source = pa.PythonFile(_Parts(starts, data, size), mode="r")
    file = pq.ParquetFile(source, metadata=metadata, page_checksum_verification=True)
    table = file.reader.read_row_groups(ids.tolist(), use_threads=False)
    columns = {n: table.column(n).combine_chunks().to_numpy(zero_copy_only=False) for n in table.column_names}
    return {name: Whole(column.astype(np.int64)) for name, column in columns.items()}


class Whole:
    """Values of a column that are already decoded."""

    def __init__(self, values: Int64) -> None:
        self._values = values

    def all(self) -> Int64:
        """Return all values."""
        return self._values

    def at(self, index: Int64) -> Int64:
        """Return the values at some indexes."""
        return self._values[index]


class _Parts(io.RawIOBase):
    """A file of which only some byte ranges are available; Parquet needs no others."""

    def __init__(self, starts: list[int], data: list[bytes], size: int) -> None:
        super().__init__()
        self._starts, self._data, self._size, self._at = starts, data, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Read from the current position; gaps between the ranges, across which Parquet merges reads, are zeros."""
        stop = self._size if size is None or size < 0 else min(self._at + size, self._size)
        i = max(0, bisect_right(self._starts, self._at) - 1)
        offset = self._at - self._starts[i]
        if offset >= 0 and stop <= self._starts[i] + len(self._data[i]):
            part = self._data[i][offset : stop - self._starts[i]]
            self._at = stop
            return part
        parts = bytearray(stop - self._at)
        for start, data in zip(self._starts[i:], self._data[i:], strict=True):
            if start >= stop:
                break
            low, high = max(start, self._at), min(start + len(data), stop)
            if low < high:
                parts[low - self._at : high - self._at] = data[low - start : high - start]
        self._at = stop
        return bytes(parts)
