"""A folder that fails at a given operation, to simulate a killed process or a full disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, cast

from provspark.index_store.store.fs.folder import Folder, Stamp

__all__ = ["FaultyFolder", "Killed"]


class Killed(BaseException):
    """Simulated end of the process, after which it can't use the folder."""


class FaultyFolder(Folder):
    """Wrapper of a folder whose operations fail from a given one on.

    Parameters
    ----------
    inner : Folder
        The wrapped folder.
    at : int
        Number of the first operation that fails, from 1; 0 for none. A file that is being written then contains half
        of the data.
    failure : callable
        Returns the exception to raise.
    """

    def __init__(self, inner: Folder, at: int = 0, failure: Callable[[], BaseException] = Killed) -> None:
        self._inner, self._at, self._failure = inner, at, failure
        self.url = inner.url
        self.count = 0

    def _step(self) -> None:
        self.count += 1
        if self._at and self.count >= self._at:
            raise self._failure()

    def raw_url(self, path: str) -> str:
        """See `Folder.raw_url`."""
        return self._inner.raw_url(path)

    def exists(self) -> bool:
        """See `Folder.exists`."""
        self._step()
        return self._inner.exists()

    def read(self, path: str, spans: list[tuple[int, int]] | None = None) -> list[bytes]:
        """See `Folder.read`."""
        self._step()
        return self._inner.read(path, spans)

    def stamps(self, paths: list[str]) -> list[Stamp | None]:
        """See `Folder.stamps`."""
        self._step()
        return self._inner.stamps(paths)

    def names(self, path: str) -> list[str]:
        """See `Folder.names`."""
        self._step()
        return self._inner.names(path)

    def walk(self, path: str) -> list[str]:
        """See `Folder.walk`."""
        self._step()
        return self._inner.walk(path)

    def make(self, path: str) -> None:
        """See `Folder.make`."""
        self._step()
        self._inner.make(path)

    @contextlib.contextmanager
    def create(self, path: str) -> Iterator[BinaryIO]:
        """See `Folder.create`."""
        self._step()
        with self._inner.create(path) as file:
            yield cast(BinaryIO, _Half(file, self._step))
            self._step()

    def settle(self, folders: Iterable[str]) -> None:
        """See `Folder.settle`."""
        self._step()
        self._inner.settle(folders)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """See `Folder.put_if_absent`."""
        self._step()
        done = self._inner.put_if_absent(path, data)
        self._step()
        return done

    def replace(self, path: str, data: bytes) -> None:
        """See `Folder.replace`."""
        self._step()
        self._inner.replace(path, data)
        self._step()

    def remove(self, path: str) -> None:
        """See `Folder.remove`."""
        self._step()
        self._inner.remove(path)

    def remove_tree(self, path: str) -> None:
        """See `Folder.remove_tree`. Half of the files are removed before a failure."""
        self._step()
        files = self._inner.walk(path)
        for name in files[: len(files) // 2]:
            self._inner.remove(f"{path}/{name}")
        self._step()
        self._inner.remove_tree(path)

    def remove_empty(self, path: str) -> None:
        """See `Folder.remove_empty`."""
        self._step()
        self._inner.remove_empty(path)


class _Half:
    """A file to which half of the data is written before a failure."""

    def __init__(self, file: BinaryIO, step: Callable[[], None]) -> None:
        self._file, self._step = file, step

    def write(self, data: bytes) -> int:
        half = len(data) // 2
        self._file.write(data[:half])
        self._step()
        self._file.write(data[half:])
        return len(data)
