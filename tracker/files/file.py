"""Records of files that the driver reads and writes."""

from __future__ import annotations

import os
import stat
import sys
import time
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["FileRead", "FileState", "FileWrite", "Stat", "look", "now_ns"]

_COARSE = 5
"""Linux's CLOCK_REALTIME_COARSE, which Python's `time` module does not name."""
_LATE_NS = 20_000_000
"""How far file times may lag behind the clock on other systems."""


def now_ns() -> int:
    """Return the current time of the file system's clock: at or before the time of any later change to a file."""
    if sys.platform == "linux":
        return time.clock_gettime_ns(_COARSE)
    return time.time_ns() - _LATE_NS


class Stat(NamedTuple):
    """State of a regular file. Two states are equal if the file was not touched in between.

    Programs can't set the change time (`ctime_ns`), so it reveals even a write that keeps the file's size and restores
    its modification time.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int


def look(path: str) -> Stat | None:
    """Return the state of a regular file, following links; None for folders, pipes, devices and missing files."""
    try:
        status = os.stat(path)  # noqa: PTH116 - hot
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return Stat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_dev, status.st_ino)


@dataclass(frozen=True, slots=True)
class FileState:
    """A file's path, size and modification time.

    Parameters
    ----------
    path : str
        Absolute path as the script spells it. Links are not resolved, because Spark does not resolve them either.
    size : int
        Bytes.
    mtime_ns : int
        Modification time in nanoseconds since the epoch.
    """

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file that the driver opened for reading.

    Parameters
    ----------
    file : FileState
        State of the file when it was opened.
    real : str
        Its path with all links resolved.
    site : str
        ``file:line`` of the script; only its file if the stack contains no line of it, as in a library's thread.
    action : str
        The function that the script called, such as ``pandas.read_csv`` or ``open``.
    at_ns : int
        When it was opened, in nanoseconds since the epoch.
    root : str
        The folder that the call reads as one dataset; "" for a single file.
    """

    file: FileState
    real: str
    site: str
    action: str
    at_ns: int
    root: str = ""


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A file that the driver wrote, copied or moved.

    Parameters
    ----------
    file : FileState
        State of the file after the driver wrote it.
    real : str
        Its path with all links resolved.
    site, action : str
        As in `FileRead`, for the last call that changed the file.
    sources : tuple of FileState
        Files whose content it contains unchanged: the file that it was copied or moved from, or its own state before
        the script appended to it.
    computed : bool
        True if the script wrote to the file, which may then contain anything read before; False for a plain copy.
    until_ns : int
        The file contains nothing that was read after this time (nanoseconds since the epoch).
    root, source_root : str
        The folders that the call wrote to and copied from as one dataset; "" for a single file.
    """

    file: FileState
    real: str
    site: str
    action: str
    sources: tuple[FileState, ...]
    computed: bool
    until_ns: int
    root: str = ""
    source_root: str = ""
