"""The files of a version as they lie on disk now, and whether they are still the ones that were captured."""

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
    """One file of a version: where it is and what was recorded of it. `place` is its number in the version."""

    place: int
    path: str
    """Relative to the data set's folder, as `Files.paths` has it."""
    full: str
    size: int
    mtime: int
    rows: int
    written: bool
    """The step's own write made it: `rows` counts what was written, which no reader has counted again."""
    filesystem: Any = None
    """A `pyarrow.fs.FileSystem`; None where the file is on a local disk."""

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file's bytes for reading, seekable."""
        from pyarrow.fs import LocalFileSystem

        with (self.filesystem or LocalFileSystem()).open_input_file(self.full) as source:
            yield cast(BinaryIO, source)

    def wrong_count(self, count: int) -> ValuesUnavailableError:
        """Return the error for a file that reads as another number of rows than was recorded."""
        return ValuesUnavailableError(
            f"{self.full} reads as {count:,} rows, and {self.rows:,} were recorded when it was captured, though its "
            f"size and time are the same: no value can be told by its position. The row ids stand."
        )

    def unreadable(self, why: object) -> ValuesUnavailableError:
        """Return the error for a file whose content can't be read."""
        return ValuesUnavailableError(f"{self.full} can't be read: {why}. The row ids stand.")


def files_of(version: Version, files: Files) -> list[DataFile]:
    """Name each file's place on disk."""
    dataset = version.dataset
    filesystem, root = root_of(dataset)
    columns = [c.tolist() for c in (files.sizes, files.mtimes, files.rows, files.written)]
    return [
        DataFile(place, path, f"{root}/{path}" if path else root, size, mtime, rows, made, filesystem)
        for place, (path, size, mtime, rows, made) in enumerate(zip(files.paths, *columns, strict=True))
    ]


def root_of(dataset: Dataset) -> tuple[Any, str]:
    """Return the file system, None for local disks, and the data set's path in it.

    Raises
    ------
    ValuesUnavailableError
        pyarrow does not reach it.
    """
    return (None, dataset.name) if dataset.namespace == "file" else _remote(dataset)


def check(file: DataFile) -> None:
    """Make sure that the file is the one that was captured.

    Raises
    ------
    VersionChangedError
        It is gone, or its size or its time (milliseconds) differs.
    """
    stamp = _local_stamp(file) if file.filesystem is None else _remote_stamp(file)
    if stamp is None:
        raise VersionChangedError(f"{file.full} is gone since it was captured. {_ADVICE}")
    size, mtime = stamp
    if size != file.size:
        raise VersionChangedError(
            f"{file.full} has changed since it was captured: {size:,} bytes now, {file.size:,} then. {_ADVICE}"
        )
    if mtime != file.mtime:
        raise VersionChangedError(
            f"{file.full} was written again since it was captured: its time is {mtime} ms now, {file.mtime} ms then. "
            f"{_ADVICE}"
        )


_ADVICE = "The row ids stand; the values can be read where the files of that version are put back."


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
        raise ValuesUnavailableError(
            f"no file system of pyarrow reaches {dataset} from here ({e}). The row ids stand."
        ) from e
    return filesystem, f"{base.rstrip('/')}/{dataset.name}"


_HADOOP = {"s3a": "s3", "s3n": "s3"}
