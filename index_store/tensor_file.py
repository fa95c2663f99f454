"""One Parquet file of tensors/, opened: its footer checked once, its row groups checked on every read."""

from __future__ import annotations

import hashlib
import io
import zlib
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from provspark.errors import CorruptIndexError, StoreFormatError
from provspark.index_store.box_lists import concat, take
from provspark.index_store.codec import rebuild
from provspark.index_store.fs import Folder, checked
from provspark.index_store.layout import META_KEY, Layout, load_layout
from provspark.index_store.model import Boxes, Int64, StoredFile
from provspark.index_store.paths import missing, step_path

__all__ = ["TensorFile"]

_TAIL = 1 << 16
_THREADS = 4
_SLICE = 16
"""Row groups that one thread decodes at once."""


class TensorFile:
    """A tensor file whose footer is what the manifest says.

    Raises
    ------
    CorruptIndexError
        Size, footer hash or layout differ, or the file is gone.
    StepRemovedError
        The whole step is gone.
    StoreFormatError
        The file's format is newer than this package reads.
    """

    def __init__(self, folder: Folder, step: str, stored: StoredFile) -> None:
        self._folder, self._step, self._size = folder, step, stored.size
        self._path = f"{step_path(step)}/{checked(stored.path)}"
        self.where = folder.where(self._path)
        tail = self._read([(max(0, stored.size - _TAIL), stored.size + 1)])[0]
        length = int.from_bytes(tail[-8:-4], "little") + 8
        if len(tail) != min(stored.size, _TAIL):
            raise CorruptIndexError(self.where, f"it has not the {stored.size} bytes that the manifest says")
        if length > stored.size or tail[-4:] != b"PAR1":
            raise CorruptIndexError(self.where, "it does not end as a Parquet file does")
        if length > len(tail):
            tail = self._read([(stored.size - length, stored.size)])[0]
        footer = tail[-length:]
        if hashlib.sha256(footer).hexdigest() != stored.footer_sha256:
            raise CorruptIndexError(self.where, "its footer's checksum differs")
        self._metadata = pq.read_metadata(pa.BufferReader(b"PAR1" + footer))
        self.layout = self._layout()

    def decode(self, ids: Int64) -> list[Boxes]:
        """Boxes of these row groups, several together, in their order; each one's checksum is verified."""
        slices = [ids[i : i + _SLICE] for i in range(0, len(ids), _SLICE)]
        if len(slices) < 2:
            return [self._decode(s) for s in slices]
        with ThreadPoolExecutor(_THREADS) as pool:
            return list(pool.map(self._decode, slices))

    def groups(self, ids: Int64) -> list[Boxes]:
        """Boxes of each of these row groups."""
        stops = np.cumsum(self.layout.sizes(ids))
        together = concat(self.decode(ids))
        starts = np.concatenate([[0], stops[:-1]])
        return [take(together, slice(a, b)) for a, b in zip(starts.tolist(), stops.tolist(), strict=False)]

    def _decode(self, ids: Int64) -> Boxes:
        ends = self.layout.ends
        spans = [(int(ends[i - 1]) if i else 0, int(ends[i])) for i in ids.tolist()]
        data = self._read(spans)
        for i, (start, stop), part in zip(ids.tolist(), spans, data, strict=True):
            if len(part) != stop - start:
                found = start + len(part)
                raise CorruptIndexError(self.where, f"row group {i} ends at byte {found}, not {stop}")
            if zlib.crc32(part) != int(self.layout.crc[i]):
                raise CorruptIndexError(self.where, f"the checksum of row group {i} differs")
        try:
            source = pa.PythonFile(_Spans(spans, data, self._size), mode="r")
            file = pq.ParquetFile(source, metadata=self._metadata, page_checksum_verification=True)
            table = file.reader.read_row_groups(ids.tolist(), use_threads=False)
            if table.num_rows != int(self.layout.sizes(ids).sum()):
                raise ValueError(f"they hold {table.num_rows} boxes, not what the layout says")
            stored: dict[str, npt.NDArray[Any]] = {n: _array(table.column(n)) for n in table.column_names}
            return rebuild(self.layout, ids, stored)
        except (OSError, pa.ArrowException, LookupError, ValueError) as e:
            raise CorruptIndexError(self.where, f"row groups {ids.tolist()}: {_first_line(e)}") from e

    def _layout(self) -> Layout:
        text = (self._metadata.metadata or {}).get(META_KEY)
        try:
            return load_layout(text or b"{}", self.where)
        except StoreFormatError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError) as e:
            raise CorruptIndexError(self.where, f"its footer has no layout: {_first_line(e)}") from e

    def _read(self, spans: list[tuple[int, int]]) -> list[bytes]:
        try:
            return self._folder.read(self._path, spans)
        except FileNotFoundError:
            raise missing(self._folder, self._step, self._path) from None


class _Spans(io.RawIOBase):
    """A file of which only some spans are at hand; Parquet reads nothing else of it."""

    def __init__(self, spans: list[tuple[int, int]], data: list[bytes], size: int) -> None:
        super().__init__()
        self._starts, self._data, self._size, self._at = [s[0] for s in spans], data, size, 0

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
        """Bytes from here on; zeros stand for the gaps, over which Parquet joins near reads."""
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


def _array(column: Any) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = column.combine_chunks().to_numpy(zero_copy_only=False)
    return values


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
