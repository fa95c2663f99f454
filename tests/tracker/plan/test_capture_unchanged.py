"""Capture does not change what a plan writes: plans that once came out otherwise, and the check of rewritten plans."""

from __future__ import annotations

import random
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
    from provspark.tracker.plan.rewrite import _MALFORMED, Rewriter

    traced = Rewriter.run

    def broken(self: Any, analysed: Any) -> Any:
        made = traced(self, analysed)
        plan = self.java.plan(made.number)
        bad = self.jvm.jvm.org.apache.spark.sql.catalyst.plans.logical.Project(bad_columns(self.jvm, plan), plan)
        return type(made)(self.java.put(bad, self.java.provenance(made.number)), made.provenance)

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
    from provspark.tracker.plan.rewrite import _MALFORMED, Rewriter

    traced = Rewriter.run

    def refused(self: Any, analysed: Any) -> Any:
        made = traced(self, analysed)
        plan, catalyst = self.java.plan(made.number), self.jvm.jvm.org.apache.spark.sql.catalyst
        nowhere = self.jvm.jvm.org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute.quoted("nowhere")
        condition = catalyst.expressions.IsNull(nowhere)
        bad = catalyst.plans.logical.Filter(condition, plan)
        return type(made)(self.java.put(bad, self.java.provenance(made.number)), made.provenance)

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
    assert "CollectMetrics: observe() is combined with an uncorrelated EXISTS" in str(untracked)
    assert within or observation.get == {"n": 24}


SHARED = {
    "joined": "WITH c AS (SELECT id, f() AS r FROM n24) SELECT a.id FROM c a JOIN c b ON a.id = b.id AND a.r = b.r",
    "in a union": "WITH c AS (SELECT id, f() AS r FROM n24) SELECT count(DISTINCT r) AS n FROM"
    " (SELECT r FROM c UNION ALL SELECT r FROM c)",
    "in a subquery": "WITH c AS (SELECT id, f() AS r FROM n24) SELECT id FROM c WHERE r IN (SELECT r FROM c)",
    "by another": "WITH c AS (SELECT id, f() AS r FROM n24), d AS (SELECT * FROM c)"
    " SELECT a.id FROM d a JOIN d b ON a.r = b.r",
    "within": "SELECT * FROM (WITH c AS (SELECT id, f() AS r FROM n24)"
    " SELECT a.id FROM c a JOIN c b ON a.id = b.id AND a.r = b.r) WHERE id >= 0",
}


@pytest.mark.parametrize("text", SHARED.values(), ids=SHARED)
def test_a_common_table_expression_that_spark_computes_once(
    text: str, spark: Any, sources: Path, tmp_path: Path
) -> None:
    """Its rows would not be the same for each reader if the traced plan computed them for each."""
    Frames(spark, [TWENTY_FOUR], sources).n24.createOrReplaceTempView("n24")
    spark.udf.register("f", sf.udf(lambda: random.random(), "double").asNondeterministic())
    rows = []
    for name in ("plain", "captured"):
        with attach(store=(tmp_path / name).as_uri(), step="s") as capture:
            frame = spark.sql(text)
            rows.append(sorted(frame.toPandas().itertuples(index=False)))
            if name == "captured":
                frame.write.parquet(str(tmp_path / "out"))
    assert sorted(outputs.read(tmp_path / "out").rows) == rows[0] == rows[1]
    (untracked,) = capture.untracked
    assert "WithCTE: a common table expression that is not deterministic" in str(untracked)


@pytest.mark.parametrize("reads", ["SELECT id, r FROM c", "SELECT a.id FROM c a JOIN c b ON a.id = b.id"])
def test_a_common_table_expression_read_once_or_deterministic(
    reads: str, spark: Any, sources: Path, tmp_path: Path
) -> None:
    Frames(spark, [TWENTY_FOUR], sources).n24.createOrReplaceTempView("n24")
    value = "rand()" if "JOIN" not in reads else "k"
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        spark.sql(f"WITH c AS (SELECT id, {value} AS r FROM n24) {reads}").write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    assert len(outputs.read(tmp_path / "out").rows) == 24


PLACED = {
    "a part": lambda d: d.repartition(3).randomSplit([0.5, 0.5], seed=2)[0],
    "numbers": lambda d: d.repartition(3).withColumn("n", sf.monotonically_increasing_id()),
    "partitions": lambda d: d.repartition(3).withColumn("n", sf.spark_partition_id()),
    "a random value": lambda d: d.repartition(3).withColumn("n", sf.rand(7)).where("id > 2"),
    "a random choice": lambda d: d.repartition(3).where(sf.rand(7) < 0.5),
    "a limit": lambda d: d.repartition(3).limit(5),
    "an offset": lambda d: d.repartition(3).sortWithinPartitions("k").offset(5),
    "by SQL": lambda d: d.sparkSession.sql("SELECT /*+ REPARTITION(3) */ id, k FROM {d} LIMIT 5", d=d),
    "rebalanced": lambda d: d.sparkSession.sql("SELECT rand(1) AS r FROM (SELECT /*+ REBALANCE */ * FROM {d})", d=d),
    "in a branch": lambda d: d.union(d.repartition(3)).limit(30),
    "in a subquery": lambda d: d.sparkSession.sql("SELECT id FROM {d} WHERE id IN (SELECT id FROM {e} LIMIT 5)", d=d,
                                                  e=d.repartition(3)),
}  # fmt: skip
UNPLACED = {
    "rows": lambda d: d.repartition(3),
    "by columns": lambda d: d.repartition(3, "k").withColumn("n", sf.spark_partition_id()),
    "grouped": lambda d: d.repartition(3).groupBy("k").count().limit(6),
    "sorted": lambda d: d.repartition(3).sort("id").limit(5),
    "below": lambda d: d.withColumn("n", sf.monotonically_increasing_id()).repartition(3),
    "one partition": lambda d: d.repartition(1).withColumn("n", sf.monotonically_increasing_id()),
    "one partition by SQL": lambda d: d.sparkSession.sql(
        "SELECT /*+ REPARTITION(1) */ id, k, rand(3) AS x FROM {d}", d=d
    ),
    "coalesced": lambda d: d.coalesce(1).withColumn("n", sf.monotonically_increasing_id()),
}


