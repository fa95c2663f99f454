"""Readings that stop before a block's end: the rows read have their places all the same."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _source_rows import ADDRESS, Row, Tagged, conf, one_by_one, tagged
from pyspark.sql.functions import col, lit, udf

from provspark.errors import CaptureError
from provspark.model.arrays import Int64
from provspark.tracker.sources.counted import CountedScan
from provspark.tracker.spark.jvm import Jvm

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def jvm(spark: Any) -> Jvm:
    return Jvm(spark)


@pytest.fixture
def counted_again(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[int], int]]:
    """Which files were counted again, and how cut."""
    calls: list[tuple[list[int], int]] = []
    real = CountedScan.count_again

    def noted(self: CountedScan, files: Int64, split: int) -> bytes:
        calls.append((files.tolist(), split))
        return real(self, files, split)

    monkeypatch.setattr(CountedScan, "count_again", noted)
    return calls


@pytest.fixture
def root(spark: Any, tmp_path: Path) -> Iterator[Path]:
    """Three CSV files of some 30 kB, cut every 4,096 bytes."""
    for name, first in (("b", 0), ("a", 3000), ("c", 6000)):
        text = "".join(f"{i},{i % 5},{'x' * (i % 9)}\n" for i in range(first, first + 3000))
        (tmp_path / f"{name}.csv").write_text(text)
    with conf(
        spark,
        spark__sql__files__maxPartitionBytes=4096,
        spark__sql__files__openCostInBytes=4096,
        spark__sql__autoBroadcastJoinThreshold=-1,
    ):
        yield tmp_path


SCHEMA = "id int, key int, word string"


def read(path: Path) -> list[Row]:
    return [(int(i), int(k), w or None) for i, k, w in (x.split(",") for x in path.read_text().splitlines())]


def source(spark: Any, jvm: Jvm, root: Path) -> Tagged:
    return tagged(jvm, spark.read.schema(SCHEMA).csv(str(root)))


def check(t: Tagged, frame: Any, root: Path) -> list[Row]:
    got, version, _ = t.numbered(frame)
    want = one_by_one(root, "*.csv", read)
    assert set(got) <= set(want)
    assert version.files.rows.tolist() == [3000, 3000, 3000]
    return got


def test_read_to_the_end_counts_once(spark: Any, jvm: Jvm, root: Path, counted_again: list[Any]) -> None:
    t = source(spark, jvm, root)
    assert len(check(t, t.frame.where("key = 1"), root)) == 1800
    assert counted_again == []


def test_limit(spark: Any, jvm: Jvm, root: Path, counted_again: list[Any]) -> None:
    t = source(spark, jvm, root)
    assert len(check(t, t.frame.limit(10), root)) == 10
    assert counted_again == [([0, 1, 2], 4096)]


def test_limit_over_a_shuffle(spark: Any, jvm: Jvm, root: Path) -> None:
    t = source(spark, jvm, root)
    assert len(check(t, t.frame.where("key = 3").limit(700).repartition(2), root)) == 700


def test_coalesce_reads_many_blocks_in_a_task(spark: Any, jvm: Jvm, root: Path, counted_again: list[Any]) -> None:
    t = source(spark, jvm, root)
    assert len(check(t, t.frame.coalesce(1), root)) == 9000
    assert counted_again == []
    t = source(spark, jvm, root)
    assert len(check(t, t.frame.coalesce(2).limit(3), root)) == 3
    assert len(counted_again) == 1


def test_sort_merge_join_with_an_empty_side(spark: Any, jvm: Jvm, root: Path) -> None:
    t = source(spark, jvm, root)
    empty = spark.range(100).where("id < 0").withColumnRenamed("id", "other")
    assert check(t, t.frame.join(empty.hint("merge"), col("key") == col("other")).drop("other"), root) == []
    t = source(spark, jvm, root)
    few = spark.range(2).withColumnRenamed("id", "other")
    got = check(t, t.frame.join(few.hint("merge"), col("key") == col("other")).drop("other"), root)
    assert len(got) == 3600


@pytest.mark.parametrize("last", ["csv", "parquet"])
def test_a_short_and_a_full_reading_in_one_task(
    spark: Any, jvm: Jvm, root: Path, counted_again: list[Any], tmp_path_factory: pytest.TempPathFactory, last: str
) -> None:
    """The second reading comes to its end in the same task: that says nothing of the first."""
    short, full = source(spark, jvm, root), source(spark, jvm, root)
    rest = full.frame
    if last == "parquet":
        folder = str(tmp_path_factory.mktemp("parquet"))
        spark.range(9000).selectExpr("int(id) id", "0 key", "'w' word", f"0L {ADDRESS}").write.mode(
            "overwrite"
        ).parquet(folder)
        rest = spark.read.parquet(folder)
    taken = short.frame.coalesce(1).limit(3).withColumn("which", lit(0))
    rows = taken.unionByName(rest.withColumn("which", lit(1))).coalesce(1).collect()
    want = one_by_one(root, "*.csv", read)
    for which, scan in ((0, short.scan), (1, full.scan)):
        mine = [r for r in rows if r["which"] == which]
        assert len(mine) == (9000 if which else 3)
        if which and last == "parquet":
            continue
        _, segments = scan.finish()
        ids = segments.rows_of(as_array([r[ADDRESS] for r in mine])).tolist()
        assert [(i, r["id"], r["key"], r["word"]) for i, r in zip(ids, mine, strict=True)] == [want[i] for i in ids]
    assert len(counted_again) == 1


def as_array(values: list[int]) -> Any:
    return np.array(values, dtype=np.int64)


def test_cartesian_product_reads_a_side_often(spark: Any, jvm: Jvm, root: Path) -> None:
    t = source(spark, jvm, root)
    other = spark.range(0, 4, 1, 2).withColumnRenamed("id", "n")
    with conf(spark, spark__sql__crossJoin__enabled=True):
        crossed = other.crossJoin(t.frame.where("id % 100 = 0")).drop("n")
        assert len(check(t, crossed, root)) == 4 * 90


def test_python_udf_above(spark: Any, jvm: Jvm, root: Path, counted_again: list[Any]) -> None:
    t = source(spark, jvm, root)
    even = udf(lambda i: i % 2 == 0, "boolean")
    assert len(check(t, t.frame.where(even("id")), root)) == 4500
    assert counted_again == []
    t = source(spark, jvm, root)
    assert len(check(t, t.frame.where(even("id")).limit(5), root)) == 5


def test_a_plan_run_twice(spark: Any, jvm: Jvm, root: Path, counted_again: list[Any]) -> None:
    """Range partitioning samples its input first."""
    t = source(spark, jvm, root)
    assert len(check(t, t.frame.repartitionByRange(3, "word").sortWithinPartitions("id"), root)) == 9000
    assert counted_again == []


def test_failed_tasks_do_not_count(spark: Any, jvm: Jvm, root: Path) -> None:
    t = source(spark, jvm, root)
    fails = udf(lambda i: 1 // (i - 4321) == 0, "boolean")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        t.frame.where(fails("id")).collect()
    assert len(check(t, t.frame.limit(7), root)) == 7


def test_nothing_was_read(spark: Any, jvm: Jvm, root: Path, counted_again: list[Any]) -> None:
    t = source(spark, jvm, root)
    version, segments = t.scan.finish()
    assert version.files.rows.tolist() == [3000, 3000, 3000]
    assert counted_again == [([0, 1, 2], 0)]
    assert len(segments.starts) == 0
    assert len(segments.rows_of(as_array([]))) == 0
    with pytest.raises(CaptureError, match="not in the files that were listed"):
        segments.rows_of(as_array([5]))


@pytest.mark.parametrize("wholetext", [True, False])
def test_files_without_bytes_are_no_files_to_spark(spark: Any, jvm: Jvm, tmp_path: Path, wholetext: bool) -> None:
    for name, text in (("a", "x" * 50), ("b", ""), ("c", "y")):
        (tmp_path / name).write_text(text)
    for limit in (1, 10):
        t = tagged(jvm, spark.read.option("wholetext", wholetext).text(str(tmp_path)))
        got, version, _ = t.numbered(t.frame.limit(limit))
        assert version.files.paths == ("a", "c")
        assert version.files.rows.tolist() == [1, 1]
        assert sorted(got) in ([(0, "x" * 50)], [(1, "y")], [(0, "x" * 50), (1, "y")])


def test_more_rows_than_addresses(spark: Any, jvm: Jvm, tmp_path: Path) -> None:
    """Eight million empty lines are fifty bytes of bzip2: the write goes on, its lineage is refused."""
    (tmp_path / "a.bz2").write_bytes(bz2.compress(b"\n" * 8_000_000))
    t = tagged(jvm, spark.read.text(str(tmp_path)))
    assert t.frame.selectExpr(f"count({ADDRESS})").collect() == [(8_000_000,)]
    with pytest.raises(CaptureError, match="65,536 rows for each byte"):
        t.scan.finish()


@pytest.mark.parametrize(
    ("kind", "said"), [("csv", "not there when the write began"), ("parquet", "not in the files that were listed when")]
)
def test_a_file_that_came_later(spark: Any, jvm: Jvm, tmp_path: Path, kind: str, said: str) -> None:
    spark.range(5).write.format(kind).save(str(tmp_path / "x"))
    t = tagged(jvm, spark.read.schema("id bigint").format(kind).load(str(tmp_path / "x")))
    spark.range(5).write.format(kind).mode("append").save(str(tmp_path / "x"))
    t.scan.plan.collectLeaves().head().relation().location().refresh()
    with pytest.raises(CaptureError, match=said):
        t.numbered(t.frame)


def test_a_file_that_changed_since(spark: Any, jvm: Jvm, root: Path) -> None:
    t = source(spark, jvm, root)
    t.frame.limit(3).collect()
    with (root / "b.csv").open("a") as f:
        f.write("1,2,3\n")
    with pytest.raises(CaptureError, match=r"1 of 3 files .* changed .* first file:.*b.csv"):
        t.scan.finish()
