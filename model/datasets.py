"""Datasets, their versions, and the files of a version.

Classes here are frozen; do not write to the arrays in them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.errors import ArgumentError
from provspark.model.runs import Runs

Unit = Literal["row", "file"]


@dataclass(frozen=True, slots=True, order=True)
class Dataset:
    """A dataset, named as in OpenLineage: ``file`` and ``/data/out``; ``s3://bucket`` and ``path/out``."""

    namespace: str
    name: str

    @classmethod
    def parse(cls, text: str | os.PathLike[str]) -> Dataset:
        """Parse ``/data/out``, ``file:///data/out`` (percent escapes are decoded) or ``s3://bucket/path``.

        Raise ArgumentError if the argument is neither text nor a path, or is empty.

        >>> Dataset.parse("file:///data/out/")
        Dataset(namespace='file', name='/data/out')
        >>> Dataset.parse("s3://bucket/a/b").uri
        's3://bucket/a/b'
        """
        if not isinstance(text, (str, os.PathLike)):
            raise ArgumentError(f"A dataset must be a path or URL, not {text!r}. `provspark ls` lists datasets.")
        text = os.fspath(text)
        if not text.strip():
            raise ArgumentError("The name of the dataset is empty. Pass its path or URL, as listed by `provspark ls`.")
        parts = urlsplit(text)
        if not parts.scheme or len(parts.scheme) == 1:
            path = text
        elif parts.scheme == "file":
            path = unquote(text.split(":", 1)[1])
            path = "/" + path.lstrip("/")
        else:
            return cls(f"{parts.scheme}://{parts.netloc}", parts.path.strip("/"))
        return cls("file", str(PurePosixPath(path)))

    @property
    def relative(self) -> bool:
        """Whether the dataset is a relative path."""
        return self.namespace == "file" and not self.name.startswith("/")

    def resolved(self) -> Dataset:
        """Return the dataset with an absolute path without ``.`` and ``..``.

        A relative path is resolved against the working directory of this process. As in Spark, symbolic links are not
        resolved.
        """
        if self.namespace != "file":
            return self
        return Dataset("file", os.path.normpath(Path.cwd() / self.name if self.relative else self.name))

    @property
    def uri(self) -> str:
        """The dataset as one string, which `parse` accepts."""
        if self.namespace != "file":
            return f"{self.namespace}/{self.name}"
        return "file://" + re.sub("%(?=[0-9A-Fa-f]{2})", "%25", self.name)

    def meets(self, other: Dataset) -> bool:
        """Return whether one dataset is the other, or is within its folder.

        >>> Dataset("file", "/data").meets(Dataset("file", "/data/out"))
        True
        """
        a, b = (f"{d.namespace}/{d.name.strip('/')}/" for d in (self, other))
        return a.startswith(b) or b.startswith(a)

    def __str__(self) -> str:
        return self.uri


@dataclass(frozen=True)
class Files:
    """Files of a version in path order; row ids are numbered through them in this order.

    Parameters
    ----------
    paths : tuple of str
        Relative to the dataset's folder with ``/``; ``""`` if the dataset is one file. Sorted.
    sizes, mtimes, rows : int64 arrays, one entry a file
        Bytes, milliseconds since the epoch, number of rows.
    written : bool array
        True if this step's write created the file; all False for inputs.
    """

    paths: tuple[str, ...]
    sizes: Int64
    mtimes: Int64
    rows: Int64
    written: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        if list(self.paths) != sorted(set(self.paths)):
            raise ValueError("files of a version must be sorted by path, without duplicates")
        if not (len(self.paths) == len(self.sizes) == len(self.mtimes) == len(self.rows) == len(self.written)):
            raise ValueError("sizes, mtimes, rows and written must have one entry per path")

    @classmethod
    def of(cls, entries: Iterable[tuple[str, int, int, int, bool]]) -> Files:
        """Build from (path, size, mtime, rows, written) in any order."""
        entries = sorted(entries)
        columns = list(zip(*entries, strict=True)) if entries else [(), (), (), (), ()]
        ints = [np.array(c, dtype=np.int64) for c in columns[1:4]]
        return cls(tuple(columns[0]), ints[0], ints[1], ints[2], np.array(columns[4], dtype=np.bool_))

    @cached_property
    def bases(self) -> Int64:
        """First row id of each file, and the number of rows at the end: length files + 1."""
        out = np.zeros(len(self.paths) + 1, dtype=np.int64)
        np.cumsum(self.rows, out=out[1:])
        return out

    def runs(self, numbers: Int64) -> Runs:
        """The row ids of some files, by their numbers."""
        return Runs.united(self.bases[numbers], self.rows[numbers])

    def without(self, numbers: Iterable[int]) -> Files:
        """Return these files without some, given by number."""
        left = frozenset(numbers)
        keep = np.array([i for i in range(len(self.paths)) if i not in left], dtype=np.int64)
        arrays = (self.sizes[keep], self.mtimes[keep], self.rows[keep], self.written[keep])
        return Files(tuple(self.paths[i] for i in keep.tolist()), *arrays)

    @property
    def total(self) -> int:
        """Number of rows of the version."""
        return int(self.bases[-1])

    @property
    def written_rows(self) -> int:
        """Number of rows in the files that this step's write created."""
        return int(self.rows[self.written].sum())

    def identity(self, dataset: Dataset) -> str:
        """Return the version's id: a hash (32 hex digits) of the dataset's name and each file's path, size and time."""
        h = hashlib.sha256(f"{dataset.namespace}\0{dataset.name}\0".encode())
        for path, size, mtime in zip(self.paths, self.sizes.tolist(), self.mtimes.tolist(), strict=True):
            h.update(f"{path}\0{size}\0{mtime}\n".encode())
        return h.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name, and Spark's type as its ``simpleString``."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a dataset.

    Parameters
    ----------
    id : str
        `Files.identity` of its files.
    rows, n_files : int
    format : str
        ``parquet``, ``csv``, ``json``, ``orc`` or ``text``; ``memory`` for rows that a script made itself.
    options : tuple of (name, value)
        Reader or writer options that define rows and their values; lower-case names, sorted.
    fields : tuple of Field
        All columns, partition columns last.
    partitions : tuple of str
        Names of the partition columns.
    files : str
        The Parquet file with the file list, relative to the step's folder.
    unit : {"row", "file"}
        Unit of the rows: rows, or whole files whose rows were not counted.
    """

    id: str
    dataset: Dataset
    rows: int
    n_files: int
    format: str
    options: tuple[tuple[str, str], ...] = ()
    fields: tuple[Field, ...] = ()
    partitions: tuple[str, ...] = ()
    files: str = ""
    unit: Unit = "row"
