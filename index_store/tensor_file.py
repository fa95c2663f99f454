"""One Parquet file of tensors/, opened: its footer checked once, its pages checked on every read."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from provspark.errors import CorruptIndexError, StepRemovedError, StoreFormatError, StoreUnreachableError
from provspark.index_store.cache import Cache
from provspark.index_store.fs import Folder, checked
from provspark.index_store.layout import META_KEY, Layout, load_layout
from provspark.index_store.model import Boxes, Int64, StoredFile
from provspark.index_store.packed import Packed, Unpacked
from provspark.index_store.pages import Values, load_index, unpack
from provspark.index_store.paths import missing, step_path
from provspark.index_store.row_groups import read_groups

__all__ = ["TensorFile"]

_TAIL = 1 << 16


class TensorFile:
    """A tensor file whose footer is what the manifest says.

    Parameters
    ----------
    folder, step, stored
        Where it is, and what the manifest says of it.
    cache : Cache
        Pages as they stand in the file, checked; shared by files.

    Raises
    ------
    CorruptIndexError
        Size, footer hash, index or layout differ, or the file is gone.
    StepRemovedError
        The whole step is gone.
    StoreFormatError
        The file's format is newer than this package reads.
    """

    def __init__(self, folder: Folder, step: str, stored: StoredFile, cache: Cache[bytes]) -> None:
        self._folder, self._step, self._size, self._cache = folder, step, stored.size, cache
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
        self.layout = self._layout(tail)
        if not self.layout.spans and (tail if len(tail) == stored.size else self._read([(0, 4)])[0])[:4] != b"PAR1":
            raise CorruptIndexError(self.where, "it does not begin as a Parquet file does")

    def decode(self, ids: Int64) -> Boxes:
        """Boxes of these pages, ascending, one after another; each page's checksum is verified."""
        return self.unpacked(ids, Packed.boxes)

    def unpacked(self, ids: Int64, use: Callable[[Packed], Boxes], *, keep: bool = False) -> Boxes:
        """Boxes that `use` picks of those of these pages; `keep` keeps what was read for the next time."""
        if not len(ids):
            return Boxes.empty()
        layout = self.layout
        stored: Mapping[str, Unpacked]
        try:
            pages = {name: self._pages(name, ids, keep) for name in layout.spans}
            if layout.format == 1:
                stored = read_groups(self._metadata, self._size, ids, layout.spans[""], list(map(bytes, pages[""])))
            else:
                last = int(layout.sizes(ids[-1:])[0])
                stored = {n: Values(p, layout.columns[n], layout.page_rows, last) for n, p in pages.items()}
            return use(Packed(layout, ids, stored))
        except (CorruptIndexError, StepRemovedError, StoreUnreachableError):
            raise
        except (OSError, pa.ArrowException, LookupError, ValueError) as e:
            raise CorruptIndexError(self.where, f"pages {ids.tolist()}: {_first_line(e)}") from e

    def _pages(self, name: str, ids: Int64, keep: bool) -> list[Any]:
        """The values of some pages of a column, as `unpack` gives them."""
        keys = [(self.where, name, i) for i in ids.tolist()]
        found: list[Any] = [*self._cache.several(keys)] if keep else [None] * len(keys)
        at = [k for k, page in enumerate(found) if page is None]
        if not at:
            return found
        fresh, how = ids if len(at) == len(found) else ids[at], self.layout.columns.get(name)
        pages = self._checked(name, fresh)
        if how is not None:
            pages = unpack(pages, how, self.layout.sizes(fresh).tolist())
        if keep:
            pages = [bytes(page) for page in pages]
            self._cache.put_several((keys[k], page, len(page) + 200) for k, page in zip(at, pages, strict=True))
        if len(at) == len(found):
            return pages
        for k, page in zip(at, pages, strict=True):
            found[k] = page
        return found

    def _checked(self, name: str, ids: Int64) -> list[Any]:
        """The packed values of some pages of a column; those that stand side by side are read at once."""
        spans = self.layout.spans[name]
        told = [a[ids].tolist() for a in (spans.at, spans.size, spans.head, spans.body, spans.crc)]
        stretches: list[tuple[int, int]] = []
        for start, size in zip(*told[:2], strict=True):
            low = stretches.pop()[0] if stretches and stretches[-1][1] == start else start
            stretches.append((low, start + size))
        parts = zip(stretches, self._read(stretches), strict=True)
        found: list[Any] = []
        part, low, high = memoryview(b""), 0, 0
        for number, start, size, head, body, crc in zip(ids.tolist(), *told, strict=True):
            if start >= high:
                (low, high), read = next(parts)
                part = memoryview(read)
            data = part[start - low : start - low + size]
            if len(data) != size:
                raise CorruptIndexError(self.where, f"page {number} is cut short")
            if zlib.crc32(data) != crc:
                raise CorruptIndexError(self.where, f"the checksum of page {number} differs")
            found.append(data[head : head + body])
        return found

    def _layout(self, tail: bytes) -> Layout:
        text = (self._metadata.metadata or {}).get(META_KEY)
        first = self._size - len(tail)

        def index(told: dict[str, Any], lists: int, pages: int) -> Int64:
            at, size = int(told["at"]), int(told["size"])
            data = tail[at - first : at - first + size] if at >= first else self._read([(at, at + size)])[0]
            if hashlib.sha256(data).hexdigest() != told["sha256"]:
                raise CorruptIndexError(self.where, "its index's checksum differs")
            return load_index(data, lists, pages)

        try:
            return load_layout(text or b"{}", self.where, index)
        except (StoreFormatError, CorruptIndexError):
            raise
        except (OSError, LookupError, TypeError, ValueError, AttributeError) as e:
            raise CorruptIndexError(self.where, f"its footer has no layout: {_first_line(e)}") from e

    def _read(self, spans: list[tuple[int, int]]) -> list[bytes]:
        try:
            return self._folder.read(self._path, spans)
        except FileNotFoundError:
            raise missing(self._folder, self._step, self._path) from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
