"""The files and the description of a file relation, read with two calls to the JVM."""

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
    """Description of a file relation: the class of its format, settings of the session, options and columns."""

    format_class: str
    streaming: bool
    ignore_corrupt: bool
    ignore_missing: bool
    csv_push_down: bool
    json_push_down: bool
    time_zone: str
    """The session's time zone, which applies to times without a zone."""
    options: dict[str, str]
    """Options of the relation, with lower-case names."""
    data_fields: tuple[Field, ...]
    partition_fields: tuple[Field, ...]

    @classmethod
    def parse(cls, text: str) -> Description:
        """Parse the result of ``SourceFiles.describe``."""
        head, options, data, partitions = (part.split("\0")[:-1] for part in text.split("\1"))
        streaming, corrupt, missing, csv, json = (value == "true" for value in head[1:6])
        pairs = dict(zip((k.lower() for k in options[::2]), options[1::2], strict=True))
        columns = _fields(data), _fields(partitions)
        return cls(head[0], streaming, corrupt, missing, csv, json, head[6], pairs, *columns)

    @property
    def fields(self) -> tuple[Field, ...]:
        """All columns, with the partition columns last."""
        last = {f.name for f in self.partition_fields}
        return (*(f for f in self.data_fields if f.name not in last), *self.partition_fields)


def _fields(items: list[str]) -> tuple[Field, ...]:
    return tuple(Field(n, t) for n, t in zip(items[::2], items[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class RelationListing:
    """The files of a relation in path order, as listed when the write begins.

    Parameters
    ----------
    java : provspark.sources.SourceFiles
        The corresponding object in the JVM.
    sizes, mtimes : int64 arrays, one entry per file
        Sizes in bytes; modification times in milliseconds since the epoch.
    """

    java: Any
    description: Description
    dataset: Dataset
    paths: tuple[str, ...]
    sizes: Int64
    mtimes: Int64
    key: str
    """Hash of the listing."""

    @classmethod
    def of(cls, jvm: Jvm, java: Any, description: Description, predicates: Any) -> RelationListing:
        """List the files that Spark would read with `predicates`, a Python or Java list."""
        text = java.list(jvm.jlist(predicates) if isinstance(predicates, (list, tuple)) else predicates)
        namespace, name, *items = text.split("\0")[:-1]
        dataset = Dataset(namespace, name if namespace == "file" else name.strip("/"))
        sizes, mtimes = (np.array(items[i::3], dtype=np.int64) for i in (1, 2))
        key = hashlib.sha256(text.encode()).hexdigest()
        return cls(java, description, dataset, tuple(items[::3]), sizes, mtimes, key)

    def check(self) -> None:
        """Raise CaptureError if a file has changed since it was listed."""
        changed = self.java.changed().split("\0")[:-1]
        if changed:
            raise CaptureError(
                f"{len(changed)} of {len(self.paths)} files of {self.dataset} changed while they were read, "
                f"first {changed[0]}; run the step again while nothing writes there"
            )

    @property
    def identity(self) -> str:
        """The version's id, which does not depend on row counts."""
        return self.files(np.zeros(len(self.paths), dtype=np.int64)).identity(self.dataset)

    def files(self, rows: Int64) -> Files:
        """Return the files with their numbers of rows."""
        return Files(self.paths, self.sizes, self.mtimes, rows, np.zeros(len(self.paths), dtype=np.bool_))

    def version(self, format_name: str, rows: Int64) -> PendingVersion:
        """Return the version of these files with their numbers of rows, after a `check`."""
        self.check()
        return PendingVersion(
            self.dataset,
            self.files(rows),
            format_name,
            kept(format_name, self.description.options, self.description.time_zone, self.description.partition_fields),
            self.description.fields,
            tuple(f.name for f in self.description.partition_fields),
        )
