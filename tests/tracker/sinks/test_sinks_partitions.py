from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _sinks_trial import READERS, Trial, check, contents, parquet
from pyspark.sql import functions as fn

from provspark.errors import UnsupportedPlanError
from provspark.tracker import attach

pytestmark = pytest.mark.spark

STRINGS = [
    "a",
    None,
    "",
    "b/c",
    "k=v",
    "héllo wörld",
    " lead",
    "日本",
    "a%20b",
    "x:y",
    "q?[1]{2}*",
    "line\nbreak",
    '"',
    "#",
]
COLUMNS = {
    "int": "if(id % 5 <> 0, int(id % 5), null)",
    "date": "date_add(date'2024-02-27', int(id % 4))",
    "timestamp": "timestamp_seconds(id % 3 * 3600 + 0.123456)",
    "timestamp_ntz": "cast(timestamp_seconds(id % 3 * 3600) as timestamp_ntz)",
    "decimal": "decimal(id % 4) / 8",
    "double": "if(id % 4 = 0, double('nan'), id % 4 / 3)",
    "boolean": "id % 2 = 0",
}


@pytest.fixture(scope="module")
def trial(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial(spark, tmp_path_factory.mktemp("jar"))


@pytest.fixture
def conf(spark: Any) -> Iterator[Any]:
    """Set settings that are taken back afterwards."""
    changed: dict[str, str | None] = {}

    def put(name: str, value: object) -> None:
        changed.setdefault(name, spark.conf.get(name, None))
        spark.conf.set(name, value)

    yield put
    for name, value in changed.items():
        if value is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, value)


def frame_of(spark: Any, kind: str, rows: int = 120, parts: int = 3) -> Any:
    return spark.range(0, rows, 1, parts).withColumn("p", column(kind)).withColumn("x", fn.col("id") * 7 % 11)


def column(kind: str) -> Any:
    if kind == "string":
        return fn.array(*[fn.lit(s) for s in STRINGS])[(fn.col("id") % len(STRINGS)).cast("int")]
    return fn.expr(COLUMNS[kind])


def unsorted_above_tap(plan: str) -> bool:
    """Whether only projections stand between the files and the tap."""
    above = []
    for line in plan[plan.index("WriteFiles") :].splitlines()[1:]:
        node = re.sub(r"^[ :+*-]*(\(\d+\) )?", "", line).split()[0]
        if node == "Filter":
            return set(above) <= {"Project", "AdaptiveSparkPlan", "ResultQueryStage"}
        above.append(node)
    raise AssertionError(f"no tap in {plan}")


def same_as_plain(
    trial: Trial, frame: Any, tmp_path: Path, by: tuple[str, ...] = ("p",), end: str = "parquet", **options: Any
) -> Any:
    def setup(writer: Any) -> Any:
        return writer.partitionBy(*by).options(**options)

    result = trial.write(frame, end, str(tmp_path / "out"), setup=setup)
    check(tmp_path / "out", result, READERS[end])
    assert unsorted_above_tap(result.plan), result.plan
    getattr(setup(frame.write), end)(str(tmp_path / "plain"))
    assert contents(tmp_path / "out", READERS[end]) == contents(tmp_path / "plain", READERS[end])
    return result


@pytest.mark.parametrize("kind", ["string", *COLUMNS])
def test_one_column(spark: Any, trial: Trial, tmp_path: Path, kind: str) -> None:
    result = same_as_plain(trial, frame_of(spark, kind), tmp_path)
    version = result.written.version
    assert version.partitions == ("p",) and [f.name for f in version.fields] == ["id", "x", "p"]


@pytest.mark.parametrize("end", ["parquet", "orc", "csv", "json"])
def test_two_columns_and_full_files(spark: Any, trial: Trial, tmp_path: Path, end: str) -> None:
    frame = frame_of(spark, "string").withColumn("q", column("int"))
    result = same_as_plain(trial, frame, tmp_path, ("q", "p"), end, maxRecordsPerFile=1)
    assert result.written.version.partitions == ("q", "p")
    assert len(result.written.version.files.paths) == 120


def test_names_in_another_case(spark: Any, trial: Trial, tmp_path: Path) -> None:
    frame = frame_of(spark, "int").withColumnRenamed("p", "Part")
    result = same_as_plain(trial, frame, tmp_path, ("pART",))
    folder = result.written.version.files.paths[0].split("=")[0]
    assert result.written.version.partitions == (folder,)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.write.partitionBy("pART").parquet(str(tmp_path / "captured"))
    assert capture.untracked == ()
    assert contents(tmp_path / "captured", parquet) == contents(tmp_path / "plain", parquet)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_time_zones(spark: Any, trial: Trial, tmp_path: Path, conf: Any, zone: str) -> None:
    frame = frame_of(spark, "timestamp")
    conf("spark.sql.session.timeZone", zone)
    same_as_plain(trial, frame, tmp_path)
    same_as_plain(trial, frame, tmp_path / "option", timeZone="+05:00")


