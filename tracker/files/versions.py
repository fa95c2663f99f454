"""Versions of files that the driver read or wrote, with their numbers of rows where these are known."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.tracker.files.file import FileState
from provspark.tracker.files.footers import footer

__all__ = ["KnownFiles", "format_of", "grouped", "milliseconds"]

_FORMATS = {
    ".arrow": "arrow",
    ".csv": "csv",
    ".db": "sqlite",
    ".feather": "arrow",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".npy": "numpy",
    ".npz": "numpy",
    ".orc": "orc",
    ".parquet": "parquet",
    ".pickle": "pickle",
    ".pkl": "pickle",
    ".pq": "parquet",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".text": "text",
    ".tsv": "csv",
    ".txt": "text",
    ".xls": "excel",
    ".xlsx": "excel",
    ".xml": "xml",
}
_PACKED = (".bz2", ".gz", ".xz", ".zip", ".zst")
_SINGLE = 16
"""Maximum number of files of one folder that count as separate datasets; if there are more, the folder is one."""
_COUNTED = 64
"""Maximum number of files per version whose footers are read to count their rows."""

_Key = tuple[str, int, int]


def milliseconds(state: FileState) -> int:
    """Return a file's modification time in milliseconds, as Spark lists it."""
    return state.mtime_ns // 1_000_000


def format_of(path: str) -> str:
    """Return the format for a file's suffix; ``file`` for an unknown one.

    >>> format_of("/data/out.csv.gz")
    'csv'
    """
    stem, suffix = posixpath.splitext(path.lower())
    if suffix in _PACKED:
        suffix = posixpath.splitext(stem)[1]
    return _FORMATS.get(suffix, "file")


def grouped(files: Iterable[tuple[str, str]]) -> dict[str, list[int]]:
    """Group files into datasets.

    Parameters
    ----------
    files : iterable of (path, root)
        `root` is the folder that a call read or wrote as one dataset; "" for a single file.

    Returns
    -------
    dict of str to list of int
        Positions of each dataset's files, by its path. A single file is its own dataset, unless many of the files are
        in the same folder: then the folder is the dataset.
    """
    groups: dict[str, list[int]] = {}
    alone: dict[str, list[tuple[int, str]]] = {}
    for i, (path, root) in enumerate(files):
        if root:
            groups.setdefault(root, []).append(i)
        else:
            alone.setdefault(posixpath.dirname(path), []).append((i, path))
    for folder, members in alone.items():
        many = len(members) > _SINGLE
        for i, path in members:
            groups.setdefault(folder if many else path, []).append(i)
    return groups


@dataclass(frozen=True, slots=True)
class _KnownFile:
    """Number of rows, format and columns of one file, from a version or a footer."""

    rows: int
    format: str
    options: tuple[tuple[str, str], ...] = ()
    fields: tuple[Field, ...] = ()
    partitions: tuple[str, ...] = ()

    def alone(self) -> _KnownFile:
        """Return the same without partition columns, whose values are in the names of folders."""
        fields = tuple(f for f in self.fields if f.name not in self.partitions)
        return replace(self, fields=fields, partitions=())


@dataclass(slots=True)
class KnownFiles:
    """Rows, formats and columns of files, from the step's versions and from footers, by path, size and time."""

    _by_file: dict[_Key, _KnownFile] = field(default_factory=dict)

    def learn(self, write: PendingWrite) -> None:
        """Remember the files of a write's or read's versions whose rows are counted."""
        for version in (write.output, *write.inputs):
            if version.unit == "row" and version.dataset.namespace == "file":
                self._learn(version)

    def _learn(self, version: PendingVersion) -> None:
        base, files = version.dataset.name.rstrip("/"), version.files
        about = version.format, version.options, version.fields, version.partitions
        numbers = (column.tolist() for column in (files.sizes, files.mtimes, files.rows))
        for path, size, mtime, rows in zip(files.paths, *numbers, strict=True):
            key = (f"{base}/{path}" if path else version.dataset.name, size, mtime)
            self._by_file.setdefault(key, _KnownFile(rows, *about))

    def copied(self, source: FileState, target: FileState) -> None:
        """Remember that a file is a copy of another one, which may no longer exist: both have the same rows."""
        known = self._of(source)
        if known is None and source.size == target.size:
            known = self._of(target)
        if known is not None:
            self._by_file.setdefault(_key(source), known)
            self._by_file.setdefault(_key(target), known)

    def version(self, name: str, states: Sequence[FileState], *, written: bool) -> PendingVersion:
        """Return the version of a dataset that consists of these files.

        The number of rows comes from what the step counted, or from footers. If it is unknown for one of the files,
        each file counts as one row.

        Parameters
        ----------
        name : str
            The dataset's path: the only file, or a folder above all files.
        states : sequence of FileState
        written : bool
            Whether a write of the step made the files.
        """
        base = name.rstrip("/") + "/"
        latest = {state.path: state for state in states}
        names = {path: "" if path == name else path.removeprefix(base) for path in latest}
        known = self._all(list(latest.values()))
        files = Files.of(
            (names[s.path], s.size, milliseconds(s), 1 if known is None else known[i].rows, written)
            for i, s in enumerate(latest.values())
        )
        dataset = Dataset("file", name)
        if not known:
            formats = {format_of(path) for path in latest}
            return PendingVersion(dataset, files, formats.pop() if len(formats) == 1 else "file", unit="file")
        folders = any("=" in path for path in files.paths)
        like = known[0] if folders else known[0].alone()
        same = all((k if folders else k.alone()) == replace(like, rows=k.rows) for k in known)
        fields = like.fields if same and folders == bool(like.partitions) else ()
        return PendingVersion(dataset, files, like.format, like.options, fields, like.partitions if fields else ())

    def _all(self, states: Sequence[FileState]) -> list[_KnownFile] | None:
        """Return what is known of the files; None unless all of them are known with the same format and options."""
        known = [self._by_file.get(_key(s)) for s in states]
        if known.count(None) <= _COUNTED:
            known = [self._of(s) for s in states]
        files = [k for k in known if k is not None]
        alike = len({(k.format, k.options) for k in files}) == 1
        return files if len(files) == len(states) and alike else None

    def _of(self, state: FileState) -> _KnownFile | None:
        key = _key(state)
        if key not in self._by_file:
            format_name = format_of(state.path)
            told = footer(state, format_name)
            if told is None:
                return None
            self._by_file[key] = _KnownFile(told.rows, format_name, fields=told.fields)
        return self._by_file[key]


def _key(state: FileState) -> _Key:
    return state.path, state.size, milliseconds(state)
