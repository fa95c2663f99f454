"""Interface of a store to the file system of its folder.

All paths are relative and use ``/``; paths that leave the folder are rejected.
"""

from __future__ import annotations

import contextlib
import errno
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

from provspark.model.errors import (
    CorruptIndexError,
    InvalidWriteError,
    StoreAccessError,
    StoreMissingError,
    StoreReadOnlyError,
    StoreUnreachableError,
    StoreWriteError,
    within_store,
)

__all__ = ["UNKNOWN", "Folder", "Stamp", "checked", "reading", "unreadable", "writing"]

_DENIED = re.compile(
    r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT_MATCH|INVALID_SIGNATURE|EXPIRED_TOKEN|UNRECOGNIZED_CLIENT|"
    r"INVALID_CLIENT_TOKEN|MISSING_AUTHENTICATION|AccessControlException|[Pp]ermission denied|"
    r"(?i:http (?:status|response)\D{0,12}40[13])"
)
"""Messages of object stores and HDFS, as pyarrow passes them on, for wrong or insufficient credentials."""
_READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}


class Stamp(NamedTuple):
    """Size in bytes and modification time (ns since the epoch) of a file; they show whether it changed."""

    size: int
    mtime: int


UNKNOWN = Stamp(-1, -1)
"""Stamp of a file that may not be accessed; reading the file raises the reason."""


class Folder(ABC):
    """Folder of a store. A missing file raises FileNotFoundError; other failures raise a ProvSparkError."""

    url: str
    """Normalised, percent-encoded URL without user name and password; `open_folder` accepts it."""
    readers: int
    """Number of files to read at once; large where each request takes a while."""

    def where(self, path: str) -> str:
        """Return the URL of a file for messages, without the options after ``?``."""
        return f"{self.url.split('?', 1)[0]}/{quote(path)}" if path else self.url

    @abstractmethod
    def raw_url(self, path: str) -> str:
        """Return the URL of a path in the form of Hadoop's ``Path``: not percent-encoded, no options after ``?``."""

    @abstractmethod
    def exists(self) -> bool:
        """Return whether the folder exists."""

    def vacant(self) -> bool:
        """Return whether the folder exists and is empty, so that a store can be created there."""
        return self.exists() and not self.names("")

    @abstractmethod
    def read(self, path: str, spans: list[tuple[int, int]] | None = None) -> list[bytes]:
        """Read the [start, stop) spans, or the whole file as one. A span that passes the end is cut."""

    @abstractmethod
    def stamps(self, paths: list[str]) -> list[Stamp | None]:
        """Return size and time of each file; None if it is missing, `UNKNOWN` if it may not be accessed."""

    @abstractmethod
    def names(self, path: str) -> list[str]:
        """Return the sorted names in a folder; none if it is missing."""

    @abstractmethod
    def walk(self, path: str) -> list[str]:
        """Return all files below a folder, sorted, relative to it; none if it is missing."""

    @abstractmethod
    def make(self, path: str) -> None:
        """Create a folder and its parents."""

    @abstractmethod
    def create(self, path: str) -> contextlib.AbstractContextManager[BinaryIO]:
        """Create a file and its parent folders. Its content is durable after the context, its name after `settle`."""

    def settle(self, folders: Iterable[str]) -> None:  # noqa: B027 (most file systems have no more to do)
        """Make the names of files created in some folders durable."""

    @abstractmethod
    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Create a file with its whole content if none exists; else return False and leave nothing behind."""

    @abstractmethod
    def replace(self, path: str, data: bytes) -> None:
        """Replace the content of a file at once: concurrent readers see the old content or the new."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file if it exists."""

    @abstractmethod
    def remove_tree(self, path: str) -> None:
        """Remove a folder and all its content, if it exists."""

    @abstractmethod
    def remove_empty(self, path: str) -> None:
        """Remove a folder if it is empty and the file system can do so atomically; else leave it."""


def checked(path: str) -> str:
    """Return a relative path if it stays in its folder.

    Raises
    ------
    InvalidWriteError
        The path is absolute, empty, or has empty, ``.`` or ``..`` parts, a backslash or a NUL.
    """
    if "\0" in path or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise InvalidWriteError(f"{path!r} is not a path within the store. Use a relative path without '.' and '..'.")
    return path


@contextlib.contextmanager
def reading(where: str) -> Iterator[None]:
    """Convert what a file system raises on reading to errors of the package; FileNotFoundError passes."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as e:
        raise FileNotFoundError(errno.ENOENT, "no such file", where) from e
    except (StoreUnreachableError, CorruptIndexError, InvalidWriteError):
        raise
    except IsADirectoryError as e:
        raise CorruptIndexError(where, "a folder is in its place") from e
    except OSError as e:
        if e.errno == errno.ENAMETOOLONG:
            raise FileNotFoundError(errno.ENOENT, "no such file", where) from e
        raise unreadable(f"{where} can't be read", e, where) from e


def unreadable(what: str, error: Exception, where: str = "") -> StoreUnreachableError:
    """Return the error of a failed read by its reason: no access, no such bucket, or no answer."""
    reason = _reason(error)
    said = "Check the URL and that the host can be reached, and try again"
    made = StoreUnreachableError(f"{what}: {reason}. {said}.")
    if isinstance(error, PermissionError) or _DENIED.search(reason):
        said = "Access is denied: check the permissions of the user, or the credentials"
        made = StoreAccessError(f"{what}: {reason}. {said}.")
    elif "NO_SUCH_BUCKET" in reason:
        made = StoreMissingError(f"{what}: {reason}. The bucket does not exist: check the URL.")
    made.reason = reason
    made.file, made.step = within_store(where)
    return made


@contextlib.contextmanager
def writing(where: str) -> Iterator[None]:
    """Convert what a file system raises on writing to errors of the package."""
    try:
        yield
    except (StoreReadOnlyError, StoreWriteError, StoreUnreachableError, InvalidWriteError):
        raise
    except OSError as e:
        if e.errno in _READ_ONLY or isinstance(e, PermissionError):
            raise StoreReadOnlyError(
                f"{where} can't be written: {_reason(e)}. Reading still works. To write, make the folder "
                f"writable for this user, or use another store."
            ) from e
        if isinstance(e, NotADirectoryError):
            raise StoreUnreachableError(
                f"{where} can't be written: a file is in the place of a folder. Remove the file, or use another store."
            ) from e
        said = f"{where} can't be written: {_reason(e)}"
        raise StoreWriteError(f"{said}. Nothing was saved. Fix the cause and try again.") from e


def _reason(error: Exception) -> str:
    said: str = getattr(error, "strerror", None) or (str(error).splitlines() or [type(error).__name__])[0]
    return said
