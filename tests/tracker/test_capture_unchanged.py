"""Capture does not change what a plan writes: plans that once came out otherwise, and the check of rewritten plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracle import outputs
from oracle.cases import Case, Frames, Scans, check
from oracle.operators import keep_first, select, subtract, where, window
from oracle.relation import Relation
from oracle.sources import parquet
from pyspark.sql import Observation, Window
from pyspark.sql import functions as sf

from provspark.tracker import attach

pytestmark = pytest.mark.spark

TWENTY_FOUR = parquet("n24", {"id": pa.int32(), "k": pa.int32()}, [(i, i % 6) for i in range(24)])
TWELVE = parquet("n12", {"id": pa.int32(), "t": pa.string()}, [(i, None if i % 3 == 0 else "x") for i in range(12)])


def ranked(t: Frames) -> Any:
    rank = sf.rank().over(Window.partitionBy("id").orderBy("id"))
    return t.n12.withColumn("x", rank).where("x <= 2")


def except_by_filter(t: Frames) -> Any:
    d = ranked(t)
    return d.subtract(d.where("t is null")).select("id", "t")


def kept_by_filter(t: Scans) -> Relation:
    d = select(window(t.n12, ["id"], x=lambda v, rows: 1), "id", "t")
    return subtract(d, where(d, lambda v: v.t is None))


CASES = [
    Case(
        "a filter on a kept value",
        lambda t: t.n24.dropDuplicates(["k"]).where("id > 5"),
        lambda t: where(keep_first(t.n24, ["k"]), lambda v: v.id > 5),
    ),
    Case(
        "a filter on a kept value that rows pass",
        lambda t: t.n24.dropDuplicates(["k"]).where("id > 2"),
        lambda t: where(keep_first(t.n24, ["k"]), lambda v: v.id > 2),
    ),
    Case(
        "kept rows of a frame joined with itself",
        lambda t: (lambda d: d.alias("a").join(d.alias("b"), sf.expr("a.k = b.id")).select("a.id", "b.k"))(
            t.n24.dropDuplicates(["k"])
        ),
        lambda t: Relation.of(
            ("id", "k"),
            [
                ((a.id, b.k), w | x)
                for left, right in [(keep_first(t.n24, ["k"]), keep_first(t.n24, ["k"]))]
                for a, w in left.rows
                for b, x in right.rows
                if a.k == b.id
            ],
        ),
    ),
    Case("EXCEPT of a part of a window's own rows", except_by_filter, kept_by_filter),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_unchanged(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, [TWENTY_FOUR, TWELVE], sources, tmp_path)


def test_an_unsound_rewrite_is_not_run(
    spark: Any, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rewritten plan that gives a column's id to another value is not run, but the plain one; the step says why."""
    from provspark.tracker.rewrite import _MALFORMED, Rewriter

    traced = Rewriter.run

    def broken(self: Any, analysed: Any) -> Any:
        made = traced(self, analysed)
        plan = self.java.plan(made.number)
        bad = self.jvm.jvm.org.apache.spark.sql.catalyst.plans.logical.Project(bad_columns(self.jvm, plan), plan)
        return type(made)(self.java.put(bad, self.java.legs(made.number)), made.legs)

    monkeypatch.setattr(Rewriter, "run", broken)
    frame = Frames(spark, [TWENTY_FOUR], sources).n24
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.write.parquet(str(tmp_path / "out"))
    assert sorted(outputs.read(tmp_path / "out").rows) == [(i, i % 6) for i in range(24)]
    (untracked,) = capture.untracked
    assert f"{_MALFORMED}: Project" in str(untracked) and "id of its input's column" in str(untracked)


