"""Page index and page values of tensor files (docs/format.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from provspark.index_store.store.tensors.gaps import AnyInts
from provspark.index_store.store.tensors.layout import ColumnLayout
from provspark.model.arrays import Int64

__all__ = ["PageValues", "dump_index", "load_index", "unpack"]

_ZSTD = pa.Codec("zstd")


def dump_index(arrays: list[Int64]) -> bytes:
    """Pack int64 arrays of equal length: as differences, split into byte planes, compressed with zstd."""
    table = np.array(arrays, dtype="<i8")
    table[:, 1:] -= table[:, :-1].copy()
    planes = np.ascontiguousarray(table.view(np.uint8).reshape(*table.shape, 8).transpose(0, 2, 1))
    return bytes(_ZSTD.compress(planes.tobytes()))


def load_index(data: bytes, lists: int, pages: int) -> Int64:
    """Unpack the arrays that `dump_index` packed, one per row of the result."""
    raw = np.frombuffer(_ZSTD.decompress(data, lists * pages * 8), dtype=np.uint8)
    table = np.ascontiguousarray(raw.reshape(lists, 8, pages).transpose(0, 2, 1)).view("<i8")[:, :, 0]
    return np.cumsum(table, axis=1, dtype=np.int64)


def unpack(columns: list[list[Any]], how: list[ColumnLayout], rows: list[int]) -> list[list[Any]]:
    """Return the bytes of some pages' values: pages in zstd decompressed, as byte planes; other pages unchanged.

    One call decompresses all pages: to create a context for each would take longer than to decompress it.

    Parameters
    ----------
    columns : list of lists of bytes
        Pages of each column.
    how : list of ColumnLayout
        Layout of each column.
    rows : list of int
        Number of values in each page.
    """
    frames = [page for pages, column in zip(columns, how, strict=True) if column.codec == "zstd" for page in pages]
    if not frames:
        return columns
    each = [column.item for column in how if column.codec == "zstd"]
    whole = memoryview(_ZSTD.decompress(frames[0] if len(frames) == 1 else b"".join(frames), sum(rows) * sum(each)))
    unpacked: list[list[Any]] = []
    at = 0
    for pages, column in zip(columns, how, strict=True):
        if column.codec == "zstd":
            item, width, pages = column.item, column.width, []
            for n in rows:
                pages.append(whole[at : at + n * width])
                at += n * item
        unpacked.append(pages)
    return unpacked


class PageValues:
    """Values of a column in some pages.

    Parameters
    ----------
    parts : sequence of bytes
        Bytes of each page, as `unpack` returns them.
    how : ColumnLayout
    rows, last : int
        Number of values in each page but the last, and in the last.
    """

    def __init__(self, parts: Sequence[Any], how: ColumnLayout, rows: int, last: int) -> None:
        self._width, self._rows, self._last, self._apart = how.width, rows, last, how.codec == "zstd"
        size = (len(parts) - 1) * rows + last
        self._bytes = np.frombuffer(parts[0] if len(parts) == 1 else b"".join(parts), dtype=np.uint8)
        if len(self._bytes) != size * how.width:
            raise ValueError(f"found {len(self._bytes)} bytes, expected {size} values of {how.width} bytes each")

    def all(self) -> AnyInts:
        """Return all values."""
        if not self._apart:
            return _joined(self._bytes.reshape(-1, self._width).T)
        full = len(self._bytes) - (0 if self._last == self._rows else self._last * self._width)
        planes = self._bytes[:full].reshape(-1, self._width, self._rows).transpose(1, 0, 2)
        whole = _joined(planes).reshape(-1)
        if full == len(self._bytes):
            return whole
        return np.concatenate([whole, _joined(self._bytes[full:].reshape(self._width, self._last))])

    def at(self, index: Int64) -> AnyInts:
        """Return the values at some indexes."""
        if not self._apart:
            return _joined(self._bytes.reshape(-1, self._width)[index].T)
        page, place = np.divmod(index, self._rows)
        rows = np.where(index >= len(self._bytes) // self._width - self._last, self._last, self._rows)
        first = page * (self._rows * self._width) + place
        return _joined(np.stack([self._bytes[first + rows * k] for k in range(self._width)]))


def _joined(planes: Any) -> AnyInts:
    """Combine byte planes, lowest first, into integers."""
    first: AnyInts = planes[0]
    if len(planes) == 1:
        return first
    wide = np.dtype(np.uint16 if len(planes) == 2 else np.uint32 if len(planes) < 5 else np.int64)
    integers = first.astype(wide)
    for place, plane in enumerate(planes[1:], 1):
        higher = plane.astype(wide)
        higher <<= wide.type(8 * place)
        integers |= higher
    return integers
