"""Subqueries within other clauses: a join's condition, FILTER, an aggregate's or window's argument, CASE, HAVING."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, check
from oracle.operators import count, exists, group, join, most, scalar, select, total, where, window
from oracle.relation import Relation
from oracle.tables import BAG, DEPT, EMP
from oracle.values import both, eq

pytestmark = [pytest.mark.spark, pytest.mark.long]

TABLES = [EMP, DEPT, BAG]


def met(t: Any) -> Relation:
    """Rows of emp, each with those of dept whose w is an id of bag."""
    emp = select(t.emp, "id", "k")
    chosen = select(join(t.dept, t.bag, lambda a, b: eq(a.w, b.id), "semi"), "w", j=lambda r: r.k)
    return select(join(emp, chosen, lambda a, b: eq(a.k, b.j), "left"), "id", "w")


def top(t: Any) -> Relation:
    return group(t.dept, [], m=most("w"))


CASES = [
    Case(
        "EXISTS in an outer join's condition",
        lambda t: t.sql(
            "SELECT id, w FROM emp e LEFT JOIN dept d ON e.k = d.k AND EXISTS (SELECT 1 FROM bag b WHERE b.id = d.w)"
        ),
        met,
    ),
    Case(
        "IN in an outer join's condition",
        lambda t: t.sql("SELECT id, w FROM emp e LEFT JOIN dept d ON e.k = d.k AND d.w IN (SELECT id FROM bag)"),
        met,
    ),
    Case(
        "IN within FILTER",
        lambda t: t.sql("SELECT k, count(*) FILTER (WHERE id IN (SELECT w FROM dept)) AS c FROM emp GROUP BY k"),
        lambda t: group(
            exists(t.emp, "e", t.dept, lambda a, b: eq(a.id, b.w)), ["k"], c=lambda rows: sum(r.e for r in rows)
        ),
    ),
    Case(
        "an aggregate's argument",
        lambda t: t.sql("SELECT k, sum((SELECT max(w) FROM dept d WHERE d.k = e.k)) AS s FROM emp e GROUP BY k"),
        lambda t: (
            lambda emp, dept: group(
                scalar(emp, "m", lambda r: group(where(dept, lambda d: eq(d.k, r.k)), [], m=most("w"))),
                ["k"],
                s=total("m"),
            )
        )(t.emp, t.dept),
    ),
    Case(
        "a window's argument",
        lambda t: t.sql("SELECT id, sum((SELECT max(w) FROM dept)) OVER (PARTITION BY k) AS s FROM emp"),
        lambda t: (
            lambda emp, most_: select(
                window(scalar(emp, "m", lambda _: most_), ["k"], s=lambda _, rows: sum(r.m for r in rows)),
                "id",
                "s",
            )
        )(t.emp, top(t)),
    ),
    Case(
        "the groups' key",
        lambda t: t.sql("SELECT id IN (SELECT w FROM dept) AS i, count(*) AS c FROM emp GROUP BY 1"),
        lambda t: group(
            select(exists(t.emp, "e", t.dept, lambda a, b: eq(a.id, b.w)), i=lambda r: r.e), ["i"], c=count()
        ),
    ),
    Case(
        "EXISTS in HAVING",
        lambda t: t.sql(
            "SELECT k, count(*) AS c FROM emp GROUP BY k HAVING EXISTS (SELECT 1 FROM dept d WHERE d.k = emp.k)"
        ),
        lambda t: join(group(t.emp, ["k"], c=count()), t.dept, lambda a, b: eq(a.k, b.k), "semi"),
    ),
    Case(
        "within CASE",
        lambda t: t.sql(
            "SELECT id, CASE WHEN id IN (SELECT w FROM dept) THEN (SELECT count(*) FROM bag) ELSE 0L END AS c FROM emp"
        ),
        lambda t: select(
            (lambda r, n: scalar(r, "n", lambda _: n))(
                exists(t.emp, "e", t.dept, lambda a, b: eq(a.id, b.w)), group(t.bag, [], n=count())
            ),
            "id",
            c=lambda r: r.n if r.e else 0,
        ),
    ),
    Case(
        "NOT IN of pairs",
        lambda t: t.sql("SELECT id FROM emp WHERE (id, v) NOT IN (SELECT w, k FROM dept)"),
        lambda t: select(
            join(t.emp, t.dept, lambda a, b: both(eq(a.id, b.w), eq(a.v, b.k)) is not False, "anti"), "id"
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_within(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
