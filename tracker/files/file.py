"""What is known of a file that the driver read or wrote."""

from __future__ import annotations

import os
import stat
import sys
import time
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["FileRead", "FileState", "FileWrite", "Stat", "look", "now_ns"]

_COARSE = 5
"""Linux's CLOCK_REALTIME_COARSE, for which Python has no name."""
_LATE_NS = 20_000_000
"""How far, elsewhere, the times of files may be behind the clock."""


def now_ns() -> int:
    """Return the time by the clock that gives files their times: never later than that of a change made from now on."""
    if sys.platform == "linux":
        return time.clock_gettime_ns(_COARSE)
    return time.time_ns() - _LATE_NS


class Stat(NamedTuple):
    """What the operating system says of a regular file; equal for files that nobody has touched in between.

    The time of the last change (`ctime_ns`) can't be set by a program, so it shows even a write that keeps the size
    and restores the time of modification.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int


def look(path: str) -> Stat | None:
    """Return the state of a regular file, links followed; None for a folder, a pipe, a device or no file at all."""
    try:
        status = os.stat(path)  # noqa: PTH116 - hot
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return Stat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_dev, status.st_ino)


@dataclass(frozen=True, slots=True)
class FileState:
    """One state of a file.

    Parameters
    ----------
    path : str
        Absolute, as the script spells it: links are not resolved, because Spark does not resolve them either.
    size : int
        Bytes.
    mtime_ns : int
        Nanoseconds since the epoch.
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
        The file as it was when it was opened.
    real : str
        Its path with all links resolved.
    site : str
        ``file:line`` of the script; its file where no line of it is on the stack, as in a thread of a library.
    action : str
        The function that the script called, such as ``pandas.read_csv`` or ``open``.
    at_ns : int
        When it was opened, in nanoseconds since the epoch.
    root : str
        The folder that the call reads as one data set; "" for a single file.
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
        The file as the driver left it.
    real : str
        Its path with all links resolved.
    site, action : str
        See `FileRead`: those of the last call that changed the file.
    sources : tuple of FileState
        Files that it contains as they were: what it was copied or moved from, and its own state before rows were
        appended.
    computed : bool
        Whether the script wrote to it, so that it may contain anything that was read before; False for a plain copy.
    until_ns : int
        Nothing that was read after this time is in it (nanoseconds since the epoch).
    root, source_root : str
        The folder that the call wrote, and the one that it copied, as one data set; "" for a single file.
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
