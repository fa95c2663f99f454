"""Folders that a store can lie in: what the store asks of a disk and of whatever `pyarrow.fs` reaches.

All paths are relative, with ``/``; those that leave the folder are refused.
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
"""What object stores and HDFS say, by way of pyarrow, where credentials are wrong or not enough."""
_READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}


class Stamp(NamedTuple):
    """What tells that a file changed: bytes and modification time (ns since the epoch)."""

    size: int
    mtime: int


UNKNOWN = Stamp(-1, -1)
"""Of a file that may not be looked at: reading it says why."""


class Folder(ABC):
    """Where a store's files lie. A file that is not there raises FileNotFoundError; all else is typed."""

    url: str
    """Normalised and percent-encoded, without user name or password: `open_folder` takes it back."""
    readers: int
    """How many files to read at once: where each answers only after a while, many."""

    def where(self, path: str) -> str:
        """A file's URL for people: without the options behind ``?``."""
        return f"{self.url.split('?', 1)[0]}/{quote(path)}" if path else self.url

    @abstractmethod
    def raw_url(self, path: str) -> str:
        """The URL of a path as Hadoop's ``Path`` reads it: not percent-encoded, no options behind ``?``."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether there is such a folder."""

    def vacant(self) -> bool:
        """Whether the folder exists and has nothing in it, so that a store can begin there."""
        return self.exists() and not self.names("")

    @abstractmethod
    def read(self, path: str, spans: list[tuple[int, int]] | None = None) -> list[bytes]:
        """Read [start, stop) spans, or all as the only one. A span past the end comes back short."""

    @abstractmethod
    def stamps(self, paths: list[str]) -> list[Stamp | None]:
        """Size and time of each file; None where there is none, `UNKNOWN` where it may not be looked at."""

    @abstractmethod
    def names(self, path: str) -> list[str]:
        """Names in a folder, sorted; none where there is no such folder."""

    @abstractmethod
    def walk(self, path: str) -> list[str]:
        """All files below a folder, sorted, relative to it; none where there is no such folder."""

    @abstractmethod
    def make(self, path: str) -> None:
        """Make a folder and those above it."""

    @abstractmethod
    def create(self, path: str) -> contextlib.AbstractContextManager[BinaryIO]:
        """A new file, its content durable once the context is left, its name by `settle`; folders above it are made."""

    def settle(self, folders: Iterable[str]) -> None:  # noqa: B027 (most file systems have no more to do)
        """Make the names of files created in some folders durable."""

    @abstractmethod
    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Make a file appear whole, unless there is one: then False, and nothing is left behind."""

    @abstractmethod
    def replace(self, path: str, data: bytes) -> None:
        """Make a file hold this, whole: who reads it meanwhile reads the old content or the new."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file; fine where there is none."""

    @abstractmethod
    def remove_tree(self, path: str) -> None:
        """Remove a folder with all in it; fine where there is none."""

    @abstractmethod
    def remove_empty(self, path: str) -> None:
        """Remove a folder if nothing is in it, and where that can be done in one act; else leave it."""


def checked(path: str) -> str:
    """Return a relative path as it is, if it stays in its folder.

    Raises
    ------
    InvalidWriteError
        It is absolute, empty, or has empty, ``.`` or ``..`` parts.
    """
    if "\0" in path or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise InvalidWriteError(f"{path!r} is no path within the store")
    return path


@contextlib.contextmanager
def reading(where: str) -> Iterator[None]:
    """Turn what a file system raises on reading into typed errors; FileNotFoundError passes."""
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
    """The error of what can't be read, by its reason: no access, no such bucket, or no answer."""
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
    """Turn what a file system raises on writing into typed errors."""
    try:
        yield
    except (StoreReadOnlyError, StoreWriteError, StoreUnreachableError, InvalidWriteError):
        raise
    except OSError as e:
        if e.errno in _READ_ONLY or isinstance(e, PermissionError):
            raise StoreReadOnlyError(
                f"{where} can't be written: {_reason(e)}. Reading goes on; to write, make the folder "
                f"writable for this user or name another store."
            ) from e
        if isinstance(e, NotADirectoryError):
            raise StoreUnreachableError(f"{where}: a file stands where a folder should be") from e
        said = f"{where} could not be written: {_reason(e)}"
        raise StoreWriteError(f"{said}. Nothing of it is visible; mend that and try again.") from e


def _reason(error: Exception) -> str:
    said: str = getattr(error, "strerror", None) or (str(error).splitlines() or [type(error).__name__])[0]
    return said