@pytest.mark.parametrize("case", [*PLACED, *UNPLACED])
def test_rows_are_where_plain_spark_deals_them(case: str, spark: Any, tmp_path: Path) -> None:
    """What capture would deal elsewhere it leaves alone, where something tells."""
    many = spark.range(0, 200, 1, 2).selectExpr("id", "id % 6 AS k", "CAST(id AS STRING) AS s")
    many.write.parquet(str(tmp_path / "in"))
    made = (PLACED | UNPLACED)[case]
    made(spark.read.parquet(str(tmp_path / "in"))).write.parquet(str(tmp_path / "plain"))
    spark.catalog.clearCache()
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        made(spark.read.parquet(str(tmp_path / "in"))).write.parquet(str(tmp_path / "captured"))
        spark.catalog.clearCache()
    plain, captured = (sorted(outputs.read(tmp_path / name).rows) for name in ("plain", "captured"))
    assert plain == captured
    assert [u.node for u in capture.untracked] == ["Repartition"] * (case in PLACED)


def test_parts_of_a_cached_frame_make_up_the_whole(spark: Any, tmp_path: Path) -> None:
    """Rows of a cache are dealt otherwise with capture, and alike for all who read it: writes and the driver."""
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        spark.range(0, 200, 1, 2).selectExpr("id", "id % 6 AS k").write.parquet(str(tmp_path / "in"))
        cached = spark.read.parquet(str(tmp_path / "in")).repartition(3).cache()
        one, other = cached.randomSplit([0.5, 0.5], seed=2)
        one.write.parquet(str(tmp_path / "one"))
        seen = [row.id for row in other.collect()]
    spark.catalog.clearCache()
    assert capture.untracked == ()
    assert sorted([*(row[0] for row in outputs.read(tmp_path / "one").rows), *seen]) == list(range(200))


NULLS = {
    "INTERSECT": "SELECT coalesce(id, 0) + k AS n FROM (SELECT * FROM n24 INTERSECT SELECT id, 1 FROM range(9))",
    "INTERSECT ALL": "SELECT coalesce(id, 0) + k AS n FROM (SELECT id, k FROM n24 INTERSECT ALL"
    " SELECT * FROM VALUES (1, 1), (7, 1), (8, 3) AS v(id, k))",
    "EXCEPT ALL": "SELECT coalesce(n, 0) + 1 AS n FROM (SELECT coalesce(id, 0) AS n FROM n24 EXCEPT ALL"
    " SELECT id FROM n12)",
    "a left join below a join": "SELECT g.z, c FROM (SELECT z, count(*) AS c FROM n12 LEFT JOIN VALUES (1, 7)"
    " AS b(y, z) ON id = y GROUP BY z) AS g JOIN VALUES (7) AS d(z) ON g.z = d.z",
    "a full join below a filter": "SELECT z, w FROM (SELECT DISTINCT z, w FROM VALUES (1, 7) AS a(x, w) FULL JOIN"
    " VALUES (1, 7) AS b(y, z) ON x = y) WHERE z > 2 AND w > 2",
    "an outer join below a window": "SELECT z, r FROM (SELECT z, rank() OVER (PARTITION BY z ORDER BY t) AS r"
    " FROM n12 LEFT JOIN VALUES (1, 7) AS b(y, z) ON id = y) WHERE z > 2",
    "a value below a filter": "SELECT m, c FROM (SELECT m, count(*) AS c FROM (SELECT id, (SELECT max(z) FROM"
    " VALUES (1, 7) AS b(y, z) WHERE y = id) AS m FROM n12) GROUP BY m) WHERE m > 2",
    "a lateral join below a filter": "SELECT m, c FROM (SELECT m, count(*) AS c FROM n12 LEFT JOIN LATERAL"
    " (SELECT z AS m FROM VALUES (1, 7) AS b(y, z) WHERE y = id) GROUP BY m) WHERE m > 2",
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
    trees = jvm._loader.loadClass("provspark.trees.Trees")
    named = next(m for m in trees.getMethods() if m.getName() == "named")
    args = jvm.array("java.lang.Object", [other, columns[0].name(), columns[0].exprId()])
    items = jvm.jlist([named.invoke(None, args), *columns[1:]])
    return java.scala.jdk.javaapi.CollectionConverters.asScala(items).toSeq()
