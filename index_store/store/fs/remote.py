"""A store's folder on any file system of pyarrow: object stores, HDFS."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit, urlunsplit

import pyarrow.fs as pafs

from provspark.index_store.store.fs.folder import UNKNOWN, Folder, Stamp, checked, reading, unreadable, writing
from provspark.index_store.store.fs.s3_put import ConditionalPut
from provspark.model.errors import StoreAccessError, StoreWriteError

__all__ = ["RemoteFolder"]


class RemoteFolder(Folder):
    """Folder on a file system of pyarrow.

    Parameters
    ----------
    put : callable, optional
        Takes a full path and bytes, and creates the object if none exists; returns whether it did. Without it
        `put_if_absent` checks, writes, and reads back: two writers within the time of one put may both believe that
        they won, and the file of the last one stays (docs/format.md, "Publishing").
    """

    readers = 16

    def __init__(self, filesystem: Any, root: str, url: str, put: Callable[[str, bytes], bool] | None = None) -> None:
        self.filesystem, self.root, self.url, self._conditional = filesystem, root.rstrip("/"), url, put

    @classmethod
    def from_url(cls, url: str) -> RemoteFolder:
        """Open a URL; a user name and password in it are used, but not kept in `url`."""
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        clean = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), parts.query, ""))
        try:
            filesystem, root = pafs.FileSystem.from_uri(url)
        except (ValueError, NotImplementedError, OSError) as e:
            reason = type(e)((str(e).splitlines() or [type(e).__name__])[0].replace(url, clean))
            raise unreadable(f"{clean} does not answer", reason) from e
        return cls(filesystem, root, clean, ConditionalPut(parts) if parts.scheme == "s3" else None)

    def raw_url(self, path: str) -> str:
        """Return the URL of a path in the form of Hadoop's ``Path``."""
        parts = urlsplit(self.url)
        inner = self.root.split("/", 1)[1] if "/" in self.root else ""
        inner = self.root.strip("/") if parts.scheme in ("hdfs", "viewfs") else inner
        base = f"{parts.scheme}://{parts.netloc}/{inner}"
        return "/".join(p for p in (base.rstrip("/"), path) if p)

    def exists(self) -> bool:
        """Return whether the file system has anything at the URL."""
        return self._there(self.root)

    def vacant(self) -> bool:
        """Return whether the bucket (or the root folder) exists, with nothing below the URL."""
        return self._there(self.root.split("/", 1)[0] or "/") and not self.names("")

    def _there(self, path: str) -> bool:
        with reading(self.url):
            info = self.filesystem.get_file_info(path)
        return bool(info.type != pafs.FileType.NotFound)

    def read(self, path: str, spans: list[tuple[int, int]] | None = None) -> list[bytes]:
        """Read spans of a file in parallel."""
        with reading(self.where(path)), self.filesystem.open_input_file(self._full(path)) as f:
            if spans is None:
                return [f.read()]
            size = f.size()
            cut = [(min(a, size), min(b, size)) for a, b in spans]
            if len(cut) == 1:
                return [f.read_at(b - a, a) for a, b in cut]
            with ThreadPoolExecutor(self.readers) as pool:
                return list(pool.map(lambda s: cast(bytes, f.read_at(s[1] - s[0], s[0])), cut))

    def stamps(self, paths: list[str]) -> list[Stamp | None]:
        """Return size and time of each file."""
        full = [self._full(p) for p in paths]
        try:
            with reading(self.url):
                return list(map(_stamp, self.filesystem.get_file_info(full)))
        except StoreAccessError:
            if len(full) == 1:
                return [UNKNOWN]
            return [stamp for path in paths for stamp in self.stamps([path])]

    def names(self, path: str) -> list[str]:
        """Return the sorted names in a folder."""
        return sorted(i.base_name for i in self._list(path, recursive=False))

    def walk(self, path: str) -> list[str]:
        """Return all files below a folder."""
        cut = len(self._full(path)) + 1
        return sorted(i.path[cut:] for i in self._list(path, recursive=True) if i.type == pafs.FileType.File)

    def make(self, path: str) -> None:
        """Create a folder."""
        with writing(self.where(path)):
            self.filesystem.create_dir(self._full(path), recursive=True)

    @contextlib.contextmanager
    def create(self, path: str) -> Iterator[BinaryIO]:
        """Create a file that is complete after the context; an error in the context removes it."""
        with writing(self.where(path)):
            try:
                with self.filesystem.open_output_stream(self._full(path), compression=None) as f:
                    yield f
            except BaseException:
                with contextlib.suppress(OSError):
                    self.filesystem.delete_file(self._full(path))
                raise

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Put a file if none exists; if the file system has no conditional put, check, write and read back."""
        if self.stamps([path])[0] is not None:
            return False
        if self._conditional is not None:
            return self._conditional(self._full(path), data)
        self.replace(path, data)
        try:
            return self.read(path)[0] == data
        except FileNotFoundError as e:
            said = f"{self.where(path)} was written, and then disappeared"
            raise StoreWriteError(f"{said}. Nothing was saved. Try again.") from e

    def replace(self, path: str, data: bytes) -> None:
        """Put a file; an object changes at once."""
        with (
            writing(self.where(path)),
            self.filesystem.open_output_stream(self._full(path), compression=None) as f,
        ):
            f.write(data)

    def remove(self, path: str) -> None:
        """Remove a file."""
        with writing(self.where(path)), contextlib.suppress(FileNotFoundError):
            self.filesystem.delete_file(self._full(path))

    def remove_tree(self, path: str) -> None:
        """Remove a folder and all its content."""
        with writing(self.where(path)), contextlib.suppress(FileNotFoundError):
            self.filesystem.delete_dir(self._full(path))

    def remove_empty(self, path: str) -> None:
        """Do nothing: no request removes a folder only if it is empty, and a writer may be putting a file there."""

    def _list(self, path: str, *, recursive: bool) -> list[Any]:
        with reading(self.where(path)):
            selector = pafs.FileSelector(self._full(path), allow_not_found=True, recursive=recursive)
            return list(self.filesystem.get_file_info(selector))

    def _full(self, path: str) -> str:
        return f"{self.root}/{checked(path)}" if path else self.root


def _stamp(info: Any) -> Stamp | None:
    return Stamp(info.size, info.mtime_ns or 0) if info.type == pafs.FileType.File else None
