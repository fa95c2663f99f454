"""Columns of files that the driver opens are named and typed as Spark reads them."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

from provspark.tracker.files.file import FileState
from provspark.tracker.files.footers import footer

TABLE = pa.table(
    {
        "b": pa.array([True]),
        "i8": pa.array([1], pa.int8()),
        "i16": pa.array([1], pa.int16()),
        "i32": pa.array([1], pa.int32()),
        "i64": pa.array([1], pa.int64()),
        "f": pa.array([1.0], pa.float32()),
        "d": pa.array([1.0]),
        "s": pa.array(["x"]),
        "bin": pa.array([b"x"]),
        "day": pa.array([date(2024, 1, 1)]),
        "local": pa.array([datetime(2024, 1, 1)], pa.timestamp("us")),
        "at": pa.array([datetime(2024, 1, 1, tzinfo=timezone.utc)], pa.timestamp("us", "UTC")),
        "dec": pa.array([Decimal("1.23")], pa.decimal128(10, 2)),
        "list": pa.array([[1]]),
        "struct": pa.array([{"x": 1, "y": "z"}]),
        "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32())),
    }
)
UNSIGNED = pa.table({f"u{n}": pa.array([1], getattr(pa, f"uint{n}")()) for n in (8, 16, 32, 64)})


def state(path: Path) -> FileState:
    found = path.stat()
    return FileState(str(path), found.st_size, found.st_mtime_ns)


@pytest.mark.spark
@pytest.mark.parametrize("table", [TABLE, UNSIGNED], ids=["types", "unsigned"])
def test_types_are_sparks(table: pa.Table, spark: Any, tmp_path: Path) -> None:
    pa.parquet.write_table(table, tmp_path / "x.parquet")
    found = footer(state(tmp_path / "x.parquet"), "parquet")
    read = spark.read.parquet(str(tmp_path / "x.parquet"))
    assert found is not None
    assert [(f.name, f.type) for f in found.fields] == read.dtypes
    assert found.rows == read.count()


@pytest.mark.spark
def test_orc(spark: Any, tmp_path: Path) -> None:
    pa.orc.write_table(TABLE.select(["b", "i64", "s", "day", "dec", "list"]), tmp_path / "x.orc")
    found = footer(state(tmp_path / "x.orc"), "orc")
    read = spark.read.orc(str(tmp_path / "x.orc"))
    assert found is not None
    assert ([(f.name, f.type) for f in found.fields], found.rows) == (read.dtypes, 1)


def test_a_type_that_spark_does_not_have(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": [1], "t": pa.array([1], pa.time64("us"))}), tmp_path / "x.parquet")
    found = footer(state(tmp_path / "x.parquet"), "parquet")
    assert found is not None
    assert (found.rows, found.fields) == (1, ())


def test_files_that_are_not_what_they_were(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pa.parquet.write_table(TABLE, path)
    before = state(path)
    pa.parquet.write_table(UNSIGNED, path)
    assert footer(before, "parquet") is None
    path.write_text("no Parquet")
    assert footer(state(path), "parquet") is None
    assert footer(state(path), "csv") is None
