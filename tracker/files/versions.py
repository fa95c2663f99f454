"""Versions of files that the driver read or wrote, with their rows where these are known."""

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
"""Files of one folder that are data sets of their own; where a line opens more of them, the folder is one."""
_COUNTED = 64
"""Files of a version whose footers are read for their rows."""

_Key = tuple[str, int, int]


def milliseconds(state: FileState) -> int:
    """Return a file's time of modification as Spark lists it."""
    return state.mtime_ns // 1_000_000


def format_of(path: str) -> str:
    """Name a format by a file's suffix; ``file`` for one that says nothing.

    >>> format_of("/data/out.csv.gz")
    'csv'
    """
    stem, suffix = posixpath.splitext(path.lower())
    if suffix in _PACKED:
        suffix = posixpath.splitext(stem)[1]
    return _FORMATS.get(suffix, "file")


def grouped(files: Iterable[tuple[str, str]]) -> dict[str, list[int]]:
    """Sort files into data sets.

    Parameters
    ----------
    files : iterable of (path, root)
        `root` is the folder that a call read or wrote as one; "" for a single file.

    Returns
    -------
    dict of str to list of int
        By the data set's path, which files it has. A single file is its own data set, unless there are many beside it.
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
    """What a version says of a file of it."""

    rows: int
    format: str
    options: tuple[tuple[str, str], ...] = ()
    fields: tuple[Field, ...] = ()
    partitions: tuple[str, ...] = ()

    def alone(self) -> _KnownFile:
        """The same of the file outside of its folder, whose name holds the values of the partition columns."""
        fields = tuple(f for f in self.fields if f.name not in self.partitions)
        return replace(self, fields=fields, partitions=())


@dataclass(slots=True)
class KnownFiles:
    """What versions of the step, and footers, say of files, by path, size and time."""

    _by_file: dict[_Key, _KnownFile] = field(default_factory=dict)

    def learn(self, write: PendingWrite) -> None:
        """Learn the versions of a write, or of a read, whose rows are counted."""
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
        """Learn that a file is a copy of another one, which may be gone: both have the same rows."""
        known = self._of(source)
        if known is None and source.size == target.size:
            known = self._of(target)
        if known is not None:
            self._by_file.setdefault(_key(source), known)
            self._by_file.setdefault(_key(target), known)

    def version(self, name: str, states: Sequence[FileState], *, written: bool) -> PendingVersion:
        """Return the version that files in these states are.

        Its rows are those that the step counted, or that footers tell; otherwise each file counts as one.

        Parameters
        ----------
        name : str
            The data set's path: the one file, or a folder above all.
        states : sequence of FileState
        written : bool
            Whether a write of the step made them.
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
        """Return what is known of files, if that is all of them, and they are read in the same way."""
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
