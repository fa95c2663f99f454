"""What a plan reads twice: occurrences of their own in lineage, computed as often as plain Spark computes it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Frames, Scans, check, configured
from oracle.operators import count, group, join, most, rename, scalar, select, subtract, total, union, where, window
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import eq, lt, plus

from provspark.tracker.plan.rewrite import Rewriter
from provspark.tracker.spark.jvm import Jvm

pytestmark = pytest.mark.spark


def sums(t: Scans) -> Relation:
    return group(t.skew, ["k"], s=total("n"))


def sums_frame(t: Frames) -> Any:
    return t.skew.groupBy("k").agg({"n": "sum"}).withColumnRenamed("sum(n)", "s")


SUMS = "WITH c AS (SELECT k, sum(n) AS s FROM skew GROUP BY k) "
CHAIN = (
    "WITH c AS (SELECT e.k, d.w, count(*) AS n "
    "FROM emp e, dept d, emp f, (SELECT k, count(*) % 8 AS m FROM skew GROUP BY k) g "
    "WHERE e.id = f.id AND e.k = g.k AND d.w = g.m GROUP BY e.k, d.w) "
    "SELECT a.k, a.n, b.n AS m FROM c a JOIN c b ON a.k + 6 = b.k WHERE a.w = 1 AND b.w = 7"
)
"""`dept` shares no key with what stands before it: Spark puts it last in both, each time below a filter of its own."""

CASES = [
    Case(
        "a CTE joined to itself",
        lambda t: t.sql(SUMS + "SELECT a.k, b.s FROM c a JOIN c b ON a.k = b.k + 1"),
        lambda t: (lambda a, b: select(join(a, b, lambda x, y: eq(x.k, plus(y.k2, 1))), "k", "s2"))(
            sums(t), rename(sums(t), "k2", "s2")
        ),
    ),
    Case(
        "a CTE and its highest value",
        lambda t: t.sql(SUMS + "SELECT k, s FROM c WHERE s = (SELECT max(s) FROM c)"),
        lambda t: (
            lambda a, b: select(
                where(scalar(a, "m", lambda _: group(b, [], m=most("s"))), lambda r: eq(r.s, r.m)), "k", "s"
            )
        )(sums(t), sums(t)),
    ),
    Case(
        "a CTE united with itself, grouped again",
        lambda t: t.sql(SUMS + "SELECT k, count(*) AS n FROM (SELECT * FROM c UNION ALL SELECT * FROM c) GROUP BY k"),
        lambda t: group(union(sums(t), sums(t)), ["k"], n=count()),
    ),
    Case(
        "a frame joined to itself",
        lambda t: (lambda d: d.alias("a").join(d.alias("b"), "k").selectExpr("k", "a.s", "b.s + 1 AS u"))(
            sums_frame(t)
        ),
        lambda t: (lambda a, b: select(join(a, b, lambda x, y: eq(x.k, y.k2)), "k", "s", u=lambda r: r.s2 + 1))(
            sums(t), rename(sums(t), "k2", "s2")
        ),
    ),
    Case(
        "equal frames made apart",
        lambda t: (lambda a, b: a.join(b.withColumnRenamed("s", "u"), "k").select("k", "s", "u"))(
            sums_frame(t), sums_frame(t)
        ),
        lambda t: (lambda a, b: select(join(a, b, lambda x, y: eq(x.k, y.k2)), "k", "s", "s2"))(
            sums(t), rename(sums(t), "k2", "s2")
        ),
    ),
    Case(
        "a window used twice",
        lambda t: t.sql(
            "WITH c AS (SELECT id, k, count(*) OVER (PARTITION BY k) AS n FROM emp) "
            "SELECT a.id, a.n AS m, b.n FROM c a JOIN c b ON a.id = b.id + 1"
        ),
        lambda t: (lambda a, b: select(join(a, b, lambda x, y: eq(x.id, y.i2 + 1)), "id", "n", "n2"))(
            select(window(t.emp, ["k"], n=lambda r, rows: len(rows)), "id", "n"),
            rename(select(window(t.emp, ["k"], n=lambda r, rows: len(rows)), "id", "n"), "i2", "n2"),
        ),
    ),
    Case(
        "EXISTS used twice",
        lambda t: t.sql(
            "WITH c AS (SELECT id FROM emp WHERE EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k AND dept.w < emp.id)) "
            "SELECT a.id FROM c a JOIN c b ON a.id = b.id"
        ),
        lambda t: (lambda a, b: select(join(a, b, lambda x, y: eq(x.id, y.i2)), "id"))(met(t), rename(met(t), "i2")),
    ),
    Case(
        "one of two uses leaves no edge",
        lambda t: t.sql(SUMS + "SELECT k FROM c EXCEPT SELECT k FROM c WHERE s > 100"),
        lambda t: subtract(select(sums(t), "k"), select(where(sums(t), lambda r: lt(100, r.s)), "k")),
    ),
    Case(
        "a CTE of joins, filtered each time",
        lambda t: t.sql(CHAIN),
        lambda t: (lambda a, b: select(join(a, b, lambda x, y: eq(x.k + 6, y.k2)), "k", "n", "n2"))(
            chain(t, 1), rename(chain(t, 7), "k2", "w2", "n2")
        ),
    ),
]


def chain(t: Scans, w: int) -> Relation:
    dept = select(where(t.dept, lambda r: eq(r.w, w)), "w")
    pairs = join(join(select(t.emp, "id", "k"), dept), rename(select(t.emp, "id"), "i2"), lambda a, b: a.id == b.i2)
    counts = rename(group(t.skew, ["k"], m=lambda rows: len(rows) % 8), "gk", "m")
    return group(join(pairs, counts, lambda a, b: eq(a.k, b.gk) and eq(a.w, b.m)), ["k", "w"], n=count())


def met(t: Scans) -> Relation:
    emp = rename(select(t.emp, "id", "k"), "id", "ek")
    return select(join(emp, t.dept, lambda a, b: eq(a.ek, b.k) and lt(b.w, a.id), "semi"), "id")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_reuse(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


def tracked(spark: Any, frame: Any, folder: Path) -> Any:
    """The frame's plan with its taps, as a Java Dataset."""
    rewriter = Rewriter(Jvm(spark), folder.as_uri())
    traced = rewriter.run(frame.queryExecution().analyzed())
    return spark._jvm.org.apache.spark.sql.classic.Dataset.ofRows(
        spark._jsparkSession, rewriter.java.plan(traced.number)
    )


