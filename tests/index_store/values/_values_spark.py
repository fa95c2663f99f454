"""What Spark reads from a path, and the same path as a version, side by side."""

from __future__ import annotations

from datetime import timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from provspark.index_store.values import read_rows
from provspark.model.datasets import Dataset, Field, Files, Version


def data_files(path: Path) -> list[Path]:
    """Files that Spark reads, in path order."""
    if path.is_file():
        return [path]
    found = [p for p in path.rglob("*") if p.is_file() and not p.name.startswith((".", "_"))]
    return sorted(found, key=lambda p: str(p.relative_to(path)))


def version_at(
    path: Path,
    fmt: str,
    fields: list[tuple[str, str]],
    counts: dict[str, int],
    options: dict[str, str] | None = None,
    partitions: tuple[str, ...] = (),
) -> tuple[Version, Files]:
    """A version of the files that lie there now; `counts` by relative path."""
    entries = []
    for file in data_files(path):
        name = "" if file == path else str(file.relative_to(path))
        stat = file.stat()
        entries.append((name, stat.st_size, stat.st_mtime_ns // 1_000_000, counts.get(name, 0), False))
    files, dataset = Files.of(entries), Dataset("file", str(path))
    lower = tuple(sorted((k.lower(), v) for k, v in (options or {}).items()))
    columns = tuple(Field(*f) for f in fields)
    version = Version(files.identity(dataset), dataset, files.total, len(entries), fmt, lower, columns, partitions)
    return version, files


def plain(value: Any) -> Any:
    """A value in a form in which NaN equals NaN and -0.0 is not 0.0."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


class SparkSide:
    """A path as Spark reads it, file by file in path order, handed over in Parquet."""

    def __init__(
        self, spark: Any, path: Path, fmt: str, schema: str | None, options: dict[str, str], partitions: tuple[str, ...]
    ) -> None:
        reader = spark.read.options(**options)
        frame = (reader.schema(schema) if schema else reader).format(fmt).load(str(path))
        self.fields = [(f.name, f.dataType.simpleString()) for f in frame.schema]
        self.rows: list[dict[str, Any]] = []
        counts = {}
        base = str(path if path.is_dir() else path.parent)
        for file in data_files(path):
            one = reader.schema(frame.schema).format(fmt).option("basePath", base).load(str(file))
            found = from_spark(one.select(*[f"`{n}`" for n, _ in self.fields]))
            self.rows += found
            counts["" if file == path else str(file.relative_to(path))] = len(found)
        zone = {"timeZone": spark.conf.get("spark.sql.session.timeZone")}
        self.version, self.files = version_at(path, fmt, self.fields, counts, {**zone, **options}, partitions)


def from_spark(frame: Any) -> list[dict[str, Any]]:
    """Rows of a frame in order; times in UTC."""
    with TemporaryDirectory() as folder:
        frame.coalesce(1).write.parquet(folder, mode="overwrite")
        rows: list[dict[str, Any]] = []
        for file in sorted(Path(folder).glob("*.parquet")):
            rows += pq.read_table(file, coerce_int96_timestamp_unit="us", partitioning=None).to_pylist()
    zoned = {f.name for f in frame.schema if f.dataType.simpleString() == "timestamp"}
    for row in rows:
        for name in zoned:
            row[name] = row[name] and row[name].replace(tzinfo=timezone.utc)
    return rows


def both(
    spark: Any,
    path: Path,
    fmt: str,
    schema: str | None = None,
    options: dict[str, str] | None = None,
    partitions: tuple[str, ...] = (),
) -> SparkSide:
    """Assert that all rows, and some in another order, read as Spark reads them."""
    side = SparkSide(spark, path, fmt, schema, options or {}, partitions)
    total = side.files.total
    assert total == len(side.rows)
    shuffled = np.random.default_rng(3).integers(0, total, 5) if total else np.zeros(0, dtype=np.int64)
    for rows in (np.arange(total), shuffled):
        got = read_rows(side.version, side.files, rows)
        assert got.schema.names == [n for n, _ in side.fields]
        assert plain(got.to_pylist()) == plain([side.rows[r] for r in rows.tolist()])
    return side
