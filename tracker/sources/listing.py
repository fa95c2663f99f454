"""The files of one relation and what Spark says of them, read in two round trips."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.errors import CaptureError
from provspark.model.pending import PendingVersion
from provspark.tracker.sources.options import kept

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm


@dataclass(frozen=True, slots=True)
class Description:
    """A file relation: the class of its format, the session's flags, options, columns."""

    format_class: str
    streaming: bool
    ignore_corrupt: bool
    ignore_missing: bool
    csv_push_down: bool
    json_push_down: bool
    time_zone: str
    """Of the session: in it, times without a zone are read."""
    options: dict[str, str]
    """Lower-case names."""
    data_fields: tuple[Field, ...]
    partition_fields: tuple[Field, ...]

    @classmethod
    def parse(cls, text: str) -> Description:
        """Read what ``SourceFiles.describe`` wrote."""
        head, options, data, partitions = (part.split("\0")[:-1] for part in text.split("\1"))
        streaming, corrupt, missing, csv, json = (value == "true" for value in head[1:6])
        pairs = dict(zip((k.lower() for k in options[::2]), options[1::2], strict=True))
        columns = _fields(data), _fields(partitions)
        return cls(head[0], streaming, corrupt, missing, csv, json, head[6], pairs, *columns)

    @property
    def fields(self) -> tuple[Field, ...]:
        """All columns, partition columns last."""
        last = {f.name for f in self.partition_fields}
        return (*(f for f in self.data_fields if f.name not in last), *self.partition_fields)


def _fields(items: list[str]) -> tuple[Field, ...]:
    return tuple(Field(n, t) for n, t in zip(items[::2], items[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class RelationListing:
    """The files of one relation in path order, listed when the write begins.

    Parameters
    ----------
    java : provspark.sources.SourceFiles
        Their other half in the JVM.
    sizes, mtimes : int64 arrays, one entry a file
        Bytes; milliseconds since the epoch.
    """

    java: Any
    description: Description
    dataset: Dataset
    paths: tuple[str, ...]
    sizes: Int64
    mtimes: Int64
    key: str
    """Equal for equal listings."""

    @classmethod
    def of(cls, jvm: Jvm, java: Any, description: Description, predicates: Any) -> RelationListing:
        """List the files that Spark would read under `predicates`, a list of Python's or Java's."""
        text = java.list(jvm.jlist(predicates) if isinstance(predicates, (list, tuple)) else predicates)
        namespace, name, *items = text.split("\0")[:-1]
        dataset = Dataset(namespace, name if namespace == "file" else name.strip("/"))
        sizes, mtimes = (np.array(items[i::3], dtype=np.int64) for i in (1, 2))
        key = hashlib.sha256(text.encode()).hexdigest()
        return cls(java, description, dataset, tuple(items[::3]), sizes, mtimes, key)

    def check(self) -> None:
        """Raise CaptureError if a file is no longer what was listed."""
        changed = self.java.changed().split("\0")[:-1]
        if changed:
            raise CaptureError(
                f"{len(changed)} of {len(self.paths)} files of {self.dataset} changed while they were read, "
                f"first {changed[0]}: run the step again when nothing writes there"
            )

    @property
    def identity(self) -> str:
        """The version's id, whatever its rows."""
        return self.files(np.zeros(len(self.paths), dtype=np.int64)).identity(self.dataset)

    def files(self, rows: Int64) -> Files:
        """Return the files, `rows` rows in each."""
        return Files(self.paths, self.sizes, self.mtimes, rows, np.zeros(len(self.paths), dtype=np.bool_))

    def version(self, format_name: str, rows: Int64) -> PendingVersion:
        """Return the version that these files are, `rows` rows in each; `check` first."""
        self.check()
        return PendingVersion(
            self.dataset,
            self.files(rows),
            format_name,
            kept(format_name, self.description.options, self.description.time_zone, self.description.partition_fields),
            self.description.fields,
            tuple(f.name for f in self.description.partition_fields),
        )
