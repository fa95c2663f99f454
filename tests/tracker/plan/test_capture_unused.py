"""What Spark never computes, for nothing uses it, leaves no edge; what anything uses does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Scans, check
from oracle.operators import count, distinct, group, most, rename, scalar, select, sort, union, where, window
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import both, eq, rank

pytestmark = pytest.mark.spark


def place(by: str) -> Any:
    """row_number() of a row by a unique column."""
    return lambda r, rows: 1 + sum(rank(getattr(x, by)) < rank(getattr(r, by)) for x in rows)


def sizes(r: Relation, by: str) -> Relation:
    return window(r, [by], n=lambda _, rows: len(rows))


def by_highest(t: Scans) -> Relation:
    rows, dept = rename(select(t.emp, "id", "k"), "id", "ek"), t.dept
    made = scalar(rows, "m", lambda r: group(where(dept, lambda d: eq(d.k, r.ek)), [], m=most("w")))
    return select(where(made, lambda r: eq(r.m, 4)), "id")


OVER = "count(*) OVER (PARTITION BY k)"
CASES = [
    Case(
        "window",
        lambda t: t.sql(f"SELECT id FROM (SELECT id, k, {OVER} AS n FROM emp) WHERE k > 1"),
        lambda t: select(where(t.emp, lambda r: None if r.k is None else r.k > 1), "id"),
    ),
    Case(
        "window dropped by drop(), below a sort and a join",
        lambda t: t.sql(f"SELECT *, {OVER} AS n FROM emp").drop("n").orderBy("id").select("id", "k"),
        lambda t: sort(select(t.emp, "id", "k"), "id"),
    ),
    Case(
        "window below an aggregate that counts",
        lambda t: t.sql(f"SELECT g, count(*) AS c FROM (SELECT g, {OVER} AS n FROM emp) GROUP BY g"),
        lambda t: group(t.emp, ["g"], c=count()),
    ),
    Case(
        "one of two windows",
        lambda t: t.sql(
            f"SELECT id, n FROM (SELECT id, {OVER} AS n, row_number() OVER (PARTITION BY g ORDER BY id) AS p FROM emp)"
        ),
        lambda t: select(sizes(t.emp, "k"), "id", "n"),
    ),
    Case(
        "window of a window that nobody uses",
        lambda t: t.sql(
            f"SELECT id FROM (SELECT id, max(n) OVER (PARTITION BY g) AS m FROM (SELECT id, g, {OVER} AS n FROM emp))"
        ),
        lambda t: select(t.emp, "id"),
    ),
    Case(
        "window in one branch of a union",
        lambda t: t.sql(f"SELECT i FROM (SELECT id AS i, {OVER} AS n FROM emp UNION ALL SELECT n, v FROM skew)"),
        lambda t: union(rename(select(t.emp, "id"), "i"), rename(select(t.skew, "n"), "i")),
    ),
    Case(
        "used by a filter",
        lambda t: t.sql(f"SELECT id FROM (SELECT id, {OVER} AS n FROM emp) WHERE n = 3"),
        lambda t: select(where(sizes(t.emp, "k"), lambda r: r.n == 3), "id"),
    ),
    Case(
        "used by an order alone",
        lambda t: t.sql(
            "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM emp) ORDER BY n LIMIT 4"
        ),
        lambda t: select(where(window(t.emp, [], n=place("id")), lambda r: r.id >= 8), "id"),
    ),
    Case(
        "used by DISTINCT",
        lambda t: t.sql(f"SELECT k FROM (SELECT DISTINCT k, {OVER} AS n FROM emp)"),
        lambda t: select(distinct(select(sizes(t.emp, "k"), "k", "n")), "k"),
    ),
    Case(
        "used by a union that removes duplicates",
        lambda t: t.sql(f"SELECT k FROM (SELECT k, {OVER} AS n FROM emp UNION SELECT k, w FROM dept WHERE k > 99)"),
        lambda t: select(
            distinct(union(select(sizes(t.emp, "k"), "k", "n"), where(select(t.dept, "k", "w"), lambda _: False))), "k"
        ),
    ),
    Case(
        "scalar subquery",
        lambda t: t.sql("SELECT id FROM (SELECT id, (SELECT max(w) FROM dept) AS m FROM emp)"),
        lambda t: select(t.emp, "id"),
    ),
    Case(
        "correlated scalar subquery",
        lambda t: t.sql("SELECT id FROM (SELECT id, (SELECT max(w) FROM dept WHERE dept.k = emp.k) AS m FROM emp)"),
        lambda t: select(t.emp, "id"),
    ),
    Case(
        "correlated scalar subquery, used by a filter",
        lambda t: t.sql(
            "SELECT id FROM (SELECT id, (SELECT max(w) FROM dept WHERE dept.k = emp.k) AS m FROM emp) WHERE m = 4"
        ),
        by_highest,
    ),
    Case(
        "EXISTS as a value",
        lambda t: t.sql("SELECT id FROM (SELECT id, EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k) AS e FROM emp)"),
        lambda t: select(t.emp, "id"),
    ),
    Case(
        "within a subquery that is used",
        lambda t: t.sql(
            "SELECT id FROM emp WHERE id < (SELECT count(*) FROM (SELECT w, "
            "(SELECT max(v) FROM skew) AS m, row_number() OVER (ORDER BY w) AS n FROM dept) WHERE w > 5)"
        ),
        lambda t: (
            lambda rows, dept: select(
                where(
                    scalar(rows, "c", lambda _: group(where(dept, lambda d: d.w > 5), [], c=count())),
                    lambda r: both(r.id < r.c, True),
                ),
                "id",
            )
        )(t.emp, t.dept),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_unused(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
