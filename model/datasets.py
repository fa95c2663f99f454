"""Datasets, their versions, and the files of a version.

Every class here is frozen; arrays inside are not to be written to.
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
    """A data set, named as OpenLineage names it: ``file`` and ``/data/out``; ``s3://bucket`` and ``path/out``."""

    namespace: str
    name: str

    @classmethod
    def parse(cls, text: str | os.PathLike[str]) -> Dataset:
        """Read ``/data/out``, ``file:///data/out`` (percent escapes are undone) or ``s3://bucket/path``.

        ArgumentError for what is neither text nor a path, and for an empty text.

        >>> Dataset.parse("file:///data/out/")
        Dataset(namespace='file', name='/data/out')
        >>> Dataset.parse("s3://bucket/a/b").uri
        's3://bucket/a/b'
        """
        if not isinstance(text, (str, os.PathLike)):
            raise ArgumentError(f"a data set is named by its path or URL, found {text!r}")
        text = os.fspath(text)
        if not text.strip():
            raise ArgumentError("the name of a data set is empty; pass its path or URL, as `provspark ls` lists them")
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
        """Whether it is a path that is relative to some folder."""
        return self.namespace == "file" and not self.name.startswith("/")

    def resolved(self) -> Dataset:
        """Return the dataset with an absolute path without ``.`` and ``..``.

        A relative path is resolved against the working directory of this process. As in Spark, symbolic links stay as
        they are.
        """
        if self.namespace != "file":
            return self
        return Dataset("file", os.path.normpath(Path.cwd() / self.name if self.relative else self.name))

    @property
    def uri(self) -> str:
        """The data set as one string, that `parse` reads back."""
        if self.namespace != "file":
            return f"{self.namespace}/{self.name}"
        return "file://" + re.sub("%(?=[0-9A-Fa-f]{2})", "%25", self.name)

    def meets(self, other: Dataset) -> bool:
        """Whether one is the other, or lies in its folder.

        >>> Dataset("file", "/data").meets(Dataset("file", "/data/out"))
        True
        """
        a, b = (f"{d.namespace}/{d.name.strip('/')}/" for d in (self, other))
        return a.startswith(b) or b.startswith(a)

    def __str__(self) -> str:
        return self.uri


@dataclass(frozen=True)
class Files:
    """The files of a version in path order; row ids run through them in this order.

    Parameters
    ----------
    paths : tuple of str
        Relative to the data set's folder with ``/``; ``""`` where the data set is one file. Sorted.
    sizes, mtimes, rows : int64 arrays, one entry a file
        Bytes, milliseconds since the epoch, rows.
    written : bool array
        True where this step's write made the file; all False for inputs.
    """

    paths: tuple[str, ...]
    sizes: Int64
    mtimes: Int64
    rows: Int64
    written: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        if list(self.paths) != sorted(set(self.paths)):
            raise ValueError("files of a version must be in path order, each once")
        if not (len(self.paths) == len(self.sizes) == len(self.mtimes) == len(self.rows) == len(self.written)):
            raise ValueError("files of a version need one size, time, row count and flag each")

    @classmethod
    def of(cls, entries: Iterable[tuple[str, int, int, int, bool]]) -> Files:
        """Build from (path, size, mtime, rows, written) in any order."""
        entries = sorted(entries)
        columns = list(zip(*entries, strict=True)) if entries else [(), (), (), (), ()]
        ints = [np.array(c, dtype=np.int64) for c in columns[1:4]]
        return cls(tuple(columns[0]), ints[0], ints[1], ints[2], np.array(columns[4], dtype=np.bool_))

    @cached_property
    def bases(self) -> Int64:
        """First row id of each file, and the row count at the end: length files + 1."""
        out = np.zeros(len(self.paths) + 1, dtype=np.int64)
        np.cumsum(self.rows, out=out[1:])
        return out

    def runs(self, numbers: Int64) -> Runs:
        """The row ids of some files, by their numbers."""
        return Runs.united(self.bases[numbers], self.rows[numbers])

    def without(self, numbers: Iterable[int]) -> Files:
        """The same without some files."""
        left = frozenset(numbers)
        keep = np.array([i for i in range(len(self.paths)) if i not in left], dtype=np.int64)
        arrays = (self.sizes[keep], self.mtimes[keep], self.rows[keep], self.written[keep])
        return Files(tuple(self.paths[i] for i in keep.tolist()), *arrays)

    @property
    def total(self) -> int:
        """Rows of the version."""
        return int(self.bases[-1])

    @property
    def written_rows(self) -> int:
        """Rows of the files that this step's write made."""
        return int(self.rows[self.written].sum())

    def identity(self, dataset: Dataset) -> str:
        """The version's id: a hash of the data set's name and of each file's path, size and time (32 hex digits)."""
        h = hashlib.sha256(f"{dataset.namespace}\0{dataset.name}\0".encode())
        for path, size, mtime in zip(self.paths, self.sizes.tolist(), self.mtimes.tolist(), strict=True):
            h.update(f"{path}\0{size}\0{mtime}\n".encode())
        return h.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name and Spark's type as Spark's ``simpleString`` writes it."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a data set.

    Parameters
    ----------
    id : str
        `Files.identity` of its files.
    rows, n_files : int
    format : str
        ``parquet``, ``csv``, ``json``, ``orc`` or ``text``; ``memory`` for rows that a script made itself.
    options : tuple of (name, value)
        Reader or writer options that decide what a row is and how it reads, lower-case names, sorted.
    fields : tuple of Field
        All columns, partition columns last.
    partitions : tuple of str
        Names of the partition columns.
    files : str
        The Parquet file with the list of files, relative to the step's folder.
    unit : {"row", "file"}
        What its rows count: rows, or whole files whose number of rows nobody has counted yet.
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
