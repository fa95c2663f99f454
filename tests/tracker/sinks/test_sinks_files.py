from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _sinks_trial import READERS, Trial, check, contents, parquet
from pyspark.sql import functions as fn

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def trial(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial(spark, tmp_path_factory.mktemp("jar"))


def numbers(spark: Any, rows: int = 100, parts: int = 4) -> Any:
    return spark.range(0, rows, 1, parts).withColumn("x", fn.col("id") % 7)


def same_as_plain(trial: Trial, frame: Any, tmp_path: Path, end: str = "parquet", **how: Any) -> Any:
    """Write with and without the tap; the files must be alike, and the pieces right."""
    result = trial.write(frame, end, str(tmp_path / "out"), **how)
    check(tmp_path / "out", result, READERS[end])
    getattr(how.get("setup", lambda w: w)(frame.write), end)(str(tmp_path / "plain"))
    assert contents(tmp_path / "out", READERS[end]) == contents(tmp_path / "plain", READERS[end])
    return result


def test_narrow(spark: Any, trial: Trial, tmp_path: Path) -> None:
    result = same_as_plain(trial, numbers(spark).where("x <> 3"), tmp_path)
    version = result.written.version
    assert version.dataset.name == str(tmp_path / "out") == result.sink.dataset.name
    assert version.format == "parquet" and version.files.written.all()
    assert [(f.name, f.type) for f in version.fields] == [("id", "bigint"), ("x", "bigint")]
    stats = [(tmp_path / "out" / p).stat() for p in version.files.paths]
    assert version.files.sizes.tolist() == [s.st_size for s in stats]
    assert version.files.mtimes.tolist() == [s.st_mtime_ns // 1_000_000 for s in stats]


@pytest.mark.parametrize("end", ["parquet", "orc", "csv", "json"])
def test_more_files_than_tasks(spark: Any, trial: Trial, tmp_path: Path, end: str) -> None:
    result = same_as_plain(
        trial, numbers(spark, 25, 3), tmp_path, end, setup=lambda w: w.option("maxRecordsPerFile", 4)
    )
    assert result.written.version.files.rows.tolist() == [4] * 6 + [1]  # tasks of 8, 8 and 9 rows


@pytest.mark.parametrize("by", [(), ("p",)])
def test_text(spark: Any, trial: Trial, tmp_path: Path, by: tuple[str, ...]) -> None:
    frame = numbers(spark, 25, 3).selectExpr("string(id) as value", "x as p").select("value", *by)

    def setup(writer: Any) -> Any:
        return writer.partitionBy(*by).option("maxRecordsPerFile", 2)

    result = same_as_plain(trial, frame, tmp_path, "text", setup=setup, row="value")
    assert result.written.version.files.total == 25


@pytest.mark.parametrize("aqe", [True, False])
def test_shuffled(spark: Any, trial: Trial, tmp_path: Path, aqe: bool) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", aqe)
    try:
        left, right = numbers(spark, 300, 3), numbers(spark, 50, 2).withColumnRenamed("x", "y")
        frame = left.join(right.hint("merge"), "id").groupBy("id").agg(fn.max("x").alias("x"))
        result = trial.write(frame, "parquet", str(tmp_path / "out"))
        check(tmp_path / "out", result)
        frame.write.parquet(str(tmp_path / "plain"))
        ours, plain = (contents(tmp_path / p, parquet) for p in ("out", "plain"))
        assert {k: sorted(v) for k, v in ours.items()} == {k: sorted(v) for k, v in plain.items()}
        assert (len(result.ids) == 1) is aqe  # coalesced to one task, or not
    finally:
        spark.conf.unset("spark.sql.adaptive.enabled")


def test_one_task(spark: Any, trial: Trial, tmp_path: Path) -> None:
    result = same_as_plain(trial, numbers(spark).coalesce(1), tmp_path)
    assert result.written.counts.tolist() == [100]
    again = trial.write(numbers(spark).repartition(1), "parquet", str(tmp_path / "again"))
    check(tmp_path / "again", again)


def test_sorted(spark: Any, trial: Trial, tmp_path: Path) -> None:
    frame = numbers(spark, 500).orderBy(fn.col("x").desc(), "id")
    same_as_plain(trial, frame, tmp_path)


@pytest.mark.parametrize("end", ["parquet", "orc", "csv", "json"])
def test_no_rows(spark: Any, trial: Trial, tmp_path: Path, end: str) -> None:
    result = same_as_plain(trial, numbers(spark).where("id < 0"), tmp_path, end)
    assert result.written.version.files.total == 0 == len(result.written.rows)
    assert len(result.written.version.files.paths) == 1


def test_conf_limits_records_too(spark: Any, trial: Trial, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.files.maxRecordsPerFile", 10)
    try:
        result = same_as_plain(trial, numbers(spark), tmp_path)
        assert len(result.written.version.files.paths) == 12  # four tasks of 25 rows
        unlimited = same_as_plain(
            trial, numbers(spark), tmp_path / "b", setup=lambda w: w.option("maxRecordsPerFile", 0)
        )
        assert len(unlimited.written.version.files.paths) == 4
    finally:
        spark.conf.unset("spark.sql.files.maxRecordsPerFile")


@pytest.mark.parametrize("end", ["parquet", "orc", "csv", "json"])
def test_append_twice(spark: Any, trial: Trial, tmp_path: Path, end: str) -> None:
    out, sizes = str(tmp_path / "out"), []
    for turn in range(3):
        frame = numbers(spark, 30 + turn, 2)
        result = trial.write(frame, end, out, setup=lambda w: w.mode("append").option("header", False))
        check(tmp_path / "out", result, READERS[end])
        files = result.written.version.files
        sizes.append((len(files.paths), files.total, int(files.written.sum())))
    assert sizes == [(2, 30, 2), (4, 61, 2), (6, 93, 2)]


def test_append_counts_what_a_reader_sees(spark: Any, trial: Trial, tmp_path: Path) -> None:
    root = tmp_path / "a [b]{c}*"
    frame = numbers(spark, 20, 2).withColumn("part", fn.col("id") % 3)
    how = {"setup": lambda w: w.mode("append").partitionBy("part").option("header", True).option("sep", "|")}
    for total in (20, 40):
        result = trial.write(frame, "csv", str(root), **how)
        assert result.written.version.files.total == total
    assert (
        spark.read.csv(str(root).replace("[", r"\[").replace("{", r"\{").replace("*", r"\*"), header=True).count() == 40
    )
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert dict(result.written.version.options) == {"header": "true", "sep": "|", "timezone": zone}


def test_overwrite(spark: Any, trial: Trial, tmp_path: Path) -> None:
    numbers(spark, 7).write.parquet(str(tmp_path / "out"))
    result = trial.write(numbers(spark, 10, 2), "parquet", str(tmp_path / "out"), setup=lambda w: w.mode("overwrite"))
    check(tmp_path / "out", result)
    assert result.written.version.files.total == 10 and result.written.version.files.written.all()


def test_save_takes_its_path_from_either_place(spark: Any, trial: Trial, tmp_path: Path) -> None:
    one = trial.write(numbers(spark), "save", str(tmp_path / "one"), setup=lambda w: w.format("orc"))
    check(tmp_path / "one", one, READERS["orc"])
    two = trial.write(numbers(spark), "save", setup=lambda w: w.option("path", str(tmp_path / "two")))
    check(tmp_path / "two", two)


def test_what_is_there_already(spark: Any, trial: Trial, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    frame = numbers(spark)
    assert not trial.sink(frame, "parquet", out, setup=lambda w: w.mode("ignore")).skips
    assert not trial.sink(frame, "parquet", out).skips
    frame.write.parquet(out)
    assert trial.sink(frame, "parquet", out, setup=lambda w: w.mode("ignore")).skips
    assert trial.sink(frame, "parquet", out).skips
    assert not trial.sink(frame, "parquet", out, setup=lambda w: w.mode("append")).skips


def test_folders_that_are_no_data(spark: Any, trial: Trial, tmp_path: Path) -> None:
    numbers(spark, 5, 1).write.parquet(str(tmp_path / "out"))
    for hidden in ("_old/0/part-1.parquet", ".spark-staging-1/p=1/part-1.parquet", "_notes", ".x"):
        (tmp_path / "out" / hidden).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / hidden).write_bytes(b"x")
    result = trial.write(numbers(spark, 5, 1), "parquet", str(tmp_path / "out"), setup=lambda w: w.mode("append"))
    assert len(result.written.version.files.paths) == 2
    check(tmp_path / "out", result)


def test_footers_larger_than_what_is_read_at_once(spark: Any, trial: Trial, tmp_path: Path) -> None:
    frame = spark.range(0, 6, 1, 2).select(
        "id", *[fn.lit(i).alias(f"a_rather_long_column_name_{i}") for i in range(250)]
    )
    result = trial.write(frame, "parquet", str(tmp_path / "out"))
    check(tmp_path / "out", result)
    file = tmp_path / "out" / result.written.version.files.paths[0]
    assert int.from_bytes(file.read_bytes()[-8:-4], "little") > 1 << 15
