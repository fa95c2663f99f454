"""A store's folder on the local disk, or on one mounted like it."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar
from urllib.parse import quote

from provspark.index_store.store.fs.folder import UNKNOWN, Folder, Stamp, checked, reading, writing
from provspark.model.errors import StoreUnreachableError, StoreWriteError

__all__ = ["LocalFolder"]

T = TypeVar("T")
_TRIES = 20
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS}


class LocalFolder(Folder):
    """Folder on the local disk; writes are fsynced, and publishing creates a hard link."""

    readers = 1

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.abspath(root))  # noqa: PTH100 (keeps symbolic links)
        self.url = "file://" + quote(str(self.root))

    def raw_url(self, path: str) -> str:
        """Return the URL of a path in the form of Hadoop's ``Path``."""
        return f"file://{self._full(path)}"

    def exists(self) -> bool:
        """Return whether the folder exists."""
        with reading(str(self.root)):
            return self.root.is_dir()

    def read(self, path: str, spans: list[tuple[int, int]] | None = None) -> list[bytes]:
        """Read spans of a file."""
        full = f"{self.root}/{checked(path)}"
        with reading(full):
            fd = os.open(full, os.O_RDONLY)
            try:
                return [_read_at(fd, *span) for span in ([(0, os.fstat(fd).st_size)] if spans is None else spans)]
            finally:
                os.close(fd)

    def stamps(self, paths: list[str]) -> list[Stamp | None]:
        """Return size and time of each file."""
        stamps: list[Stamp | None] = []
        for path in paths:
            full = f"{self.root}/{checked(path)}"
            try:
                with reading(full):
                    s = os.stat(full)  # noqa: PTH116 (there may be a hundred thousand steps)
                stamps.append(Stamp(s.st_size, s.st_mtime_ns))
            except FileNotFoundError:
                stamps.append(None)
            except StoreUnreachableError:
                stamps.append(UNKNOWN)
        return stamps

    def names(self, path: str) -> list[str]:
        """Return the sorted names in a folder."""
        full = self._full(path)
        try:
            with reading(str(full)):
                return sorted(os.listdir(full))  # noqa: PTH208 (there may be many steps)
        except FileNotFoundError:
            return []

    def walk(self, path: str) -> list[str]:
        """Return all files below a folder."""
        full = self._full(path)
        paths = []
        for folder, _, files in os.walk(full):
            paths += [(Path(folder) / name).relative_to(full).as_posix() for name in files]
        return sorted(paths)

    def make(self, path: str) -> None:
        """Create a folder durably."""
        full = self._full(path)
        with writing(str(full)):
            _persist(lambda: _make(full))

    @contextlib.contextmanager
    def create(self, path: str) -> Iterator[BinaryIO]:
        """Create a file and its parent folders; its content is on disk after the context."""
        full = self._full(path)
        with writing(str(full)), _persist(lambda: _opened(full)) as f:
            yield f
            f.flush()
            os.fsync(f.fileno())

    def settle(self, folders: Iterable[str]) -> None:
        """Write the lists of names of some folders to disk."""
        for path in folders:
            full = self._full(path)
            with writing(str(full)):
                _sync(full)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write a temporary file, then link it: the name appears with its whole content, and for one writer only."""
        full = self._full(path)
        with self._beside(path, data) as beside:
            with writing(str(full)):
                try:
                    os.link(beside, full)
                except FileExistsError:
                    return False
                except OSError as e:
                    if e.errno not in _NO_LINKS:
                        raise
                    raise StoreWriteError(
                        f"{full} can't be published: its file system has no hard links. "
                        f"Put the store on a file system that has, or on an object store."
                    ) from e
                _sync(full.parent)
            return True

    def replace(self, path: str, data: bytes) -> None:
        """Write a temporary file, then rename it."""
        full = self._full(path)
        with self._beside(path, data) as beside, writing(str(full)):
            beside.rename(full)
            _sync(full.parent)

    @contextlib.contextmanager
    def _beside(self, path: str, data: bytes) -> Iterator[Path]:
        """Write a temporary file next to another; it is removed after the context."""
        name = f"{path}.{uuid.uuid4().hex}.tmp"
        try:
            with self.create(name) as f:
                f.write(data)
            yield self._full(name)
        finally:
            self.remove(name)

    def remove(self, path: str) -> None:
        """Remove a file."""
        full = self._full(path)
        with writing(str(full)), contextlib.suppress(FileNotFoundError):
            full.unlink()

    def remove_tree(self, path: str) -> None:
        """Remove a folder and all its content."""
        full = self._full(path)
        with writing(str(full)):
            for folder, folders, files in os.walk(full, topdown=False):
                for name in (*files, *folders):
                    inner = Path(folder) / name
                    with contextlib.suppress(FileNotFoundError):
                        if inner.is_dir() and not inner.is_symlink():
                            inner.rmdir()
                        else:
                            inner.unlink()
            with contextlib.suppress(FileNotFoundError):
                full.rmdir()

    def remove_empty(self, path: str) -> None:
        """Remove a folder if it is empty."""
        with contextlib.suppress(OSError):
            self._full(path).rmdir()

    def _full(self, path: str) -> Path:
        return self.root / checked(path) if path else self.root


def _read_at(fd: int, start: int, stop: int) -> bytes:
    part = os.pread(fd, stop - start, start)
    if len(part) == stop - start:
        return part
    parts = [part]
    start += len(part)
    while part and start < stop:
        part = os.pread(fd, stop - start, start)
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _make(full: Path) -> None:
    for folder in reversed([p for p in (full, *full.parents) if not p.exists()]):
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
        _sync(folder.parent)
    if not full.is_dir():
        raise NotADirectoryError(str(full))


def _opened(full: Path) -> BinaryIO:
    try:
        return full.open("xb")
    except FileNotFoundError:
        _make(full.parent)
        return full.open("xb")


def _persist(act: Callable[[], T]) -> T:
    """Retry if a writer of the same step, on giving up, removed an empty folder in between."""
    for _ in range(_TRIES):
        with contextlib.suppress(FileNotFoundError):
            return act()
    return act()


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
