"""What is passed around: data sets, versions, axes, tensors, writes and manifests.

Every class here is frozen; arrays inside are not to be written to.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt

from provspark.errors import ArgumentError
from provspark.index_store.operations import Operations

if TYPE_CHECKING:
    from provspark.index_store.spool import Parts, Spool

Int64 = npt.NDArray[np.int64]
Kind = Literal["data", "context", "possible"]
AxisRole = Literal["input", "output", "inner", "reads"]
Unit = Literal["row", "file"]
Setting = Literal["", "on", "off"]
TaskMode = Literal["", "off", "run"]
StepStatus = Literal["succeeded", "failed"]
Coverage = Literal["exact", "coarse", "untracked"]

FORMAT_VERSION = 3
TENSOR_FORMAT = 2
"""Tensor files did not change with version 3 of the manifests."""
_CHUNK = 1 << 16


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


@dataclass(frozen=True, slots=True)
class Axis:
    """A numbered set of things in a write: rows of an input or output version, or derivations below an operator.

    An axis of the role ``reads`` numbers the rows of the step's reads on the driver, one read after the other in the
    order of `Manifest.reads`. Its size is what had been read before, so that "all before" is one box.
    """

    role: AxisRole
    size: int
    version: str = ""
    """Version id for an input or output; empty for an inner axis."""
    occurrence: int = -1
    """Which reading of an input this is (0, 1 … in plan order); -1 where it is no input."""
    label: str = ""
    """For people: the operator of an inner axis, the data set's name otherwise."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a step: path relative to the step's folder, bytes, sha256 of the whole and of a Parquet's footer."""

    path: str
    size: int
    sha256: str
    footer_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Tensor:
    """The relation between two axes of a write, stored as boxes.

    `out` and `src` index the write's axes. `by_out` is the file in output order; `by_src` the one in source order,
    empty where both orders agree. `edges` counts (out, src) pairs, `boxes` the rows of `by_out`.
    """

    out: int
    src: int
    kind: Kind
    edges: int
    boxes: int
    by_out: str
    by_src: str = ""


@dataclass(frozen=True, slots=True)
class Untracked:
    """Why something was not captured: the plan's node, the reason, the script's ``file:line`` where known."""

    node: str
    why: str
    site: str = ""

    def __str__(self) -> str:
        return f"{self.node}: {self.why}" + (f" ({self.site})" if self.site else "")


@dataclass(frozen=True, slots=True)
class Write:
    """One output of a step. Where `coverage` is ``untracked`` there are no tensors and `reason` says why."""

    index: int
    output: Version
    coverage: Coverage
    inputs: tuple[Version, ...] = ()
    """Distinct versions read; axes refer to them by id. Of an untracked write, those that are known."""
    axes: tuple[Axis, ...] = ()
    """Axis 0 is the output."""
    tensors: tuple[Tensor, ...] = ()
    reason: Untracked | None = None
    site: str = ""
    """``file:line`` of the write in the user's script."""
    operations: str = ""
    """The file with the write's operations, relative to the step's folder; empty where none are known."""
    profiles: str = ""
    """The file with profiles of its output and inputs; empty where none were asked for."""
    action: str = ""
    """For a read on the driver, the method that was called, such as ``collect``; empty for a write."""
    single: bool = False
    """For a read on the driver: it returned one number computed from all rows."""
    complete: bool = False
    """For an untracked write or read: `inputs` are all that it read."""

    @property
    def named(self) -> frozenset[str]:
        """Paths of the step's files that belong to it."""
        versions = {v.files for v in (self.output, *self.inputs)}
        tensors = {path for t in self.tensors for path in (t.by_out, t.by_src)}
        return frozenset((versions | tensors | {self.operations, self.profiles}) - {""})


