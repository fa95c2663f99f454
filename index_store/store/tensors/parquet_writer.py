"""Writer of the Parquet files in tensors/: integer columns in pages of fixed length, with the place of each page.

Lookups need the place and checksum of each page, which Parquet libraries do not report.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import zstandard

from provspark.index_store.store.tensors import thrift
from provspark.index_store.store.tensors.layout import SPANS, ColumnLayout, Spans
from provspark.model.arrays import Int64

__all__ = ["ParquetOut", "ParquetSink", "pages_of"]

_LEVEL = 1
_MAGIC = b"PAR1"
_THREADS = 4
"""Number of row groups compressed at once, in files with this many; zstd and checksums release Python's lock."""
_INT32, _INT64, _FIXED = 1, 2, 7
_PLAIN, _RLE, _SPLIT = 0, 3, 9
_UNCOMPRESSED, _IN_ZSTD = 0, 6
_IDLE: list[zstandard.ZstdCompressor] = []
"""Compression contexts that no thread uses."""


class _Page(NamedTuple):
    header: bytes
    body: bytes
    raw: int
    crc: int


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Column chunk of a row group, as the footer describes it."""

    at: int
    size: int
    raw: int


class ParquetSink(Protocol):
    """Destination of a file that is written from start to end."""

    def write(self, data: bytes, /) -> object:
        """Write all of the data."""


class ParquetOut:
    """A Parquet file in progress, with required integer columns.

    Parameters
    ----------
    sink : ParquetSink
    columns : mapping of ColumnLayout
        Columns to store, by name, in order.
    page_rows : int
        Values per page.

    Attributes
    ----------
    at : int
        Number of bytes written.
    """

    def __init__(self, sink: ParquetSink, columns: Mapping[str, ColumnLayout], page_rows: int) -> None:
        self._sink, self._columns, self._page_rows = sink, columns, page_rows
        self._groups: list[tuple[int, list[_Chunk]]] = []
        self._spans: dict[str, list[tuple[int, ...]]] = {name: [] for name in columns}
        sink.write(_MAGIC)
        self.at = len(_MAGIC)

    def write(self, groups: Iterable[Mapping[str, Int64]]) -> None:
        """Write row groups, each as the values of all columns; only the last may end within a page. Buffers a few."""

        def packed(values: Mapping[str, Int64]) -> tuple[int, list[list[_Page]]]:
            rows = len(next(iter(values.values()), ()))
            return rows, [_pages(values[n], how, self._page_rows) for n, how in self._columns.items()]

        with ThreadPoolExecutor(_THREADS) as pool:
            waiting = iter(groups)
            while batch := list(islice(waiting, _THREADS)):
                for done in map(packed, batch) if len(batch) < _THREADS else pool.map(packed, batch):
                    if self._columns:
                        self._write(*done)

    def _write(self, rows: int, columns: list[list[_Page]]) -> None:
        chunks = []
        for name, pages in zip(self._columns, columns, strict=True):
            start, raw, parts = self.at, 0, []
            for page in pages:
                head = len(page.header)
                crc = page.crc
                first = 0
                if self.at == len(_MAGIC):
                    first, crc = len(_MAGIC), zlib.crc32(page.body, zlib.crc32(_MAGIC + page.header))
                size = first + head + len(page.body)
                self._spans[name].append((self.at - first, size, first + head, len(page.body), crc))
                self.at += head + len(page.body)
                raw += head + page.raw
                parts += [page.header, page.body]
            self._sink.write(b"".join(parts))
            chunks.append(_Chunk(start, self.at - start, raw))
        self._groups.append((rows, chunks))

    def spans(self) -> dict[str, Spans]:
        """Return the byte ranges of each column's pages."""
        return {
            name: Spans(np.array(rows, dtype=np.int64).reshape(-1, len(SPANS)).T) for name, rows in self._spans.items()
        }

    def footer(self, metadata: Mapping[bytes, bytes], empty: str) -> bytes:
        """Return the footer; `empty` names the only column of the schema if no column is stored."""
        shown = {n: _kind(how) for n, how in self._columns.items()} or {empty: (_INT32, 0)}
        root = [(4, thrift.binary(b"schema")), (5, thrift.i32(len(shown)))]
        schema = [root]
        for name, (kind, width) in shown.items():
            length = [(2, thrift.i32(width))] if kind == _FIXED else []
            schema.append([(1, thrift.i32(kind)), *length, (3, thrift.i32(0)), (4, thrift.binary(name.encode()))])
        groups = [
            [
                (1, thrift.structs(self._told(n, c, rows) for n, c in zip(self._columns, chunks, strict=True))),
                (2, thrift.i64(sum(c.raw for c in chunks))),
                (3, thrift.i64(rows)),
            ]
            for rows, chunks in self._groups
        ]
        body = thrift.struct(
            [
                (1, thrift.i32(2)),
                (2, thrift.structs(schema)),
                (3, thrift.i64(sum(rows for rows, _ in self._groups))),
                (4, thrift.structs(groups)),
                (5, thrift.structs([(1, thrift.binary(k)), (2, thrift.binary(v))] for k, v in metadata.items())),
                (6, thrift.binary(b"provspark")),
            ]
        )[1]
        return body + len(body).to_bytes(4, "little") + _MAGIC

    def _told(self, name: str, chunk: _Chunk, rows: int) -> list[tuple[int, thrift.ThriftField]]:
        how = self._columns[name]
        split = how.codec == "zstd"
        told = [
            (1, thrift.i32(_kind(how)[0])),
            (2, thrift.list_of([thrift.i32(_SPLIT if split else _PLAIN), thrift.i32(_RLE)])),
            (3, thrift.list_of([thrift.binary(name.encode())])),
            (4, thrift.i32(_IN_ZSTD if split else _UNCOMPRESSED)),
            (5, thrift.i64(rows)),
            (6, thrift.i64(chunk.raw)),
            (7, thrift.i64(chunk.size)),
            (9, thrift.i64(chunk.at)),
        ]
        return [(2, thrift.i64(0)), (3, thrift.struct(told))]


