"""Flush files that a script has not closed when its step ends."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

__all__ = ["flush_open"]

_PLAIN = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)
_PACKED = (gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile)
_DESCRIPTORS = Path("/proc/self/fd")


def flush_open(paths: Collection[str]) -> list[str]:
    """Flush Python's buffers of open files, so that the files have the content that they will have once closed.

    Parameters
    ----------
    paths : collection of str
        Real paths of files that the script wrote.

    Returns
    -------
    list of str
        Those that will still change when they are closed: open compressed files, which end with a checksum.
    """
    mine = set(paths) & set(_open_files()) if paths else set()
    if not mine:
        return []
    for each in _objects(_PLAIN, mine):
        each.flush()
    return sorted({os.path.realpath(each.name) for each in _objects(_PACKED, mine)})


def _open_files() -> Iterator[str]:
    """Yield the paths of this process's open files; nothing on systems without ``/proc``."""
    try:
        names = os.listdir(_DESCRIPTORS)  # noqa: PTH208
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(_DESCRIPTORS / name)  # noqa: PTH115
        except OSError:
            continue


def _objects(kinds: tuple[type, ...], paths: Collection[str]) -> Iterator[Any]:
    """Yield Python's open file objects that write to these paths."""
    for each in gc.get_objects():
        if issubclass(type(each), kinds) and not each.closed and each.writable():
            name = getattr(each, "name", None)
            if isinstance(name, (str, bytes)) and os.path.realpath(os.fsdecode(name)) in paths:
                yield each