@dataclass(frozen=True, slots=True)
class StepKey:
    """What a step is: one try of one Airflow task instance, or one `provspark run`.

    A run within a task has the task's parts and a call of its own; outside of Airflow only task and run are set.
    """

    task_id: str
    run_id: str
    dag_id: str = ""
    map_index: int = -1
    try_number: int = 1
    attempt: int = 0
    """Which start of the application within the try, for a cluster that runs a failed one again; 0 for the only one."""
    call: str = ""
    """Which `provspark run` of the task, as one task may start several; empty where the task itself is the step."""

    @property
    def id(self) -> str:
        """A name that is safe for files and stable for a key: readable words and a hash."""
        text = "\0".join([self.dag_id, self.run_id, self.task_id, str(self.map_index), str(self.try_number)])
        text += f"\0{self.attempt}" * bool(self.attempt or self.call) + f"\0{self.call}" * bool(self.call)
        words = "-".join(p for p in (self.dag_id, self.task_id, self.call) if p)
        safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in words)[:80].lstrip(".")
        return f"{safe or 'step'}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a DAG.

    Parameters
    ----------
    task_id, operator : str
        The operator's class.
    upstream : tuple of str
        The tasks directly upstream of it.
    bases : tuple of str
        Classes that the operator's class is derived from.
    mode : {"", "off", "run"}
        ``off`` where a task of ours has ``prov_mode="off"``; ``run`` where its command runs ``provspark run`` alone.
    mapped : bool
    group : str
        Its task group.
    inlets, outlets : tuple of str
        URIs of the assets that it declares.
    """

    task_id: str
    operator: str
    upstream: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    mode: TaskMode = ""
    mapped: bool = False
    group: str = ""
    inlets: tuple[str, ...] = ()
    outlets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that is known of a published step."""

    step: str
    key: StepKey
    status: StepStatus
    started: str
    """UTC, ISO 8601 with microseconds."""
    ended: str
    writes: tuple[Write, ...]
    files: tuple[StoredFile, ...]
    untracked: tuple[Untracked, ...] = ()
    """Reasons that stand for the step as a whole (a write that went around capture, a failed seal)."""
    engine: tuple[tuple[str, str], ...] = ()
    """Versions of spark, java, python, provspark; the application id."""
    error: str = ""
    """Where the user's script raised: the exception's type and message."""
    reads: tuple[Write, ...] = ()
    """What the driver read, in order; the output of each is a version of ``memory://driver/SCRIPT:LINE``."""
    driver_reads: Setting = ""
    """Whether reads on the driver were followed; empty in steps older than format 3, and where no script ran."""
    dag: tuple[Task, ...] = ()
    """Its own task, and those that it depends on or that depend on it; empty where the DAG is not known."""
    run_started: str = ""
    """When the run of the DAG began, as `started`; empty where that is not known."""
    format_version: int = FORMAT_VERSION


@dataclass(frozen=True)
class Boxes:
    """A tensor's non-zeros: box i relates rows out … out+n_out-1 to src … src+n_src-1.

    Where `diagonal` is set (then n_out = n_src), row out+k came from row src+k; else all came from all.
    Five arrays of one length.
    """

    out: Int64
    n_out: Int64
    src: Int64
    n_src: Int64
    diagonal: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.out)

    @property
    def edges(self) -> int:
        """Number of (out, src) pairs, counted with multiplicity where boxes overlap."""
        total = 0
        for start in range(0, len(self), _CHUNK):
            part = slice(start, start + _CHUNK)
            total += int(np.dot(self.n_out[part], np.where(self.diagonal[part], 1, self.n_src[part])))
        return total

    def parts(self) -> Iterator[Boxes]:
        """The boxes, at once: more of them than fit memory come in several (`provspark.index_store.spool`)."""
        yield self

    @classmethod
    def empty(cls) -> Boxes:
        """No box at all."""
        z = np.zeros(0, dtype=np.int64)
        return cls(z, z, z, z, np.zeros(0, dtype=np.bool_))


@dataclass(frozen=True, slots=True)
class PendingTensor:
    """A tensor on its way into the store."""

    out: int
    src: int
    boxes: Boxes | Parts | Spool
    kind: Kind = "data"


@dataclass(frozen=True, slots=True)
class PendingVersion:
    """A version on its way into the store: what `Version` says, with its files at hand."""

    dataset: Dataset
    files: Files
    format: str
    options: tuple[tuple[str, str], ...] = ()
    fields: tuple[Field, ...] = ()
    partitions: tuple[str, ...] = ()
    unit: Unit = "row"


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A write as sealing hands it to the store. Axes name versions by `Files.identity`."""

    output: PendingVersion
    coverage: Coverage
    inputs: tuple[PendingVersion, ...] = ()
    axes: tuple[Axis, ...] = ()
    tensors: Sequence[PendingTensor] = field(default_factory=tuple)
    reason: Untracked | None = None
    site: str = ""
    operations: Operations | None = None
    action: str = ""
    single: bool = False
    complete: bool = False


def jsonable(value: Any) -> Any:
    """Turn the dataclasses of this module into what ``json.dumps`` takes; `Files` and `Boxes` never travel as JSON."""
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, (tuple, list)):
        return [jsonable(v) for v in value]
    names = getattr(type(value), "__dataclass_fields__", None)
    if names is None:
        raise TypeError(f"{type(value).__name__} does not travel as JSON")
    return {name: jsonable(getattr(value, name)) for name in names}
