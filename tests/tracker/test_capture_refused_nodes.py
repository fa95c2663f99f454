"""Nodes that docs/operators.md calls refused, as far as a script of Python can make them: node and line are told."""

from __future__ import annotations

from inspect import getsourcefile
from pathlib import Path
from typing import Any

import pytest
from _refused import Plan, line_of, refused
from oracle.cases import Frames, configured
from oracle.family_parts import family_parts
from oracle.tables import DEPT, EMP
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.linalg import Vectors
from pyspark.sql import Window
from pyspark.sql import functions as sf

from provspark.errors import UnsupportedPlanError
from provspark.tracker import attach
from provspark.tracker.families.registry import refusal

pytestmark = [pytest.mark.spark, pytest.mark.long]

TABLES = [EMP, DEPT]


def stream_in_memory(t: Frames) -> Any:
    return t.spark.table("streamed")  # refused


def by_map(t: Frames) -> Any:
    return t.emp.groupBy(sf.create_map(sf.lit("k"), "k").alias("m")).agg(sf.sum("v"))  # refused


def by_vector(t: Frames) -> Any:
    rows = VectorAssembler(inputCols=["w"], outputCol="f").transform(t.dept)
    ranks = rows.withColumn("r", sf.row_number().over(Window.partitionBy("f").orderBy("w")))  # refused
    return ranks.select("w", "r")


NODES: list[tuple[Plan, str, str]] = [
    *(case for family in family_parts("refusals") for case in family.REFUSED),
    (stream_in_memory, "MemoryPlan", ""),
    (by_map, "Aggregate", ""),
    (by_vector, "Window", ""),
]
"""A plan, its node, and the version of Spark that is the first to have it."""


@pytest.mark.parametrize(("plan", "node", "since"), NODES, ids=[p.__name__ for p, _, _ in NODES])
def test_nodes(
    plan: Plan, node: str, since: str, spark: Any, sources: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if spark.version < since:
        pytest.skip(f"Spark has it from {since} on")
    t = Frames(spark, TABLES, sources)
    if plan is stream_in_memory:
        streamed(t, tmp_path)
    reason = refused(plan, t, tmp_path, caplog)
    assert (reason.node, reason.why) == (node, refusal(node, reason.why))
    strict = attach(store=(tmp_path / "store").as_uri(), step="t", on_error="fail")
    with (
        pytest.raises(UnsupportedPlanError, match=rf"{node}.*{Path(str(getsourcefile(plan))).name}:{line_of(plan)}"),
        strict,
    ):
        plan(t).write.parquet(str(tmp_path / "no"))
    assert not (tmp_path / "no").exists()


def streamed(t: Frames, work: Path) -> None:
    """A stream's rows in a table of the session's memory."""
    t.dept.select("w").write.parquet(str(work / "in"))
    lines = t.spark.readStream.schema("w LONG").parquet(str(work / "in"))
    query = lines.writeStream.format("memory").queryName("streamed").trigger(availableNow=True).start()
    assert query.awaitTermination(120)


def test_told_at_the_line_of_the_write(spark: Any, sources: Path, tmp_path: Path) -> None:
    """A format whose files have no known rows, and what Spark says of itself. A write to nowhere is none."""
    frame = spark.createDataFrame([(1.0, Vectors.dense([2.0]))], ["label", "features"])
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.write.format("noop").mode("overwrite").save()
        frame.write.format("libsvm").save(str(tmp_path / "vectors"))
        spark.sql("SHOW DATABASES").write.parquet(str(tmp_path / "out"))
    assert [(u.node, __file__ in u.site) for u in capture.untracked] == [
        ("InsertIntoHadoopFsRelationCommand", True),
        ("CommandResult", True),
    ]


def test_changes_in_place_are_spark_s_own_errors(spark: Any, sources: Path, tmp_path: Path) -> None:
    """Spark's own tables take no UPDATE, DELETE, MERGE, LOAD DATA and no end of writeTo but create."""
    frame = Frames(spark, TABLES, sources).dept
    frame.createOrReplaceTempView("rows")
    ends = [
        lambda: spark.sql("UPDATE plain_table SET w = 1"),
        lambda: spark.sql("DELETE FROM plain_table WHERE w = 1"),
        lambda: spark.sql("MERGE INTO plain_table p USING rows r ON p.w = r.w WHEN MATCHED THEN DELETE"),
        lambda: spark.sql(f"LOAD DATA INPATH '{sources}' INTO TABLE plain_table"),
        lambda: frame.writeTo("plain_table").append(),
        lambda: frame.writeTo("plain_table").overwritePartitions(),
        lambda: frame.writeTo("plain_table").using("parquet").createOrReplace(),
    ]
    spark.sql(f"CREATE TABLE plain_table (w BIGINT) USING parquet LOCATION '{tmp_path / 'table'}'")
    try:
        for n, end in enumerate(ends):
            with pytest.raises(Exception) as plain:
                end()
            attached = attach(store=(tmp_path / "store").as_uri(), step=f"s{n}")
            with attached as capture, pytest.raises(Exception) as tracked:
                end()
            assert type(tracked.value) is type(plain.value)
            assert capture.manifest.writes == ()
    finally:
        spark.sql("DROP TABLE plain_table")


def test_logs_of_python_workers(spark: Any, sources: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    if spark.version < "4.1":
        pytest.skip("Spark has it from 4.1 on")

    def logs(t: Frames) -> Any:
        return t.spark.sql("SELECT level FROM python_worker_logs()")  # refused

    with configured(spark, {"spark.sql.pyspark.worker.logging.enabled": True}):
        assert refused(logs, Frames(spark, TABLES, sources), tmp_path, caplog).node == "PythonWorkerLogs"
