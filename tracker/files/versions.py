"""Versions of files that the driver read or wrote, with their rows where these are known."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from provspark.index_store.model import Dataset, Files, PendingVersion, PendingWrite
from provspark.tracker.files.model import FileState, look

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
    found: dict[str, list[int]] = {}
    alone: dict[str, list[tuple[int, str]]] = {}
    for i, (path, root) in enumerate(files):
        if root:
            found.setdefault(root, []).append(i)
        else:
            alone.setdefault(posixpath.dirname(path), []).append((i, path))
    for folder, members in alone.items():
        many = len(members) > _SINGLE
        for i, path in members:
            found.setdefault(folder if many else path, []).append(i)
    return found


@dataclass(slots=True)
class KnownFiles:
    """What versions of the step say of files, by path, size and time."""

    _by_file: dict[_Key, tuple[PendingVersion | None, int]] = field(default_factory=dict)

    def learn(self, write: PendingWrite) -> None:
        """Learn the versions of a write, or of a read, whose rows are counted."""
        for version in (write.output, *write.inputs):
            if version.unit == "row" and version.dataset.namespace == "file":
                base, files = version.dataset.name.rstrip("/"), version.files
                entries = zip(
                    files.paths, files.sizes.tolist(), files.mtimes.tolist(), files.rows.tolist(), strict=True
                )
                for path, size, mtime, rows in entries:
                    key = (f"{base}/{path}" if path else version.dataset.name, size, mtime)
                    self._by_file.setdefault(key, (version, rows))

    def copied(self, source: FileState, target: FileState) -> None:
        """Learn that a file is a copy of another one, which may be gone: both have as many rows."""
        old, new = _key(source), _key(target)
        known = self._by_file.get(old)
        if known is None and source.size == target.size:
            rows = _footer_rows(target)
            known = None if rows is None else (None, rows)
        if known is not None:
            self._by_file.setdefault(old, known)
            self._by_file.setdefault(new, known)

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
        like, rows = self._rows(list(latest.values()))
        files = Files.of(
            (names[s.path], s.size, milliseconds(s), 1 if rows is None else rows[i], written)
            for i, s in enumerate(latest.values())
        )
        dataset = Dataset("file", name)
        if like is not None:
            kept = like.partitions if all("=" in path for path in files.paths) else ()
            fields = tuple(f for f in like.fields if f.name in kept or f.name not in like.partitions)
            return PendingVersion(dataset, files, like.format, like.options, fields, kept)
        formats = {format_of(path) for path in latest}
        format_name = formats.pop() if len(formats) == 1 else "file"
        return PendingVersion(dataset, files, format_name, unit="file" if rows is None else "row")

    def _rows(self, states: Sequence[FileState]) -> tuple[PendingVersion | None, list[int] | None]:
        """Return a version that says how the files are read, if there is one, and their rows, if all are known."""
        known = [self._by_file.get(_key(s)) for s in states]
        found = [k for k in known if k is not None]
        if len(found) == len(known) and found:
            likes = {None if v is None else (v.format, v.options): v for v, _ in found}
            if len(likes) == 1:
                return next(iter(likes.values())), [rows for _, rows in found]
        if len(states) > _COUNTED:
            return None, None
        counted = []
        for state, before in zip(states, known, strict=True):
            rows = _footer_rows(state) if before is None else before[1]
            if rows is None:
                return None, None
            counted.append(rows)
        return None, counted


def _key(state: FileState) -> _Key:
    return state.path, state.size, milliseconds(state)


def _footer_rows(state: FileState) -> int | None:
    """Return the rows of a Parquet or ORC file; None where it is none, or is no longer what it was."""
    format_name = format_of(state.path)
    if format_name not in ("parquet", "orc") or not _unchanged(state):
        return None
    try:
        if format_name == "parquet":
            import pyarrow.parquet as pq  # neither is needed by most scripts

            rows = int(pq.read_metadata(state.path).num_rows)
        else:
            import pyarrow.orc as orc

            rows = int(orc.ORCFile(state.path).nrows)
    except (OSError, ValueError):  # it is not what its name says
        return None
    return rows if _unchanged(state) else None


def _unchanged(state: FileState) -> bool:
    found = look(state.path)
    return found is not None and (found.size, found.mtime_ns) == (state.size, state.mtime_ns)
