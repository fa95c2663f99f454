"""Files of a dataset as they are now."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Lock, Thread
from typing import Any

from provspark.index_store.values.files import root_of
from provspark.model.datasets import Dataset
from provspark.model.errors import ValuesUnavailableError

__all__ = ["DatasetListing", "Listed", "is_hidden", "listing"]

Listed = tuple[str, int, int]
"""Path below the dataset's folder, size in bytes, time in milliseconds."""
KEPT_SECONDS = 60.0
"""Seconds for which a listing of anything but a local disk is reused."""
PATIENCE = 10.0
"""Seconds that a question waits for such a listing."""
_MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class DatasetListing:
    """The data files of a dataset.

    Parameters
    ----------
    files : tuple of (path, size, time)
        Sorted by path; the path is ``""`` if the dataset is one file. Names that begin with ``_`` or ``.`` are left
        out, as in Spark.
    why : str
        Why there is no listing; empty if there is one.
    age : float
        Age of the listing in seconds; 0 for a local disk.
    absent : bool
        The folder is missing on this machine: it was removed, is on another machine, or is not mounted.
    """

    files: tuple[Listed, ...]
    why: str = ""
    age: float = 0.0
    absent: bool = False


_kept: dict[Dataset, tuple[float, DatasetListing]] = {}
_lock = Lock()


def listing(dataset: Dataset, *, max_age: float = KEPT_SECONDS, ask: bool = True) -> DatasetListing:
    """List a dataset: local disks each time; other listings are reused for a while.

    Parameters
    ----------
    max_age : float
        Maximum age in seconds of a reused listing.
    ask : bool
        False to list local disks only: other datasets have a listing only if one can be reused.
    """
    if dataset.namespace == "file":
        return _local(dataset.name)
    now = time.monotonic()
    with _lock:
        made, listed = _kept.get(dataset, (0.0, None))
    if listed is not None and now - made < max_age:
        return replace(listed, age=now - made)
    if not ask:
        return DatasetListing((), f"{dataset} was not listed: an overview lists local disks only")
    listed = _within(PATIENCE, dataset)
    with _lock:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[dataset] = (time.monotonic(), listed)
    return listed


def _within(seconds: float, dataset: Dataset) -> DatasetListing:
    """List a dataset that is not on a local disk. After a timeout, return while the listing goes on in its thread."""
    listings: list[DatasetListing] = []
    work = Thread(target=lambda: listings.append(_remote(dataset)), name="provspark-listing", daemon=True)
    work.start()
    work.join(seconds)
    return listings[0] if listings else DatasetListing((), f"{dataset} was not listed within {seconds:g} seconds")


def is_hidden(name: str) -> bool:
    """Return whether Spark ignores files and folders with this name."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


@dataclass(frozen=True, slots=True)
class _ListingSeen:
    """A listing of a folder, and the times of its folders in nanoseconds, which show whether it is still valid."""

    listing: DatasetListing
    folders: tuple[tuple[str, int], ...]

    def holds(self, root: str) -> bool:
        """Return whether a new listing would be the same: no name came or went, and no size or time changed."""
        try:
            return all(os.stat(path).st_mtime_ns == time for path, time in self.folders) and all(  # noqa: PTH116
                ((s := os.stat(f"{root}/{path}")).st_size, s.st_mtime_ns // 1_000_000) == (size, time)  # noqa: PTH116
                for path, size, time in self.listing.files
            )
        except OSError:
            return False


_seen: dict[str, _ListingSeen] = {}
_SETTLED = 2 * 10**9
"""Nanoseconds after which a folder's time shows each change: file systems round times, up to two seconds."""


def _local(root: str) -> DatasetListing:
    seen = _seen.get(root)
    if seen is not None and seen.holds(root):
        return seen.listing
    try:
        status = os.stat(root)  # noqa: PTH116 (each question asks)
        if stat.S_ISREG(status.st_mode):
            return DatasetListing((("", status.st_size, status.st_mtime_ns // 1_000_000),))
        now = time.time_ns()
        folders = [(root, status.st_mtime_ns)]
        listed = DatasetListing(tuple(sorted(_below(root, folders))))
        if len(_seen) >= _MOST_KEPT:
            _seen.clear()
        _seen.pop(root, None)
        if all(changed + _SETTLED < now for _, changed in folders):
            _seen[root] = _ListingSeen(listed, tuple(folders))
        return listed
    except (FileNotFoundError, NotADirectoryError):
        return DatasetListing((), f"{root} does not exist", absent=True)
    except OSError as e:
        return DatasetListing((), f"{e.filename or root} can't be listed: {e.strerror or e}")


def _below(root: str, folders: list[tuple[str, int]]) -> Iterator[Listed]:
    waiting, linked = [""], set()
    while waiting:
        folder = waiting.pop()
        with os.scandir(f"{root}/{folder}" if folder else root) as entries:
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir():
                    if entry.is_symlink():
                        if (target := os.path.realpath(entry.path)) in linked:
                            continue
                        linked.add(target)
                    folders.append((entry.path, entry.stat().st_mtime_ns))
                    waiting.append(path)
                elif entry.is_file():
                    status = entry.stat()
                    yield path, status.st_size, status.st_mtime_ns // 1_000_000


def _remote(dataset: Dataset) -> DatasetListing:
    from pyarrow import ArrowException
    from pyarrow.fs import FileSelector, FileType

    try:
        filesystem, root = root_of(dataset)
        info = filesystem.get_file_info(root)
        infos: list[Any] = [info] if info.type == FileType.File else []
        if info.type == FileType.Directory:
            infos = filesystem.get_file_info(FileSelector(root, recursive=True))
    except ValuesUnavailableError as e:
        return DatasetListing((), str(e))
    except (OSError, ArrowException) as e:
        return DatasetListing((), f"{dataset} can't be listed: {e}")
    files = []
    for one in infos:
        path = one.path[len(root) :].strip("/")
        if one.type == FileType.File and not any(is_hidden(part) for part in path.split("/")):
            files.append((path, one.size, one.mtime_ns // 1_000_000))
    return DatasetListing(tuple(sorted(files)))
