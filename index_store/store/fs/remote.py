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
    """Files behind `pyarrow.fs`.

    Parameters
    ----------
    put : callable, optional
        Takes a whole path and bytes and makes the object where there is none: True if so. Without it
        `put_if_absent` looks, writes, and reads back: of writers that come within the time of one put both may
        believe that they won, and the last one's file stays (docs/format.md, "Publishing").
    """

    readers = 16

    def __init__(self, filesystem: Any, root: str, url: str, put: Callable[[str, bytes], bool] | None = None) -> None:
        self.filesystem, self.root, self.url, self._conditional = filesystem, root.rstrip("/"), url, put

    @classmethod
    def from_url(cls, url: str) -> RemoteFolder:
        """Open by URL; a user name and password in it are used, and not repeated in `url`."""
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
        """The URL of a path as Hadoop's ``Path`` reads it."""
        parts = urlsplit(self.url)
        inner = self.root.split("/", 1)[1] if "/" in self.root else ""
        inner = self.root.strip("/") if parts.scheme in ("hdfs", "viewfs") else inner
        base = f"{parts.scheme}://{parts.netloc}/{inner}"
        return "/".join(p for p in (base.rstrip("/"), path) if p)

    def exists(self) -> bool:
        """Whether something answers there; object stores have no folders, so an empty one counts."""
        return self._there(self.root)

    def vacant(self) -> bool:
        """Whether there is nothing below the URL, and the folder above all of it (a bucket) exists."""
        return self._there(self.root.split("/", 1)[0] or "/") and not self.names("")

    def _there(self, path: str) -> bool:
        with reading(self.url):
            info = self.filesystem.get_file_info(path)
        return bool(info.type != pafs.FileType.NotFound)

    def read(self, path: str, spans: list[tuple[int, int]] | None = None) -> list[bytes]:
        """Read spans of a file, several at once."""
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
        """Size and time of each file."""
        full = [self._full(p) for p in paths]
        try:
            with reading(self.url):
                return list(map(_stamp, self.filesystem.get_file_info(full)))
        except StoreAccessError:
            if len(full) == 1:
                return [UNKNOWN]
            return [stamp for path in paths for stamp in self.stamps([path])]

    def names(self, path: str) -> list[str]:
        """Names in a folder."""
        return sorted(i.base_name for i in self._list(path, recursive=False))

    def walk(self, path: str) -> list[str]:
        """All files below a folder."""
        cut = len(self._full(path)) + 1
        return sorted(i.path[cut:] for i in self._list(path, recursive=True) if i.type == pafs.FileType.File)

    def make(self, path: str) -> None:
        """Make a folder."""
        with writing(self.where(path)):
            self.filesystem.create_dir(self._full(path), recursive=True)

    @contextlib.contextmanager
    def create(self, path: str) -> Iterator[BinaryIO]:
        """A new file, complete once the context is left; removed if it is left by an error."""
        with writing(self.where(path)):
            try:
                with self.filesystem.open_output_stream(self._full(path), compression=None) as f:
                    yield f
            except BaseException:
                with contextlib.suppress(OSError):
                    self.filesystem.delete_file(self._full(path))
                raise

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Put on the condition that there is none; where the file system knows no such put: look, write, read back."""
        if self.stamps([path])[0] is not None:
            return False
        if self._conditional is not None:
            return self._conditional(self._full(path), data)
        self.replace(path, data)
        try:
            return self.read(path)[0] == data
        except FileNotFoundError as e:
            said = f"{self.where(path)} was written and is gone"
            raise StoreWriteError(f"{said}; nothing of it is visible, try again") from e

    def replace(self, path: str, data: bytes) -> None:
        """Put; an object changes at once."""
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
        """Remove a folder with all in it."""
        with writing(self.where(path)), contextlib.suppress(FileNotFoundError):
            self.filesystem.delete_dir(self._full(path))

    def remove_empty(self, path: str) -> None:
        """Leave it: nothing can be removed on condition that it is empty, and a writer may be putting a file."""

    def _list(self, path: str, *, recursive: bool) -> list[Any]:
        with reading(self.where(path)):
            selector = pafs.FileSelector(self._full(path), allow_not_found=True, recursive=recursive)
            return list(self.filesystem.get_file_info(selector))

    def _full(self, path: str) -> str:
        return f"{self.root}/{checked(path)}" if path else self.root


def _stamp(info: Any) -> Stamp | None:
    return Stamp(info.size, info.mtime_ns or 0) if info.type == pafs.FileType.File else None