def test_a_constant(spark: Any, trial: Trial, tmp_path: Path) -> None:
    frame = frame_of(spark, "int").withColumn("ds", fn.lit("2024-01-01"))
    same_as_plain(trial, frame, tmp_path / "one", ("ds",))
    same_as_plain(trial, frame, tmp_path / "two", ("ds", "p"))
    same_as_plain(trial, frame.orderBy(fn.desc("x")), tmp_path / "three", ("p", "ds"))


@pytest.mark.parametrize("kind", ["string", "int"])
def test_where_nulls_are_ruled_out(spark: Any, trial: Trial, tmp_path: Path, kind: str) -> None:
    frame = frame_of(spark, kind)
    same_as_plain(trial, frame.where("p is not null"), tmp_path / "not-null")
    same_as_plain(trial, frame.where("p > ''" if kind == "string" else "p > 1"), tmp_path / "above")
    other = frame.select(fn.col("p").alias("o")).distinct()
    result = trial.write(
        frame.join(other, frame.p == other.o).drop("o"),
        "parquet",
        str(tmp_path / "joined"),
        setup=lambda w: w.partitionBy("p"),
    )
    check(tmp_path / "joined", result)
    assert unsorted_above_tap(result.plan)


@pytest.mark.parametrize("kind", ["string", "int"])
def test_rows_that_are_sorted_already(spark: Any, trial: Trial, tmp_path: Path, kind: str) -> None:
    frame = frame_of(spark, kind)
    same_as_plain(trial, frame.orderBy(fn.desc("x"), "id"), tmp_path / "by-x")
    same_as_plain(trial, frame.sortWithinPartitions(fn.desc("x")), tmp_path / "x-within")
    same_as_plain(trial, frame.repartition(2, "p").sortWithinPartitions("p", fn.desc("x"), "id"), tmp_path / "p-x")
    same_as_plain(trial, frame.sortWithinPartitions("p", fn.desc("x")).select("x", "id", "p"), tmp_path / "selected")


def test_shuffled_to_one_task(spark: Any, trial: Trial, tmp_path: Path) -> None:
    frame = frame_of(spark, "string").repartition("p")
    result = trial.write(frame, "parquet", str(tmp_path / "out"), setup=lambda w: w.partitionBy("p"))
    check(tmp_path / "out", result)
    assert len(result.ids) == 1 and unsorted_above_tap(result.plan)


def test_no_rows(spark: Any, trial: Trial, tmp_path: Path) -> None:
    result = same_as_plain(trial, frame_of(spark, "string").where("id < 0"), tmp_path)
    assert result.written.version.files.paths == ()


@pytest.mark.parametrize("by_option", [True, False])
def test_dynamic_overwrite(spark: Any, trial: Trial, tmp_path: Path, conf: Any, by_option: bool) -> None:
    frame = frame_of(spark, "int", 30, 2)
    frame.write.partitionBy("p").parquet(str(tmp_path / "out"))
    if not by_option:
        conf("spark.sql.sources.partitionOverwriteMode", "dynamic")

    def setup(writer: Any) -> Any:
        if by_option:
            writer = writer.option("partitionOverwriteMode", "dynamic")
        return writer.mode("overwrite").partitionBy("p")

    result = trial.write(frame.where("p in (1, 2)"), "parquet", str(tmp_path / "out"), setup=setup)
    check(tmp_path / "out", result)
    files = result.written.version.files
    assert files.total == 30 and files.rows[files.written].sum() == 12
    assert {p.split("/")[0] for p, w in zip(files.paths, files.written, strict=True) if w} == {"p=1", "p=2"}


def test_static_overwrite_and_append(spark: Any, trial: Trial, tmp_path: Path) -> None:
    frame = frame_of(spark, "int", 30, 2)
    for mode, total in (("append", 30), ("append", 60), ("overwrite", 12)):
        rows = frame if mode == "append" else frame.where("p in (1, 2)")
        result = trial.write(rows, "parquet", str(tmp_path / "out"), setup=lambda w, m=mode: w.mode(m).partitionBy("p"))
        check(tmp_path / "out", result)
        assert result.written.version.files.total == total


def test_what_leaves_rows_unsorted_is_refused(spark: Any, trial: Trial, tmp_path: Path, conf: Any) -> None:
    frame = frame_of(spark, "int")
    conf("spark.sql.maxConcurrentOutputFileWriters", 3)
    with pytest.raises(UnsupportedPlanError, match=r"InsertIntoHadoopFsRelationCommand: .*maxConcurrentOutputFile"):
        trial.sink(frame, "parquet", str(tmp_path / "out"), setup=lambda w: w.partitionBy("p"))
    trial.sink(frame, "parquet", str(tmp_path / "out"))
    conf("spark.sql.maxConcurrentOutputFileWriters", 0)
    conf("spark.sql.optimizer.plannedWrite.enabled", False)
    with pytest.raises(UnsupportedPlanError, match="plannedWrite"):
        trial.sink(frame, "parquet", str(tmp_path / "out"), setup=lambda w: w.partitionBy("p"))
