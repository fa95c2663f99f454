"""Subqueries that semi- and anti-join (IN, EXISTS, NOT EXISTS), and set operators that become joins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Frames, Scans, check
from oracle.operators import (
    count,
    exists,
    group,
    intersect,
    intersect_all,
    join,
    meets,
    most,
    rename,
    select,
    subtract,
    subtract_all,
    total,
    union,
    where,
)
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import both, either, eq, lt, within

from provspark.tracker import attach

pytestmark = pytest.mark.spark


def emp(t: Scans) -> Relation:
    return rename(select(t.emp, "id", "g", "k", "x"), "id", "g", "ek", "ex")


def dept(t: Scans) -> Relation:
    return rename(select(t.dept, "name", "w", "k", "x"), "name", "w", "dk", "dx")


def several(departments: Relation, r: Any) -> Relation:
    """A row if more than one department has less."""
    return where(group(where(departments, lambda x: lt(x.w, r.ek)), [], n=count()), lambda x: x.n > 1)


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
    ),
    Case(
        "EXISTS with a residue",
        lambda t: t.sql("SELECT id FROM emp WHERE EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k AND w < emp.id)"),
        lambda t: select(join(emp(t), dept(t), lambda a, b: both(eq(a.ek, b.dk), lt(b.w, a.id)), "semi"), "id"),
    ),
    Case(
        "EXISTS by inequality alone",
        lambda t: t.sql("SELECT id FROM emp WHERE EXISTS (SELECT 1 FROM dept WHERE w < emp.id)"),
        lambda t: select(join(emp(t), dept(t), lambda a, b: lt(b.w, a.id), "semi"), "id"),
    ),
    Case(
        "EXISTS with a residue, of rows that repeat",
        lambda t: t.sql(
            "SELECT v, n FROM (SELECT v FROM emp UNION ALL SELECT v FROM emp) e JOIN (SELECT 1 AS n) WHERE EXISTS "
            "(SELECT 1 FROM skew WHERE skew.n % 20 = e.v AND skew.n > e.v)"
        ),
        lambda t: (
            lambda a, b, s: select(
                join(union(a, b), s, lambda x, y: both(eq(x.v, y.n % 20), lt(x.v, y.n)), "semi"),
                "v",
                n=lambda _: 1,
            )
        )(select(t.emp, "v"), select(t.emp, "v"), t.skew),
    ),
    Case(
        "EXISTS with a residue over sorted joins",
        lambda t: t.sql(
            "SELECT id, sum(w) AS s FROM emp e JOIN dept d ON e.k = d.k WHERE EXISTS "
            "(SELECT 1 FROM skew WHERE skew.v = d.w AND skew.n > e.id) GROUP BY id"
        ),
        lambda t: (
            lambda e, d, s: group(
                join(
                    join(e, d, lambda a, b: eq(a.ek, b.dk)), s, lambda a, b: both(eq(b.v, a.w), lt(a.id, b.n)), "semi"
                ),
                ["id"],
                s=total("w"),
            )
        )(emp(t), dept(t), t.skew),
        conf={"spark.sql.autoBroadcastJoinThreshold": -1},
    ),
    Case(
        "EXISTS within EXISTS",
        lambda t: t.sql(
            "SELECT id FROM emp WHERE EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k "
            "AND EXISTS (SELECT 1 FROM skew WHERE skew.v = dept.w))"
        ),
        lambda t: select(
            join(
                emp(t),
                join(dept(t), t.skew, lambda a, b: eq(b.v, a.w), "semi"),
                lambda a, b: eq(a.ek, b.dk),
                "semi",
            ),
            "id",
        ),
    ),
    Case(
        "NOT EXISTS within IN",
        lambda t: t.sql(
            "SELECT id FROM emp WHERE k IN (SELECT k FROM dept WHERE NOT EXISTS (SELECT 1 FROM skew WHERE v = dept.w))"
        ),
        lambda t: select(
            join(
                emp(t),
                join(dept(t), t.skew, lambda a, b: eq(b.v, a.w), "anti"),
                lambda a, b: eq(a.ek, b.dk),
                "semi",
            ),
            "id",
        ),
    ),
    Case(
        "IN, or something else",
        lambda t: t.sql("SELECT id FROM emp WHERE k IN (SELECT k FROM dept) OR id = 2"),
        lambda t: select(
            where(exists(emp(t), "e", dept(t), lambda a, b: eq(a.ek, b.dk)), lambda r: either(r.e, eq(r.id, 2))), "id"
        ),
    ),
    Case(
        "EXISTS with a residue, or something else",
        lambda t: t.sql(
            "SELECT id FROM emp WHERE EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k AND w < emp.id) OR id < 3"
        ),
        lambda t: select(
            where(
                exists(emp(t), "e", dept(t), lambda a, b: both(eq(a.ek, b.dk), lt(b.w, a.id))),
                lambda r: either(r.e, lt(r.id, 3)),
            ),
            "id",
        ),
    ),
    Case(
        "EXISTS in a projection",
        lambda t: t.sql("SELECT id, EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k AND w < emp.id) AS e FROM emp"),
        lambda t: select(exists(emp(t), "e", dept(t), lambda a, b: both(eq(a.ek, b.dk), lt(b.w, a.id))), "id", "e"),
    ),
    Case(
        "EXISTS in a projection, uncorrelated",
        lambda t: t.sql("SELECT id, EXISTS (SELECT 1 FROM dept WHERE w > 5) AS e FROM emp"),
        lambda t: select(exists(emp(t), "e", dept(t), lambda a, b: b.w > 5), "id", "e"),
    ),
    Case(
        "EXISTS of nothing, uncorrelated",
        lambda t: t.sql("SELECT id FROM emp WHERE EXISTS (SELECT 1 FROM none)"),
        lambda t: select(join(emp(t), t.none, how="semi"), "id"),
    ),
    Case(
        "NOT EXISTS or something else",
        lambda t: t.sql("SELECT id FROM emp WHERE NOT EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k) OR id < 3"),
        lambda t: (
            lambda e, d: select(
                where(e, lambda r: either(not any(eq(r.ek, x.dk) for x, _ in d.rows), lt(r.id, 3))), "id"
            )
        )(emp(t), dept(t)),
    ),
    Case(
        "NOT IN with nulls",
        lambda t: t.sql("SELECT id FROM emp WHERE k NOT IN (SELECT k FROM dept)"),
        lambda t: select(where(t.emp, lambda r: within(r.k, [1, None, 2, 5, 7]) is False), "id"),
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
    ),
    Case(
        "EXISTS, counting by an inequality",
        lambda t: t.sql(
            "SELECT id FROM emp e WHERE EXISTS (SELECT count(*) FROM dept d WHERE d.w < e.k HAVING count(*) > 1)"
        ),
        lambda t: (lambda e, d: select(meets(e, lambda r: several(d, r)), "id"))(emp(t), dept(t)),
    ),
    Case(
        "NOT EXISTS, counting by an inequality",
        lambda t: t.sql(
            "SELECT id FROM emp e WHERE NOT EXISTS (SELECT count(*) FROM dept d WHERE d.w < e.k HAVING count(*) > 1)"
        ),
        lambda t: (lambda e, d: select(meets(e, lambda r: several(d, r), keep=False), "id"))(emp(t), dept(t)),
    ),
    Case(
        "IN a count by an inequality",
        lambda t: t.sql("SELECT id FROM emp e WHERE k + 0L IN (SELECT count(*) FROM dept d WHERE d.w < e.id)"),
        lambda t: (
            lambda e, d: select(
                meets(
                    e,
                    lambda r: where(group(where(d, lambda x: lt(x.w, r.id)), [], n=count()), lambda x: eq(x.n, r.ek)),
                ),
                "id",
            )
        )(emp(t), dept(t)),
    ),
    Case(
        "INTERSECT",
        lambda t: t.sql("SELECT k, x FROM emp INTERSECT SELECT k, x FROM dept"),
        lambda t: intersect(select(t.emp, "k", "x"), select(t.dept, "k", "x")),
    ),
    Case(
        "EXCEPT",
        lambda t: t.sql("SELECT k FROM emp EXCEPT SELECT k FROM dept"),
        lambda t: subtract(select(t.emp, "k"), select(t.dept, "k")),
    ),
    Case(
        "INTERSECT ALL",
        lambda t: t.sql("SELECT k, x FROM emp INTERSECT ALL SELECT k, x FROM dept"),
        lambda t: intersect_all(select(t.emp, "k", "x"), select(t.dept, "k", "x")),
    ),
    Case(
        "INTERSECT ALL, with repeats",
        lambda t: t.sql("SELECT k FROM emp INTERSECT ALL SELECT k FROM skew"),
        lambda t: intersect_all(select(t.emp, "k"), select(t.skew, "k")),
    ),
    Case(
        "EXCEPT ALL",
        lambda t: t.sql("SELECT k, x FROM emp EXCEPT ALL SELECT k, x FROM dept"),
        lambda t: subtract_all(select(t.emp, "k", "x"), select(t.dept, "k", "x")),
    ),
    Case(
        "EXCEPT ALL, with repeats, twice",
        lambda t: t.sql("SELECT k FROM emp EXCEPT ALL (SELECT k FROM dept EXCEPT ALL SELECT k FROM skew)"),
        lambda t: subtract_all(select(t.emp, "k"), subtract_all(select(t.dept, "k"), select(t.skew, "k"))),
    ),
    Case(
        "EXCEPT of one source",
        lambda t: t.sql("SELECT k FROM emp EXCEPT SELECT k FROM emp WHERE v = 10"),
        lambda t: subtract(select(t.emp, "k"), select(where(t.emp, lambda r: eq(r.v, 10)), "k")),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_subquery(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


def test_inputs_that_leave_no_edge(spark: Any, sources: Path, tmp_path: Path) -> None:
    """They are read, so they are inputs, and are numbered in the order of the plan."""
    t = Frames(spark, TABLES, sources)
    text = (
        "SELECT k FROM emp WHERE NOT EXISTS (SELECT 1 FROM dept WHERE dept.k = emp.k) "
        "AND k IN (SELECT k FROM skew) EXCEPT SELECT k FROM none"
    )
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.sql(text).write.parquet(str(tmp_path / "out"))
    assert capture.untracked == () and capture.manifest is not None
    (write,) = capture.manifest.writes
    names = {v.id: Path(v.dataset.name).name for v in write.inputs}
    read = [(a.occurrence, names[a.version]) for a in write.axes if a.role == "input"]
    assert read == [(0, "emp"), (1, "dept"), (2, "skew"), (3, "none")]
    reached = {write.axes[tensor.src].occurrence for tensor in write.tensors}
    assert reached == {-1, 0, 2}
