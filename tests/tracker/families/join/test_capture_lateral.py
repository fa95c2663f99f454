"""Lateral joins: the rows joined, whatever Spark makes of the correlation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Scans, check
from oracle.operators import count, explode, group, join, lateral, limit, most, rename, select, sort, where, window
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import eq, lt
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark


def counted(left: Relation, right: Relation, on: Any) -> Relation:
    """Each left row with how many right rows fit, owed to these."""
    return select(lateral(left, ["n"], lambda v: group(where(right, lambda x: on(v, x)), [], n=count())), "id", "n")


def largest(t: Scans, fits: Any, n: int, skip: int = 0, outer: bool = False) -> Relation:
    """Each employee with the departments of the largest w, of those that fit."""
    emp, dept = t.emp, select(t.dept, "k", "w")
    made = lateral(emp, ["l", "w"], lambda e: limit(sort(where(dept, lambda d: fits(e, d)), "-w"), n, skip), outer)
    return select(made, "id", "w")


CASES = [
    Case(
        "equality",
        lambda t: t.sql("SELECT e.id, d.w FROM emp e, LATERAL (SELECT * FROM dept d WHERE d.k = e.k) d"),
        lambda t: rename(
            select(join(t.emp, rename(t.dept, "l", "n", "y", "w"), lambda a, b: eq(a.k, b.l)), "id", "w"), "id", "w"
        ),
    ),
    Case(
        "inequality, outer",
        lambda t: t.sql("SELECT e.id, d.w FROM emp e LEFT JOIN LATERAL (SELECT * FROM dept d WHERE d.w < e.k) d"),
        lambda t: select(join(t.emp, rename(t.dept, "l", "n", "y", "w"), lambda a, b: lt(b.w, a.k), "left"), "id", "w"),
    ),
    Case(
        "count, none for some",
        lambda t: t.sql("SELECT e.id, d.n FROM emp e, LATERAL (SELECT count(*) n FROM dept d WHERE d.k = e.k) d"),
        lambda t: counted(t.emp, t.dept, lambda a, b: eq(a.k, b.k)),
    ),
    Case(
        "of the same source",
        lambda t: t.sql("SELECT e.id, d.n FROM emp e, LATERAL (SELECT count(*) n FROM emp) d"),
        lambda t: counted(t.emp, t.emp, lambda a, b: True),
    ),
    Case(
        "limit",
        lambda t: t.sql(
            "SELECT e.id, d.w FROM emp e, LATERAL (SELECT w FROM dept d WHERE d.k = e.k ORDER BY w DESC LIMIT 1) d"
        ),
        lambda t: largest(t, lambda e, d: eq(e.k, d.k), 1),
    ),
    Case(
        "limit and offset of an inequality, outer",
        lambda t: t.sql(
            "SELECT e.id, d.w FROM emp e LEFT JOIN LATERAL "
            "(SELECT w FROM dept d WHERE d.w < e.k ORDER BY w DESC LIMIT 2 OFFSET 1) d"
        ),
        lambda t: largest(t, lambda e, d: lt(d.w, e.k), 2, 1, outer=True),
    ),
    Case(
        "limit above a window of the user's",
        lambda t: t.sql(
            "SELECT e.id, d.s FROM emp e, LATERAL (SELECT w, sum(w) OVER (PARTITION BY name) AS s FROM dept d "
            "WHERE d.k = e.k ORDER BY w LIMIT 1) d"
        ),
        lambda t: (
            lambda e, d: select(
                lateral(
                    e,
                    ["k2", "name", "w", "s"],
                    lambda v: limit(
                        sort(
                            window(where(d, lambda x: eq(x.k, v.k)), ["name"], s=lambda _, y: sum(z.w for z in y)), "w"
                        ),
                        1,
                    ),
                ),
                "id",
                "s",
            )
        )(t.emp, select(t.dept, "k", "name", "w")),
    ),
    Case(
        "of the frame itself",
        lambda t: (lambda e: e.lateralJoin(e.agg(sf.max("v").alias("m"))).select("id", "m"))(t.emp),
        lambda t: (lambda e, m: select(lateral(e, ["m"], lambda _: m), "id", "m"))(
            t.emp, group(t.emp, [], m=most("v"))
        ),
    ),
    Case(
        "explode",
        lambda t: t.sql("SELECT b.id, c FROM bag b, LATERAL explode(b.words) AS x(c)"),
        lambda t: select(explode(t.bag, "words"), "id", "col"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lateral(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
