"""Inputs whose rows are known without Spark: files are made here, row ids follow from their order."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet

Rows = Sequence[Sequence[Any]]
_SCHEMAS: dict[Any, Any] = {}


@dataclass(frozen=True, slots=True)
class Source:
    """A data set: its files by relative path, its rows in the order of their ids, and how Spark reads it."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    files: Mapping[str, bytes]
    read: Callable[[Any, str], Any]
    """(SparkSession, path) -> DataFrame."""

    def place(self, root: Path) -> Path:
        """Write the files under `root`, once; return the data set's folder, which is this source's alone."""
        folder = root / self.name
        for relative, content in self.files.items():
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_bytes(content)
        return folder


def in_path_order(files: Mapping[str, Rows]) -> tuple[tuple[Any, ...], ...]:
    """Rows of all files in the order of their ids."""
    return tuple(tuple(row) for path in sorted(files) for row in files[path])


def numbered(files: Iterable[Rows], suffix: str) -> dict[str, Rows]:
    """Name files by their number."""
    return {f"part-{i:05d}.{suffix}": rows for i, rows in enumerate(files)}


def parquet(name: str, types: Mapping[str, pa.DataType], *files: Rows) -> Source:
    """Parquet files, one for each list of rows; Spark looks for their schema once, for that takes a job."""
    named = numbered(files, "parquet")
    contents = {path: columnar(types, rows, pa.parquet.write_table) for path, rows in named.items()}
    described = tuple(types.items())

    def read(spark: Any, path: str) -> Any:
        if described in _SCHEMAS:
            return spark.read.schema(_SCHEMAS[described]).parquet(path)
        frame = spark.read.parquet(path)
        _SCHEMAS[described] = frame.schema
        return frame

    return Source(name, tuple(types), in_path_order(named), contents, read)


def columnar(types: Mapping[str, pa.DataType], rows: Rows, write: Callable[..., Any], **options: Any) -> bytes:
    """Bytes of a file with these rows, by a writer of pyarrow's; values beyond the types are left out."""
    columns = [pa.array([row[i] for row in rows], t) for i, t in enumerate(types.values())]
    sink = io.BytesIO()
    write(pa.Table.from_arrays(columns, names=list(types)), sink, **options)
    return sink.getvalue()