def test_a_rewrite_that_spark_refuses_is_not_run(
    spark: Any, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark's analyser refuses the rewritten plan: that is known before the write starts, and the plain one runs."""
    from provspark.tracker.rewrite import _MALFORMED, Rewriter

    traced = Rewriter.run

    def refused(self: Any, analysed: Any) -> Any:
        made = traced(self, analysed)
        plan, catalyst = self.java.plan(made.number), self.jvm.jvm.org.apache.spark.sql.catalyst
        nowhere = self.jvm.jvm.org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute.quoted("nowhere")
        condition = catalyst.expressions.IsNull(nowhere)
        bad = catalyst.plans.logical.Filter(condition, plan)
        return type(made)(self.java.put(bad, self.java.legs(made.number)), made.legs)

    monkeypatch.setattr(Rewriter, "run", refused)
    frame = Frames(spark, [TWENTY_FOUR], sources).n24
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.write.parquet(str(tmp_path / "out"))
    assert sorted(outputs.read(tmp_path / "out").rows) == [(i, i % 6) for i in range(24)]
    (untracked,) = capture.untracked
    assert f"{_MALFORMED}: " in str(untracked) and "nowhere" in str(untracked)


@pytest.mark.parametrize("within", [False, True])
def test_observed_rows_that_a_join_would_leave_out(within: bool, spark: Any, sources: Path, tmp_path: Path) -> None:
    """Plain Spark asks such an EXISTS once, before it reads the rows; a join with no rows would observe none."""
    observation = Observation()
    frames = Frames(spark, [TWENTY_FOUR, TWELVE], sources)
    observed = frames.n24.observe(observation, sf.count("*").alias("n"))
    rows, asked = (frames.n12, observed) if within else (observed, frames.n12)
    text = "SELECT id FROM {rows} WHERE EXISTS (SELECT 1 FROM {asked} WHERE id > 50)"
    frame = spark.sql(text, rows=rows, asked=asked)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.write.parquet(str(tmp_path / "out"))
    assert not outputs.read(tmp_path / "out").rows
    (untracked,) = capture.untracked
    assert "CollectMetrics: observe() with an EXISTS that names no outer column" in str(untracked)
    assert within or observation.get == {"n": 24}


NULLS = {
    "INTERSECT": "SELECT coalesce(id, 0) + k AS n FROM (SELECT * FROM n24 INTERSECT SELECT id, 1 FROM range(9))",
    "INTERSECT ALL": "SELECT coalesce(id, 0) + k AS n FROM (SELECT id, k FROM n24 INTERSECT ALL"
    " SELECT * FROM VALUES (1, 1), (7, 1), (8, 3) AS v(id, k))",
    "EXCEPT ALL": "SELECT coalesce(n, 0) + 1 AS n FROM (SELECT coalesce(id, 0) AS n FROM n24 EXCEPT ALL"
    " SELECT id FROM n12)",
    "in a subquery": "SELECT id, (SELECT max(coalesce(n, 0) + 1) FROM (SELECT coalesce(id, 0) AS n FROM n24"
    " EXCEPT ALL SELECT id FROM n12)) AS m FROM n12",
}


@pytest.mark.parametrize("text", NULLS.values(), ids=NULLS)
def test_a_files_columns_may_be_null_where_plain_sparks_may(
    text: str, spark: Any, sources: Path, tmp_path: Path
) -> None:
    frames = Frames(spark, [TWENTY_FOUR, TWELVE], sources)
    frames.n24.createOrReplaceTempView("n24")
    frames.n12.createOrReplaceTempView("n12")
    spark.sql(text).write.parquet(str(tmp_path / "plain"))
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        spark.sql(text).write.parquet(str(tmp_path / "captured"))
    assert capture.untracked == ()
    folders = (tmp_path / "plain", tmp_path / "captured")
    plain, captured = ({str(pq.read_schema(file)) for file in folder.glob("*.parquet")} for folder in folders)
    assert plain == captured != set()


def bad_columns(jvm: Any, plan: Any) -> Any:
    """The plan's columns, the first of which has its name and id for another value."""
    java = jvm.jvm
    columns = list(java.scala.jdk.javaapi.CollectionConverters.asJava(plan.output()))
    expressions = java.org.apache.spark.sql.catalyst.expressions
    other = expressions.Add(columns[0], columns[0])
    trees = jvm._loader.loadClass("provspark.Trees")
    named = next(m for m in trees.getMethods() if m.getName() == "named")
    args = jvm.array("java.lang.Object", [other, columns[0].name(), columns[0].exprId()])
    items = jvm.jlist([named.invoke(None, args), *columns[1:]])
    return java.scala.jdk.javaapi.CollectionConverters.asScala(items).toSeq()
