"""An open Parquet file of tensors/. Opening it verifies the footer; each read verifies the pages."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from provspark.index_store.store.fs.folder import Folder, checked
from provspark.index_store.store.paths import missing, step_path
from provspark.index_store.store.tensors.layout import META_KEY, Layout, load_layout
from provspark.index_store.store.tensors.packed import Hits, Packed, Unpacked
from provspark.index_store.store.tensors.pages import PageValues, load_index, unpack
from provspark.index_store.store.tensors.row_groups import read_groups
from provspark.model.arrays import Int64
from provspark.model.bounded_cache import Cache
from provspark.model.boxes import Boxes
from provspark.model.errors import CorruptIndexError, StepRemovedError, StoreFormatError, StoreUnreachableError
from provspark.model.writes import StoredFile

__all__ = ["TensorFile"]

T = TypeVar("T")
_TAIL = 1 << 16


class TensorFile:
    """An open tensor file whose footer matches the manifest.

    Parameters
    ----------
    folder, step, stored
        Location of the file, and its entry in the manifest.
    cache : Cache
        Verified, decompressed pages; shared by files.

    Raises
    ------
    CorruptIndexError
        Size, footer hash, index or layout is wrong, or the file is missing.
    StepRemovedError
        The whole step was removed.
    StoreFormatError
        The file's format is newer than this version of the package can read.
    """

    def __init__(self, folder: Folder, step: str, stored: StoredFile, cache: Cache[tuple[bytes, ...]]) -> None:
        self._folder, self._step, self._size, self._cache = folder, step, stored.size, cache
        self._path = f"{step_path(step)}/{checked(stored.path)}"
        self.where = folder.where(self._path)
        tail = self._read([(max(0, stored.size - _TAIL), stored.size + 1)])[0]
        length = int.from_bytes(tail[-8:-4], "little") + 8
        if len(tail) != min(stored.size, _TAIL):
            raise CorruptIndexError(self.where, f"its size differs from the {stored.size} bytes in the manifest")
        if length > stored.size or tail[-4:] != b"PAR1":
            raise CorruptIndexError(self.where, "it does not end like a Parquet file")
        if length > len(tail):
            tail = self._read([(stored.size - length, stored.size)])[0]
        footer = tail[-length:]
        if hashlib.sha256(footer).hexdigest() != stored.footer_sha256:
            raise CorruptIndexError(self.where, "the checksum of its footer does not match the manifest")
        self._metadata = pq.read_metadata(pa.BufferReader(b"PAR1" + footer))
        self.layout = self._layout(tail)
        if not self.layout.spans and (tail if len(tail) == stored.size else self._read([(0, 4)])[0])[:4] != b"PAR1":
            raise CorruptIndexError(self.where, "it does not begin like a Parquet file")

    def decode(self, ids: Int64) -> Boxes:
        """Return the boxes of some pages, given in ascending order; verify each page's checksum."""
        return self.unpacked(ids, lambda p, _: p.boxes()) if len(ids) else Boxes.empty()

    def unpacked(
        self, ids: Int64, use: Callable[[Packed, Hits | None], T], hits: Hits | None = None, *, keep: bool = False
    ) -> T:
        """Call `use` with the boxes of one or more pages, and with the hits among them if known; return its result.

        `keep` caches the pages that are read.
        """
        layout = self.layout
        stored: Mapping[str, Unpacked]
        with self._guarded(ids):
            pages = self._pages(ids.tolist(), keep) if layout.spans else {}
            if layout.format == 1:
                stored = read_groups(self._metadata, self._size, ids, layout.spans[""], list(map(bytes, pages[""])))
            else:
                last = layout.boxes(int(ids[-1]))
                stored = {n: PageValues(p, layout.columns[n], layout.page_rows, last) for n, p in pages.items()}
            return use(Packed(layout, ids, stored), hits)

    def values(self, ids: list[int], name: str) -> Sequence[Any]:
        """Return a column's values in some pages as bytes, and cache the pages."""
        with self._guarded(ids):
            return self._pages(ids, True)[name]

    @contextmanager
    def _guarded(self, ids: Any) -> Iterator[None]:
        """Raise CorruptIndexError if the content of some pages can't be read."""
        try:
            yield
        except (CorruptIndexError, StepRemovedError, StoreUnreachableError):
            raise
        except (OSError, pa.ArrowException, LookupError, ValueError) as e:
            raise CorruptIndexError(self.where, f"its data pages {list(ids)} can't be read: {_first_line(e)}") from e

    def _pages(self, ids: list[int], keep: bool) -> dict[str, Sequence[Any]]:
        """Return the values of some pages by column, as `unpack` returns them."""
        names = self.layout.spans
        if not keep:
            return dict(zip(names, self._fresh(ids), strict=True))
        keys = [(self.where, i) for i in ids]
        cached = self._cache.several(keys)
        at = [k for k, page in enumerate(cached) if page is None]
        if at:
            read = [tuple(map(bytes, page)) for page in zip(*self._fresh([ids[k] for k in at]), strict=True)]
            for k, page in zip(at, read, strict=True):
                cached[k] = page
            sizes = (sum(map(len, page)) + 200 for page in read)
            self._cache.put_several(zip([keys[k] for k in at], read, sizes, strict=True))
        pages = (page for page in cached if page is not None)
        return dict(zip(names, zip(*pages, strict=True), strict=True))

    def _fresh(self, ids: list[int]) -> list[list[Any]]:
        """Read the same from the file, as a list for each column."""
        layout = self.layout
        told = [spans.of(ids) for spans in layout.spans.values()]
        columns = self._checked(ids, told)
        if layout.format == 1:
            return columns
        how = [layout.columns[name] for name in layout.spans]
        return unpack(columns, how, [layout.boxes(i) for i in ids])

    def _checked(self, ids: list[int], told: list[list[list[int]]]) -> list[list[Any]]:
        """Read and verify the compressed values of some pages by column; adjacent pages are read at once."""
        stretches: list[tuple[int, int]] = []
        for at, size, *_ in told:
            for start, n in zip(at, size, strict=True):
                low = stretches.pop()[0] if stretches and stretches[-1][1] == start else start
                stretches.append((low, start + n))
        parts = zip(stretches, self._read(stretches), strict=True)
        columns: list[list[Any]] = []
        part, low, high = memoryview(b""), 0, 0
        for lists in told:
            column: list[Any] = []
            for number, start, size, head, body, crc in zip(ids, *lists, strict=True):
                if not low <= start < high:
                    (low, high), read = next(parts)
                    part = memoryview(read)
                data = part[start - low : start - low + size]
                if len(data) != size:
                    raise CorruptIndexError(self.where, f"page {number} is truncated")
                if zlib.crc32(data) != crc:
                    raise CorruptIndexError(self.where, f"the checksum of page {number} does not match the index")
                column.append(data[head : head + body])
            columns.append(column)
        return columns

    def _layout(self, tail: bytes) -> Layout:
        text = (self._metadata.metadata or {}).get(META_KEY)
        first = self._size - len(tail)

        def index(told: dict[str, Any], lists: int, pages: int) -> Int64:
            at, size = int(told["at"]), int(told["size"])
            data = tail[at - first : at - first + size] if at >= first else self._read([(at, at + size)])[0]
            if hashlib.sha256(data).hexdigest() != told["sha256"]:
                raise CorruptIndexError(self.where, "the checksum of its page index does not match the footer")
            return load_index(data, lists, pages)

        try:
            return load_layout(text or b"{}", self.where, index)
        except (StoreFormatError, CorruptIndexError):
            raise
        except (OSError, LookupError, TypeError, ValueError, AttributeError) as e:
            raise CorruptIndexError(self.where, f"its footer has no valid layout: {_first_line(e)}") from e

    def _read(self, spans: list[tuple[int, int]]) -> list[bytes]:
        try:
            return self._folder.read(self._path, spans)
        except FileNotFoundError:
            raise missing(self._folder, self._step, self._path) from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
