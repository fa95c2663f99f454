"""What can't be captured exactly: the output is plain Spark's, the step says which node and which line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _refused import Plan, line_of, refused
from oracle import lineage, outputs
from oracle.cases import Case, Frames, check
from oracle.operators import select, where
from oracle.sources import Source
from oracle.tables import DEPT, EMP, SKEW
from pyspark.sql import Window
from pyspark.sql import functions as sf

from provspark.errors import ProvSparkError, UntrackedError
from provspark.tracker import attach

pytestmark = pytest.mark.spark

ROUGH = Source(
    "rough", ("n", "s"), (), {"a.csv": b"1,a\nx,b\n3,c\n"}, lambda s, p: s.read.schema("n INT, s STRING").csv(p)
)
TABLES = [EMP, DEPT, SKEW, ROUGH]


def text_by_rdd(t: Frames) -> Any:
    lines = t.spark.sparkContext.textFile(str(t.paths["rough"])).map(lambda line: (line,))
    return t.spark.createDataFrame(t.dept.select("name").rdd.union(lines), "name STRING")  # refused


def refused_by_rdd(t: Frames) -> Any:
    path = str(t.paths["rough"])
    rows = t.spark.read.schema("n INT").csv(path, mode="DROPMALFORMED").rdd  # refused
    return t.spark.createDataFrame(rows, "n INT")


def drop_malformed(t: Frames) -> Any:
    path = str(t.paths["rough"])
    return t.spark.read.schema("n INT, s STRING").option("mode", "DROPMALFORMED").csv(path)  # refused


def drop_malformed_json(t: Frames) -> Any:
    path = str(t.paths["rough"])
    return t.spark.read.schema("n INT, s STRING").json(path, mode="dropMalformed")  # refused


def sessions(t: Frames) -> Any:
    rows = t.skew.select(sf.timestamp_seconds("n").alias("at"), "k")
    gap = sf.when(sf.col("k") == 7, "3 seconds").otherwise("9 seconds")
    return rows.groupBy(sf.session_window("at", gap)).agg(sf.count("*").alias("n")).select("n")  # refused


REFUSED: list[tuple[Plan, str]] = [
    (text_by_rdd, "LogicalRDD"),
    (refused_by_rdd, "Relation"),
    (drop_malformed, "Relation"),
    (drop_malformed_json, "Relation"),
    (sessions, "Aggregate"),
]


@pytest.mark.parametrize(("plan", "node"), REFUSED, ids=[p.__name__ for p, _ in REFUSED])
def test_refused(
    plan: Plan, node: str, spark: Any, sources: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reason = refused(plan, Frames(spark, TABLES, sources), tmp_path, caplog)
    assert node in reason.node, reason


@pytest.mark.parametrize("plan", [text_by_rdd, drop_malformed], ids=lambda p: p.__name__)
def test_refused_fails_where_asked(plan: Plan, spark: Any, sources: Path, tmp_path: Path) -> None:
    t = Frames(spark, TABLES, sources)
    attached = attach(store=(tmp_path / "store").as_uri(), step="s", on_error="fail")
    with pytest.raises(ProvSparkError, match=f"{Path(__file__).name}:{line_of(plan)}"), attached:
        plan(t).write.parquet(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


NEITHER_SILENT = [
    Case(
        "sample",
        lambda t: t.skew.coalesce(1).sortWithinPartitions("n").sample(False, 0.3, 3).select("n"),
        lambda t: select(t.skew, "n"),
        expect="exact or refused",
        pick="some",
    ),
    Case(
        "rand() in a filter",
        lambda t: t.skew.coalesce(1).sortWithinPartitions("n").filter(sf.rand(7) < 0.5).select("n"),
        lambda t: select(t.skew, "n"),
        expect="exact or refused",
        pick="some",
    ),
    Case(
        "randomSplit",
        lambda t: t.skew.select("n").randomSplit([0.5, 0.5], seed=3)[0],
        lambda t: select(t.skew, "n"),
        expect="exact or refused",
        pick="some",
    ),
    Case(
        "monotonically_increasing_id dropped by a filter's side",
        lambda t: (
            t.skew.coalesce(1)
            .sortWithinPartitions("n")
            .withColumn("m", sf.monotonically_increasing_id())
            .filter("m < 9")
            .select("n")
        ),
        lambda t: select(where(t.skew, lambda r: r.n < 9), "n"),
        expect="exact or refused",
    ),
]


@pytest.mark.parametrize("case", NEITHER_SILENT, ids=str)
def test_exact_or_refused(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


def test_writes_of_java_code_are_captured(spark: Any, sources: Path, tmp_path: Path) -> None:
    t = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.dept.write.parquet(str(tmp_path / "out"))
        t.dept.select("w")._jdf.write().parquet(str(tmp_path / "java"))
    assert len(outputs.read(tmp_path / "java").rows) == 8
    assert capture.manifest is not None and capture.untracked == ()
    names = [str(tmp_path / name) for name in ("out", "java")]
    assert [(w.output.dataset.name, w.coverage) for w in capture.manifest.writes] == [(n, "exact") for n in names]


def test_a_function_that_makes_rows_at_its_end(spark: Any, sources: Path, tmp_path: Path) -> None:
    class Count:
        def __init__(self) -> None:
            self.n = 0

        def eval(self, row: Any) -> None:
            self.n += 1

        def terminate(self) -> Any:
            yield (self.n,)

    t = Frames(spark, TABLES, sources)
    t.dept.createOrReplaceTempView("dept")
    spark.udtf.register("counted", sf.udtf(Count, returnType="n int"))
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        spark.sql("SELECT n FROM counted(TABLE(dept) WITH SINGLE PARTITION)").write.parquet(str(tmp_path / "out"))
    assert [tuple(row) for row in outputs.read(tmp_path / "out").rows] == [(8,)]
    assert [u.node for u in capture.untracked] == ["Generate"]


def test_save_as_text_file(spark: Any, sources: Path, tmp_path: Path) -> None:
    t = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.dept.rdd.map(lambda r: str(r.w)).saveAsTextFile(str(tmp_path / "around"))
    assert sorted(int(line) for (line,) in outputs.read(tmp_path / "around", "text").rows) == [1, 2, 3, 4, 5, 6, 6, 7]
    assert capture.untracked


def test_refused_beside_captured(spark: Any, sources: Path, tmp_path: Path) -> None:
    """A refusal concerns its write alone; to ask what it made where it came from is an error, never an empty answer."""
    t = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.dept.filter("w > 2").write.parquet(str(tmp_path / "good"))
        drop_malformed(t).write.parquet(str(tmp_path / "refused"))
        t.emp.write.parquet(str(tmp_path / "also good"))
    assert len(capture.untracked) == 1
    answers = lineage.Lineage(tmp_path / "store", capture.manifest, TABLES, t.paths)
    assert set(answers.backward(tmp_path / "good", 6)) == {frozenset({("dept", 0, i)}) for i in range(2, 8)}
    assert set(answers.backward(tmp_path / "also good", 12)) == {frozenset({("emp", 0, i)}) for i in range(12)}
    with pytest.raises(UntrackedError):
        answers.backward(tmp_path / "refused", 1)


def test_reading_is_no_write(spark: Any, sources: Path, tmp_path: Path) -> None:
    """Actions that only read mark nothing and answer as ever."""
    t = Frames(spark, TABLES, sources)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        d = t.emp.withColumn("r", sf.row_number().over(Window.partitionBy("k").orderBy("id")))
        assert (d.count(), len(d.collect()), d.columns[-1]) == (12, 12, "r")
        assert t.dept.limit(2).toPandas().shape == (2, 4)
        d.createOrReplaceTempView("numbered")
        assert spark.sql("SELECT max(r) FROM numbered").first()[0] == 4
    assert capture.untracked == ()