def shared(frame: Any) -> tuple[int, int]:
    """How many exchanges a Java Dataset's plan takes from elsewhere in it, and how many subqueries it runs."""
    plan = frame.queryExecution().executedPlan()
    plan.executeCollect()
    text = str(plan.toString()).split("== Initial Plan ==")[0]
    run = set(
        re.findall(r"(?<!Reused)Subquery (?:scalar-)?subquery#(\d+)", text.replace("ReusedSubquery Subquery", ""))
    )
    return len(re.findall(r"ReusedExchange", text)), len(run)


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        SUMS + "SELECT a.s, b.s AS u FROM c a JOIN c b ON a.k = b.k",
        SUMS + "SELECT k, s FROM c WHERE s < (SELECT max(s) FROM c) AND k < (SELECT max(s) FROM c)",
    ],
)
def test_exchanges_stay_reused(adaptive: bool, text: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    t = Frames(spark, TABLES, sources)
    with configured(spark, {"spark.sql.adaptive.enabled": adaptive, "spark.sql.autoBroadcastJoinThreshold": -1}):
        plain = t.sql(text)._jdf
        assert shared(tracked(spark, plain, tmp_path / "taps")) == shared(plain) != (0, 0)


def test_joins_are_ordered_each_time(spark: Any, sources: Path, tmp_path: Path) -> None:
    """A product of tables that share no key would stand in the plan otherwise."""
    t = Frames(spark, TABLES, sources)
    with configured(spark, {"spark.sql.autoBroadcastJoinThreshold": -1}):
        plain = t.sql(CHAIN)._jdf
        frames = plain, tracked(spark, plain, tmp_path / "taps")
        joins = [re.findall(r"\w+Join\b|CartesianProduct", str(f.queryExecution().executedPlan())) for f in frames]
    assert joins == [["SortMergeJoin"] * 7] * 2
