"""Ways to write a query that Spark turns into the usual nodes: pipes, SQL functions, subqueries of frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Frames, Scans, check
from oracle.operators import count, group, join, most, rename, scalar, select, where
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import eq
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import functions as sf

from provspark.tracker import attach

pytestmark = pytest.mark.spark


def top(t: Frames) -> Any:
    t.dept.createOrReplaceTempView("dept_q")
    body = "(SELECT max(w) FROM dept_q WHERE dept_q.k = kk)"
    t.spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION top(kk INT) RETURNS BIGINT RETURN {body}")
    return t.sql("SELECT id, top(k) AS m FROM emp")


def below(t: Frames) -> Any:
    t.dept.createOrReplaceTempView("dept_q")
    body = "SELECT k, w FROM dept_q WHERE w < n"
    t.spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION below(n BIGINT) RETURNS TABLE (k INT, w BIGINT) RETURN {body}")
    return t.sql("SELECT w FROM below(4) WHERE k IS NOT NULL")


def highest(t: Scans) -> Relation:
    rows, dept = rename(select(t.emp, "id", "k"), "id", "ek"), t.dept
    return scalar(rows, "m", lambda r: group(where(dept, lambda d: eq(d.k, r.ek)), [], m=most("w")))


def of_frames(t: Frames) -> Any:
    inner = t.dept.alias("d").where(sf.col("d.k") == sf.col("e.k").outer())
    return t.emp.alias("e").select("id", inner.select(sf.max("w")).scalar().alias("m"))


CASES = [
    Case(
        "pipes",
        lambda t: t.sql("FROM emp |> WHERE id > 2 |> AGGREGATE count(*) AS c GROUP BY k |> WHERE c > 1 |> SELECT c"),
        lambda t: select(where(group(where(t.emp, lambda r: r.id > 2), ["k"], c=count()), lambda r: r.c > 1), "c"),
    ),
    Case(
        "pipes with a join and a new column",
        lambda t: t.sql("FROM emp |> JOIN dept USING (k) |> EXTEND w + id AS s |> DROP w |> SELECT id, s"),
        lambda t: select(
            join(t.emp, rename(select(t.dept, "k", "w"), "l", "w"), lambda a, b: eq(a.k, b.l)),
            "id",
            s=lambda r: r.w + r.id,
        ),
    ),
    Case("SQL function", top, lambda t: select(highest(t), "id", "m")),
    Case(
        "SQL function that makes a table",
        below,
        lambda t: select(where(t.dept, lambda r: r.w < 4 and r.k is not None), "w"),
    ),
    Case("scalar subquery of frames", of_frames, lambda t: select(highest(t), "id", "m")),
    Case(
        "grouped by a correlated subquery",
        lambda t: t.sql("SELECT (SELECT max(w) FROM dept d WHERE d.k = e.k) AS m, count(*) AS c FROM emp e GROUP BY 1"),
        lambda t: select(group(highest(t), ["m"], c=count()), "m", "c"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_queries(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


def test_groups_of_vectors_are_refused(spark: Any, sources: Path, tmp_path: Path) -> None:
    """Spark tells vectors apart bit by bit: its hash of zeros with other signs is the same."""
    frame = VectorAssembler(inputCols=["w"], outputCol="f").transform(Frames(spark, TABLES, sources).dept)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.groupBy("f").count().write.parquet(str(tmp_path / "out"))
    assert [(u.node, "vector" in u.why) for u in capture.untracked] == [("Aggregate", True)]
