"""Files of a version as they are now, and whether they are still the captured ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from provspark.model.datasets import Dataset, Files, Version
from provspark.model.errors import ValuesUnavailableError, VersionChangedError

__all__ = ["DataFile", "check", "files_of", "root_of"]


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a version: its location and what was recorded. `place` is its number in the version."""

    place: int
    path: str
    """Path relative to the dataset's folder, as in `Files.paths`."""
    full: str
    size: int
    mtime: int
    rows: int
    written: bool
    """Whether the step's own write created the file: `rows` then counts written rows, which no reader has verified."""
    filesystem: Any = None
    """A `pyarrow.fs.FileSystem`; None for the local disk."""

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file for reading; it is seekable."""
        from pyarrow.fs import LocalFileSystem

        with (self.filesystem or LocalFileSystem()).open_input_file(self.full) as source:
            yield cast(BinaryIO, source)

    def wrong_count(self, count: int) -> ValuesUnavailableError:
        """Return the error for a file whose number of rows differs from the recorded one."""
        return ValuesUnavailableError(
            f"{self.full} contains {count:,} rows, but {self.rows:,} were recorded at capture, although its size and "
            f"time are the same. Values can't be read by position; the row ids are still valid."
        )

    def unreadable(self, why: object) -> ValuesUnavailableError:
        """Return the error for a file whose content can't be read."""
        return ValuesUnavailableError(f"{self.full} can't be read: {why}. The row ids are still valid.")


def files_of(version: Version, files: Files) -> list[DataFile]:
    """Return the files of a version with their locations."""
    dataset = version.dataset
    filesystem, root = root_of(dataset)
    columns = [c.tolist() for c in (files.sizes, files.mtimes, files.rows, files.written)]
    return [
        DataFile(place, path, f"{root}/{path}" if path else root, size, mtime, rows, made, filesystem)
        for place, (path, size, mtime, rows, made) in enumerate(zip(files.paths, *columns, strict=True))
    ]


def root_of(dataset: Dataset) -> tuple[Any, str]:
    """Return the file system (None for the local disk) and the dataset's path in it.

    Raises
    ------
    ValuesUnavailableError
        pyarrow can't reach the dataset.
    """
    return (None, dataset.name) if dataset.namespace == "file" else _remote(dataset)


def check(file: DataFile) -> None:
    """Raise an error if a file is no longer the captured one.

    Raises
    ------
    VersionChangedError
        The file is missing, or its size or time (milliseconds) differs.
    """
    stamp = _local_stamp(file) if file.filesystem is None else _remote_stamp(file)
    if stamp is None:
        raise VersionChangedError(f"{file.full} is gone: it was removed after it was captured. {_ADVICE}")
    size, mtime = stamp
    if size != file.size:
        raise VersionChangedError(
            f"{file.full} has changed since it was captured: {size:,} bytes now, {file.size:,} then. {_ADVICE}"
        )
    if mtime != file.mtime:
        raise VersionChangedError(
            f"{file.full} was written again after it was captured: its time is {mtime} ms now, {file.mtime} ms then. "
            f"{_ADVICE}"
        )


_ADVICE = "The row ids are still valid. To read the values, restore the files of that version."


def _local_stamp(file: DataFile) -> tuple[int, int] | None:
    try:
        stat = Path(file.full).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        raise file.unreadable(e.strerror or e) from e
    return stat.st_size, stat.st_mtime_ns // 1_000_000


def _remote_stamp(file: DataFile) -> tuple[int, int] | None:
    from pyarrow.fs import FileType

    try:
        info = file.filesystem.get_file_info(file.full)
    except OSError as e:
        raise file.unreadable(e) from e
    if info.type != FileType.File:
        return None
    return info.size, info.mtime_ns // 1_000_000


def _remote(dataset: Dataset) -> tuple[Any, str]:
    import pyarrow as pa
    from pyarrow.fs import FileSystem

    scheme, colon, rest = dataset.namespace.partition(":")
    try:
        filesystem, base = FileSystem.from_uri(_HADOOP.get(scheme, scheme) + colon + rest)
    except (OSError, ValueError, pa.ArrowException) as e:
        raise ValuesUnavailableError(f"pyarrow can't reach {dataset}: {e}. The row ids are still valid.") from e
    return filesystem, f"{base.rstrip('/')}/{dataset.name}"


_HADOOP = {"s3a": "s3", "s3n": "s3"}
