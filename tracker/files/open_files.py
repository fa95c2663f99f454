"""Files that a script has not closed when its step ends: what it wrote may still be in Python's buffers."""

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
    """Write out what is left in the buffers of files, so that they are what they will be when Python closes them.

    Parameters
    ----------
    paths : collection of str
        Real paths of files that the script wrote.

    Returns
    -------
    list of str
        Those of them that change once more when they are closed: packed files, which end with a checksum.
    """
    mine = set(paths) & set(_open_files()) if paths else set()
    if not mine:
        return []
    for each in _objects(_PLAIN, mine):
        each.flush()
    return sorted({os.path.realpath(each.name) for each in _objects(_PACKED, mine)})


def _open_files() -> Iterator[str]:
    """Yield the paths of this process's open files, where the operating system tells."""
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
    """Yield the open files of Python's that write to these paths."""
    for each in gc.get_objects():
        if issubclass(type(each), kinds) and not each.closed and each.writable():
            name = getattr(each, "name", None)
            if isinstance(name, (str, bytes)) and os.path.realpath(os.fsdecode(name)) in paths:
                yield each
