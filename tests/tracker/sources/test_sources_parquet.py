from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _source_rows import ADDRESS, conf, one_by_one, tagged
from pyspark.sql import DataFrame

from provspark.errors import CaptureError
from provspark.model.datasets import Dataset, Field
from provspark.tracker.sources import scan_relation
from provspark.tracker.spark.jvm import Jvm

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def jvm(spark: Any) -> Jvm:
    return Jvm(spark)


def write(path: Path, rows: range, group: int = 100) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    ids = np.arange(rows.start, rows.stop)
    table = pa.table({"id": ids, "word": [f"w{i % 7}" for i in ids], "half": ids / 2})
    pq.write_table(table, path, row_group_size=group)


def read(path: Path) -> list[tuple[Any, ...]]:
    return [tuple(r.values()) for r in pq.ParquetFile(path).read().to_pylist()]


@pytest.mark.parametrize("split", ["500b", "64k", "128m"])
@pytest.mark.parametrize("vectorized", [True, False])
def test_rows_have_their_place(spark: Any, jvm: Jvm, tmp_path: Path, split: str, vectorized: bool) -> None:
    write(tmp_path / "b é %20.parquet", range(700, 1000))
    write(tmp_path / "a.parquet", range(650))
    write(tmp_path / "c.parquet", range(0))
    with conf(
        spark,
        spark__sql__files__maxPartitionBytes=split,
        spark__sql__parquet__enableVectorizedReader=vectorized,
    ):
        t = tagged(jvm, spark.read.parquet(str(tmp_path)))
        got, version, _ = t.numbered(t.frame)
    assert sorted(got) == one_by_one(tmp_path, "*.parquet", read)
    assert version.dataset == Dataset("file", str(tmp_path))
    assert version.files.paths == ("a.parquet", "b é %20.parquet", "c.parquet")
    assert version.files.rows.tolist() == [650, 300, 0]
    stat = (tmp_path / "a.parquet").stat()
    assert version.files.sizes[0] == stat.st_size
    assert version.files.mtimes[0] == stat.st_mtime_ns // 1_000_000
    assert not version.files.written.any()
    assert version.fields == (Field("id", "bigint"), Field("word", "string"), Field("half", "double"))


def test_filters_reach_the_reader(spark: Any, jvm: Jvm, tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", range(1000))
    t = tagged(jvm, spark.read.parquet(str(tmp_path)), "id > 500 and word = 'w1'")
    frame = t.frame.select("word", t.frame.columns[-1])
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "GreaterThan(id,500)" in plan
    assert "half" not in plan
    got, _, _ = t.numbered(frame)
    want = [(i, w) for i, n, w, _ in one_by_one(tmp_path, "*.parquet", read) if n > 500 and w == "w1"]
    assert sorted(got) == want


@pytest.mark.parametrize("filters", ["", "id > 530 and id < 2760", "id = 77 or id = 2900", "id >= 1000 and id < 2000"])
def test_numbers_where_pages_and_row_groups_are_left_out(spark: Any, jvm: Jvm, tmp_path: Path, filters: str) -> None:
    """Pages of 50 rows in groups of 1,000, read in batches of 64, in order and split."""
    table = pa.table({"id": np.arange(3000), "word": [f"w{i % 7}" for i in range(3000)]})
    pq.write_table(
        table, tmp_path / "a.parquet", row_group_size=1000, write_batch_size=50, data_page_size=1, write_page_index=True
    )
    for split in ("128m", "9k"):
        with conf(spark, spark__sql__parquet__columnarReaderBatchSize=64, spark__sql__files__maxPartitionBytes=split):
            got, _, _ = (t := tagged(jvm, spark.read.parquet(str(tmp_path)), filters)).numbered(t.frame)
        assert got and all(row == number for row, number, _ in got)
        wanted = spark.read.parquet(str(tmp_path)).filter(filters or "true")
        assert sorted(n for _, n, _ in got) == sorted(r.id for r in wanted.collect())


def test_spark_has_what_its_row_numbers_are_replaced_in(jvm: Jvm) -> None:
    """RowNumbers.java leaves Spark's own way where it has not, and reading slower."""
    package = "org.apache.spark.sql.execution.datasources"
    for owner, held in (
        (
            f"{package}.parquet.VectorizedParquetRecordReader",
            f"{package}.parquet.ParquetRowIndexUtil$RowIndexGenerator",
        ),
        (f"{package}.RecordReaderIterator", "org.apache.hadoop.mapreduce.RecordReader"),
    ):
        fields = jvm.context_loader.loadClass(owner).getDeclaredFields()
        assert [f.getType().getName() for f in fields].count(held) == 1


def test_partition_predicates_choose_the_files(spark: Any, jvm: Jvm, tmp_path: Path) -> None:
    for part in range(4):
        write(tmp_path / f"P={part}" / "x.parquet", range(part * 100, part * 100 + 50))
    t = tagged(jvm, spark.read.parquet(str(tmp_path)), "p >= 1 and p + 0 < 3 and id % 2 = 0")
    got, version, _ = t.numbered(t.frame)
    assert version.files.paths == ("P=1/x.parquet", "P=2/x.parquet")
    assert version.partitions == ("P",)
    assert version.fields[-1] == Field("P", "int")
    rows = [(n, w, h, p) for p in (1, 2) for n, w, h in read(tmp_path / f"P={p}" / "x.parquet")]
    assert sorted(got) == [(i, *r) for i, r in enumerate(rows) if r[0] % 2 == 0]


def test_a_changed_file_is_told(spark: Any, jvm: Jvm, tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", range(10))
    t = tagged(jvm, spark.read.parquet(str(tmp_path)))
    t.frame.collect()
    write(tmp_path / "a.parquet", range(12))
    with pytest.raises(CaptureError, match=r"changed while they were read, first file:.*a.parquet"):
        t.scan.finish()


def test_a_file_alone_and_several_roots(spark: Any, jvm: Jvm, tmp_path: Path) -> None:
    for name in ("one/a.parquet", "two/b.parquet"):
        write(tmp_path / name, range(5))
    t = tagged(jvm, spark.read.parquet(str(tmp_path / "one" / "a.parquet")))
    _, version, _ = t.numbered(t.frame)
    assert (version.dataset.name, version.files.paths) == (str(tmp_path / "one" / "a.parquet"), ("",))
    t = tagged(jvm, spark.read.parquet(str(tmp_path / "two"), str(tmp_path / "one"), str(tmp_path / "two")))
    got, version, _ = t.numbered(t.frame)
    assert (version.dataset.name, version.files.paths) == (str(tmp_path), ("one/a.parquet", "two/b.parquet"))
    assert {r[0] for r in got} == set(range(10))


def test_users_own_metadata_column_stays(spark: Any, jvm: Jvm, tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", range(30))
    frame = spark.read.parquet(str(tmp_path)).select("id", "_metadata")
    relation = frame._jdf.queryExecution().analyzed().child()
    scan = scan_relation(jvm, relation, [])
    out = jvm.jvm.org.apache.spark.sql.classic.Dataset.ofRows(jvm.session, scan.plan)
    rows = DataFrame(out, spark).select("_metadata.row_index", "_metadata.file_name", ADDRESS).collect()
    _, segments = scan.finish()
    assert [r[0] for r in rows] == list(range(30))
    assert segments.rows_of(np.array([r[2] for r in rows])).tolist() == list(range(30))
    assert {r[1] for r in rows} == {"a.parquet"}
