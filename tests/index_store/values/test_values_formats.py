from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _values_spark import both, version_at
from pyarrow import orc

from provspark.errors import ValuesUnavailableError
from provspark.index_store.values import read_rows
from provspark.index_store.values.selection import select_rows

FRAME = """
select id, cast(id % 7 as int) i, concat('n', id) s, id / 3 x, cast(id / 3 as decimal(10,2)) d,
  date_add(date'2024-01-01', cast(id as int)) dt, timestamp_seconds(id * 100000) ts,
  cast(cast(id as string) as binary) bin,
  array(id, null) arr, named_struct('id', id, 'q', cast(id as string)) st, map('k', id) mp, id % 2 = 0 b,
  if(id % 3 = 0, null, cast(id as float)) f, timestamp_ntz'2024-01-02 03:04:05' ntz
from range(300)
"""


@pytest.mark.spark
@pytest.mark.parametrize("fmt", ["parquet", "orc"])
def test_all_types_read_as_in_spark(spark: Any, tmp_path: Path, fmt: str) -> None:
    frame = spark.sql(FRAME).drop("ts") if fmt == "orc" else spark.sql(FRAME)
    frame.repartition(3).write.format(fmt).save(str(tmp_path / "d"))
    assert both(spark, tmp_path / "d", fmt).files.total == 300


@pytest.mark.spark
def test_partition_columns_come_from_folders(spark: Any, tmp_path: Path) -> None:
    text = "if(id % 3 = 0, null, concat('a/b %=é:', id % 3)) p, cast(id % 2 as int) q, date_add(date'2024-01-01', 1) r"
    frame = spark.sql(f"select id, {text} from range(30)")
    frame.write.partitionBy("p", "q", "r").parquet(str(tmp_path / "d"))
    side = both(spark, tmp_path / "d", "parquet", None, None, ("p", "q", "r"))
    got = read_rows(side.version, side.files, np.array([29, 0]), ["Q", "id", "q"])
    assert got.column_names == ["q", "id", "q"]
    assert got["id"].to_pylist() == [side.rows[29]["id"], side.rows[0]["id"]]
    only = read_rows(side.version, side.files, np.array([3, 3]), ["p"])
    assert only.to_pylist() == [{"p": side.rows[3]["p"]}] * 2


@pytest.mark.spark
def test_old_times_missing_columns_and_other_types(spark: Any, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.parquet.outputTimestampType", "INT96")
    try:
        spark.sql("select id, cast(id as int) n, timestamp_seconds(id) ts from range(20)").write.parquet(
            str(tmp_path / "d")
        )
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")
    both(spark, tmp_path / "d", "parquet", "ID bigint, ts timestamp, missing string, n bigint")


@pytest.mark.spark
@pytest.mark.parametrize("codec", ["gzip", "bzip2", "deflate", "none"])
def test_text_that_spark_wrote(spark: Any, tmp_path: Path, codec: str) -> None:
    frame = spark.sql(
        "select id, concat(' a\"b,c\\\\', id) s, id / 3 x, timestamp_seconds(id) ts, if(id = 3, null, '') e "
        "from range(50)"
    )
    frame.write.option("compression", codec).csv(str(tmp_path / "csv"))
    both(spark, tmp_path / "csv", "csv", "id bigint, s string, x double, ts timestamp, e string")
    frame.write.option("compression", codec).json(str(tmp_path / "json"))
    both(spark, tmp_path / "json", "json", "id bigint, s string, x double, ts timestamp, e string")
    frame.select("s").write.option("compression", codec).text(str(tmp_path / "text"))
    both(spark, tmp_path / "text", "text")


@pytest.mark.spark
@pytest.mark.parametrize("options", [{}, {"lineSep": "x\r"}])
def test_lines_of_text(spark: Any, tmp_path: Path, options: dict[str, str]) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfx\r\n\r\nx\r\rlast")
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbf")
    (tmp_path / "c.txt").write_bytes(b"\xef\xbb\xbf\n")
    both(spark, tmp_path, "text", None, options)


def test_only_the_row_groups_that_are_needed_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"a": range(100), "b": range(100)}), tmp_path / "a.parquet", row_group_size=10)
    version, files = version_at(tmp_path, "parquet", [("a", "bigint"), ("b", "bigint")], {"a.parquet": 100})
    read: list[tuple[int, list[str]]] = []
    real = pq.ParquetFile.read_row_group

    def spy(self: Any, group: int, columns: list[str]) -> pa.Table:
        read.append((group, columns))
        return real(self, group, columns=columns)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", spy)
    got = read_rows(version, files, np.array([95, 3, 98, 3]), ["b"])
    assert got["b"].to_pylist() == [95, 3, 98, 3]
    assert read == [(0, ["b"]), (9, ["b"])]


def test_texts_that_other_writers_left_as_views(tmp_path: Path) -> None:
    table = pa.table(
        {"s": pa.array(["a", None, "c"], pa.string_view()), "l": pa.array(["x", "y", "z"], pa.large_string())}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    version, files = version_at(tmp_path, "parquet", [("s", "string"), ("l", "string")], {"a.parquet": 3})
    assert read_rows(version, files, np.array([2, 1])).to_pylist() == [{"s": "c", "l": "z"}, {"s": None, "l": "y"}]
    assert select_rows(version, files, [("s", "=", "c"), ("l", ">", "y")]).tolist() == [2]


def test_columns_that_differ_by_case_only_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"ab": [1], "AB": [2]}), tmp_path / "a.parquet")
    version, files = version_at(tmp_path, "parquet", [("Ab", "bigint")], {"a.parquet": 1})
    with pytest.raises(ValuesUnavailableError, match="equal 'Ab' but for case"):
        read_rows(version, files, np.array([0]))


def test_a_type_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "a.parquet")
    version, files = version_at(tmp_path, "parquet", [("a", "int")], {"a.parquet": 1})
    with pytest.raises(ValuesUnavailableError, match=r"'a' of .* is string and can't be read as int"):
        read_rows(version, files, np.array([0]))


def test_hives_files_without_names_are_refused(tmp_path: Path) -> None:
    orc.write_table(pa.table({"_col0": [1]}), tmp_path / "a.orc")
    version, files = version_at(tmp_path, "orc", [("a", "bigint")], {"a.orc": 1})
    with pytest.raises(ValuesUnavailableError, match="_col0"):
        read_rows(version, files, np.array([0]))


def test_times_in_orc_are_refused(tmp_path: Path) -> None:
    orc.write_table(pa.table({"a": [1], "t": pa.array([0], pa.timestamp("us"))}), tmp_path / "a.orc")
    kinds = [("a", "bigint"), ("t", "array<timestamp>")]
    version, files = version_at(tmp_path, "orc", kinds, {"a.orc": 1})
    with pytest.raises(ValuesUnavailableError, match="time zones of the JVMs"):
        read_rows(version, files, np.array([0]))
    assert read_rows(version, files, np.array([0]), ["a"]).to_pylist() == [{"a": 1}]


def test_a_type_of_its_own_is_read_as_it_is_stored(tmp_path: Path) -> None:
    pq.write_table(pa.table({"v": [[1.0, 2.0]]}), tmp_path / "a.parquet")
    version, files = version_at(tmp_path, "parquet", [("v", "vector")], {"a.parquet": 1})
    assert read_rows(version, files, np.array([0])).to_pylist() == [{"v": [1.0, 2.0]}]
