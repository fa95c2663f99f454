"""Subqueries that semi- and anti-join (IN, EXISTS, NOT EXISTS), and set operators that become joins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Scans, check
from oracle.operators import (
    group,
    intersect,
    join,
    most,
    rename,
    select,
    subtract,
    union,
    where,
)
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import both, eq, lt, within

pytestmark = pytest.mark.spark


def emp(t: Scans) -> Relation:
    return rename(select(t.emp, "id", "g", "k", "x"), "id", "g", "ek", "ex")


def dept(t: Scans) -> Relation:
    return rename(select(t.dept, "name", "w", "k", "x"), "name", "w", "dk", "dx")


CASES = [
    Case(
        "IN",
        lambda t: t.sql("SELECT id FROM emp WHERE k IN (SELECT k FROM dept)"),
        lambda t: select(join(emp(t), dept(t), lambda a, b: eq(a.ek, b.dk), "semi"), "id"),
    ),
    Case(
        "IN, two columns",
        lambda t: t.sql("SELECT id FROM emp WHERE (k, g) IN (SELECT k, name FROM dept)"),
        lambda t: select(join(emp(t), dept(t), lambda a, b: both(eq(a.ek, b.dk), eq(a.g, b.name)), "semi"), "id"),
    ),
    Case(
        "IN an aggregate",
        lambda t: t.sql("SELECT id, k FROM emp WHERE k IN (SELECT max(k) FROM dept GROUP BY name)"),
        lambda t: join(
            select(t.emp, "id", "k"),
            group(t.dept, ["name"], hi=most("k")),
            lambda a, b: eq(a.k, b.hi),
            "semi",
        ),
    ),
    Case(
        "IN a union",
        lambda t: t.sql(
            "SELECT id FROM emp WHERE k IN (SELECT k FROM dept WHERE w < 4 UNION ALL SELECT k FROM skew WHERE n < 30)"
        ),
        lambda t: select(
            join(
                emp(t),
                union(
                    select(where(t.dept, lambda r: r.w < 4), "k"),
                    select(where(t.skew, lambda r: r.n < 30), "k"),
                ),
                lambda a, b: eq(a.ek, b.k),
                "semi",
            ),
            "id",
        ),
    ),
    Case(
        "EXISTS",
        lambda t: t.sql("SELECT id FROM emp WHERE EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k AND w <> 4)"),
        lambda t: select(join(emp(t), where(dept(t), lambda r: r.w != 4), lambda a, b: eq(a.ek, b.dk), "semi"), "id"),
    ),
    Case(
        "NOT EXISTS",
        lambda t: t.sql("SELECT id FROM emp WHERE NOT EXISTS (SELECT * FROM dept WHERE dept.k = emp.k)"),
        lambda t: select(join(emp(t), dept(t), lambda a, b: eq(a.ek, b.dk), "anti"), "id"),
    ),
    Case(
        "IN of one and NOT EXISTS of another",
        lambda t: t.sql(
            "SELECT id FROM emp WHERE k IN (SELECT k FROM dept) AND NOT EXISTS (SELECT 1 FROM skew WHERE v = emp.k)"
        ),
        lambda t: select(
            join(
                join(emp(t), dept(t), lambda a, b: eq(a.ek, b.dk), "semi"),
                t.skew,
                lambda a, b: eq(a.ek, b.v),
                "anti",
            ),
            "id",
        ),
    ),
    Case(
        "EXISTS that isn't correlated",
        lambda t: t.sql("SELECT id FROM emp WHERE EXISTS (SELECT 1 FROM dept WHERE w > 5)"),
        lambda t: select(join(emp(t), where(dept(t), lambda r: r.w > 5), how="semi"), "id"),
        expect="exact or refused",
    ),
    Case(
        "EXISTS with a residue",
        lambda t: t.sql("SELECT id FROM emp WHERE EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k AND w < emp.id)"),
        lambda t: select(join(emp(t), dept(t), lambda a, b: both(eq(a.ek, b.dk), lt(b.w, a.id)), "semi"), "id"),
        expect="exact or refused",
    ),
    Case(
        "IN, or something else",
        lambda t: t.sql("SELECT id FROM emp WHERE k IN (SELECT k FROM dept) OR id = 2"),
        lambda t: (
            lambda e: select(
                union(join(e, dept(t), lambda a, b: eq(a.ek, b.dk), "semi"), where(e, lambda r: r.id == 2)),
                "id",
            )
        )(emp(t)),
        expect="exact or refused",
    ),
    Case(
        "NOT IN with nulls",
        lambda t: t.sql("SELECT id FROM emp WHERE k NOT IN (SELECT k FROM dept)"),
        lambda t: select(where(t.emp, lambda r: within(r.k, [1, None, 2, 5, 7]) is False), "id"),
        expect="exact or refused",
    ),
    Case(
        "NOT IN without nulls",
        lambda t: t.sql("SELECT id FROM emp WHERE k NOT IN (SELECT k FROM dept WHERE k > 1)"),
        lambda t: select(
            join(
                where(emp(t), lambda r: r.ek is not None),
                where(dept(t), lambda r: lt(1, r.dk)),
                lambda a, b: eq(a.ek, b.dk),
                "anti",
            ),
            "id",
        ),
        expect="exact or refused",
    ),
    Case(
        "INTERSECT",
        lambda t: t.sql("SELECT k, x FROM emp INTERSECT SELECT k, x FROM dept"),
        lambda t: intersect(select(t.emp, "k", "x"), select(t.dept, "k", "x")),
        expect="exact or refused",
    ),
    Case(
        "EXCEPT",
        lambda t: t.sql("SELECT k FROM emp EXCEPT SELECT k FROM dept"),
        lambda t: subtract(select(t.emp, "k"), select(t.dept, "k")),
        expect="exact or refused",
    ),
    Case(
        "EXCEPT of one source",
        lambda t: t.sql("SELECT k FROM emp EXCEPT SELECT k FROM emp WHERE v = 10"),
        lambda t: subtract(select(t.emp, "k"), select(where(t.emp, lambda r: eq(r.v, 10)), "k")),
        expect="exact or refused",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_subquery(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