def _kind(how: ColumnLayout) -> tuple[int, int]:
    if how.codec == "none":
        return _FIXED, how.item
    return (_INT32 if how.item == 4 else _INT64), 0


def _pages(values: Int64, how: ColumnLayout, page_rows: int) -> list[_Page]:
    encoding = _SPLIT if how.codec == "zstd" else _PLAIN
    out = []
    for start, body in zip(range(0, len(values), page_rows), pages_of(values, how, page_rows), strict=True):
        rows = min(page_rows, len(values) - start)
        raw = rows * how.item
        crc = zlib.crc32(body)
        before, behind = _header(rows, raw, encoding)
        header = before + thrift.i32_fields((len(body), crc - (crc >> 31 << 32))) + behind
        out.append(_Page(header, body, raw, zlib.crc32(body, zlib.crc32(header))))
    return out


@cache
def _header(rows: int, raw: int, encoding: int) -> tuple[bytes, bytes]:
    """Return the bytes of a page header before its size and checksum, the third and fourth field, and after them."""
    told = (rows, encoding, _RLE, _RLE)
    values = thrift.struct((i, thrift.i32(value)) for i, value in enumerate(told, 1))
    return thrift.i32_fields((0, raw)), thrift.struct([(1, values)])[1]


def pages_of(values: Int64, how: ColumnLayout, page_rows: int) -> list[bytes]:
    """Return the bytes of a column's pages, without their headers.

    Contexts are kept for the next column: to create one takes longer than to compress a page.
    """
    item = how.item
    if how.codec == "none":
        data, size = _low_bytes(values, item), page_rows * item
        return [data[i : i + size] for i in range(0, len(data), size)]
    whole = len(values) // page_rows * page_rows
    pages = [*_planes(values[:whole].reshape(-1, page_rows), how), *_planes(values[None, whole:], how)]
    try:
        packer = _IDLE.pop()
    except IndexError:
        packer = zstandard.ZstdCompressor(_LEVEL)
    packed = [packer.compress(page) for page in pages if page.size]
    _IDLE.append(packer)
    return packed


def _low_bytes(values: Int64, width: int) -> bytes:
    """Return the lowest `width` bytes of each value."""
    if width in (1, 2, 4, 8):
        return values.astype(f"<u{width}").tobytes()
    whole = np.ascontiguousarray(values, "<i8").view(np.uint8).reshape(-1, 8)
    low = np.empty((len(values), width), dtype=np.uint8)
    for k in range(width):
        low[:, k] = whole[:, k]
    return low.tobytes()


def _planes(pages: npt.NDArray[np.int64], how: ColumnLayout) -> npt.NDArray[np.uint8]:
    """Split the values of each page into byte planes; planes from `width` on are 0."""
    planes = np.zeros((len(pages), how.item, pages.shape[1]), dtype=np.uint8)
    rest: Any = pages.astype(np.uint32 if how.item == 4 else np.uint64)
    for k in range(how.width):
        planes[:, k] = rest
        rest >>= 8
    return planes
