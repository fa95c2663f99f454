"""Read what Spark wrote, without Spark: row i is the i-th row of the files in path order."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pyarrow.orc
import pyarrow.parquet

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Output:
    """Rows in the order of their ids (partition values last, as text), each row's file, all schemas."""

    rows: tuple[tuple[Any, ...], ...]
    files: tuple[str, ...]
    schemas: frozenset[Any]
    marks: frozenset[str]
    """Names of what is no data: ``_SUCCESS``."""

    @property
    def folders(self) -> frozenset[str]:
        """Partition folders."""
        return frozenset(str(Path(f).parent) for f in self.files)


def read(path: Path, form: str = "parquet") -> Output:
    """Read a folder of one format."""
    every = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    found = [p for p in every if not p.name.startswith((".", "_"))]
    marks = frozenset(p.name for p in every if p not in found and p.suffix != ".crc")
    rows: list[tuple[Any, ...]] = []
    files: list[str] = []
    schemas = set()
    for relative, p in sorted((str(p.relative_to(path)), p) for p in found):
        schema, values = READERS[form](p)
        parts = tuple(_partition(part) for part in Path(relative).parts[:-1])
        new = [(*v, *parts) for v in values]
        rows += new
        files += [relative] * len(new)
        schemas.add(schema)
    return Output(tuple(rows), tuple(files), frozenset(schemas), marks)


def _partition(folder: str) -> str | None:
    value = unquote(folder.split("=", 1)[1])
    return None if value == HIVE_NULL else value


def _open(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def _parquet(path: Path) -> tuple[Any, Iterator[tuple[Any, ...]]]:
    file = pyarrow.parquet.ParquetFile(path)
    described = (str(file.schema).split("\n", 1)[1], tuple(sorted((file.schema_arrow.metadata or {}).items())))
    return described, _records(file.read())


def _orc(path: Path) -> tuple[Any, Iterator[tuple[Any, ...]]]:
    table = pyarrow.orc.read_table(path)
    return str(table.schema), _records(table)


def _records(table: Any) -> Iterator[tuple[Any, ...]]:
    return (tuple(row.values()) for row in table.to_pylist())


def _csv(path: Path) -> tuple[Any, list[tuple[Any, ...]]]:
    lines = _open(path).splitlines(keepends=True)
    return None, [tuple(v or None for v in line) for line in csv.reader(lines, escapechar="\\", doublequote=False)]


def _json(path: Path) -> tuple[Any, list[tuple[Any, ...]]]:
    return None, [(tuple(sorted(json.loads(line).items())),) for line in _open(path).split("\n") if line]


def _text(path: Path) -> tuple[Any, list[tuple[Any, ...]]]:
    return None, [(line,) for line in _open(path).split("\n")[:-1]]


def _xml(path: Path) -> tuple[Any, list[tuple[Any, ...]]]:
    """Each record as the names and texts of its fields."""
    text = _open(path)
    root = ElementTree.fromstring(text) if text.strip() else ()
    return None, [(tuple(sorted((field.tag, field.text) for field in record)),) for record in root]


READERS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "parquet": _parquet,
    "orc": _orc,
    "csv": _csv,
    "json": _json,
    "text": _text,
    "xml": _xml,
}
