"""Capture does not change what a plan writes: plans that once came out otherwise, and the check of rewritten plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from oracle import outputs
from oracle.cases import Case, Frames, Scans, check
from oracle.operators import keep_first, select, subtract, where, window
from oracle.relation import Relation
from oracle.sources import parquet
from pyspark.sql import Window
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
