"""Scalar subqueries: what went into their values is context, and no data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Scans, check
from oracle.operators import (
    count,
    group,
    join,
    least,
    limit,
    mean,
    most,
    rename,
    scalar,
    select,
    sort,
    total,
    union,
    where,
)
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import both, either, eq, lt, plus

pytestmark = pytest.mark.spark


def emp(t: Scans) -> Relation:
    return rename(select(t.emp, "id", "k", "g", "v"), "id", "ek", "g", "v")


def highest(t: Scans) -> Any:
    hi = group(t.emp, [], hi=most("v"))
    return lambda _: hi


def in_filter(t: Scans) -> Relation:
    rows = emp(t)
    return select(where(scalar(rows, "s", highest(t)), lambda r: eq(r.v, r.s)), "id")


def correlated(t: Scans) -> Relation:
    rows = emp(t)
    dept = t.dept
    return select(scalar(rows, "m", lambda r: group(where(dept, lambda d: eq(d.k, r.ek)), [], m=most("w"))), "id", "m")


def nested(t: Scans) -> Relation:
    rows, dept, skew = emp(t), t.dept, t.skew
    low = group(where(skew, lambda r: eq(r.k, 3)), [], m=least("v"))
    wide = group(where(scalar(dept, "s", lambda _: low), lambda d: lt(d.s, d.w)), [], m=most("w"))
    return select(scalar(rows, "m", lambda _: wide), "id", "m")


CASES = [
    Case("in a filter", lambda t: t.sql("SELECT id FROM emp WHERE v = (SELECT max(v) FROM emp)"), in_filter),
    Case(
        "in a projection",
        lambda t: t.sql("SELECT id, v + (SELECT max(w) FROM dept) AS s FROM emp"),
        lambda t: (lambda e, m: select(scalar(e, "m", lambda _: m), "id", s=lambda r: plus(r.v, r.m)))(
            emp(t), group(t.dept, [], m=most("w"))
        ),
    ),
    Case(
        "of one row",
        lambda t: t.sql("SELECT id FROM emp WHERE k < (SELECT k FROM dept WHERE name = 'five')"),
        lambda t: (lambda e, d: select(where(scalar(e, "m", lambda _: d), lambda r: lt(r.ek, r.m)), "id"))(
            emp(t), select(where(t.dept, lambda r: eq(r.name, "five")), "k")
        ),
    ),
    Case(
        "of no row",
        lambda t: t.sql("SELECT id, (SELECT k FROM dept WHERE w > 100) AS m FROM emp"),
        lambda t: (lambda e, d: select(scalar(e, "m", lambda _: d), "id", "m"))(
            emp(t), select(where(t.dept, lambda r: r.w > 100), "k")
        ),
    ),
    Case(
        "an aggregate of no row",
        lambda t: t.sql("SELECT id, (SELECT count(*) FROM none) AS m FROM emp"),
        lambda t: (lambda e, d: select(scalar(e, "m", lambda _: d), "id", "m"))(emp(t), group(t.none, [], n=count())),
    ),
    Case(
        "in HAVING",
        lambda t: t.sql("SELECT g, sum(v) AS s FROM emp GROUP BY g HAVING sum(v) > (SELECT max(w) * 4 FROM dept)"),
        lambda t: (
            lambda e, d: select(
                where(scalar(group(e, ["g"], s=total("v")), "m", lambda _: d), lambda r: lt(r.m * 4, r.s)), "g", "s"
            )
        )(emp(t), group(t.dept, [], m=most("w"))),
    ),
    Case(
        "in an aggregate's function and beside it",
        lambda t: t.sql("SELECT sum(v + (SELECT max(w) FROM dept)) + (SELECT min(n) FROM skew) AS s FROM emp"),
        lambda t: (
            lambda e, d, s: select(
                scalar(
                    group(select(scalar(e, "m", lambda _: d), p=lambda r: plus(r.v, r.m)), [], s=total("p")),
                    "low",
                    lambda _: s,
                ),
                s=lambda r: r.s + r.low,
            )
        )(emp(t), group(t.dept, [], m=most("w")), group(t.skew, [], m=least("n"))),
    ),
    Case(
        "in a join's condition",
        lambda t: t.sql("SELECT id, w FROM emp e JOIN dept d ON e.k = d.k AND d.w > (SELECT min(k) FROM skew)"),
        lambda t: (
            lambda e, d, s: select(
                where(scalar(join(e, d, lambda a, b: eq(a.ek, b.k)), "s", lambda _: s), lambda r: r.w > r.s), "id", "w"
            )
        )(emp(t), t.dept, group(t.skew, [], m=least("k"))),
    ),
    Case(
        "nested",
        lambda t: t.sql(
            "SELECT id, (SELECT max(w) FROM dept WHERE w > (SELECT min(v) FROM skew WHERE k = 3)) AS m FROM emp"
        ),
        nested,
    ),
    Case(
        "within IN",
        lambda t: t.sql("SELECT id FROM emp WHERE k IN (SELECT k FROM dept WHERE w < (SELECT max(k) FROM skew))"),
        lambda t: (
            lambda e, d, s: select(
                join(e, where(scalar(d, "s", lambda _: s), lambda r: lt(r.w, r.s)), lambda a, b: eq(a.ek, b.k), "semi"),
                "id",
            )
        )(emp(t), t.dept, group(t.skew, [], m=most("k"))),
    ),
    Case(
        "the same twice",
        lambda t: t.sql(
            "SELECT id, (SELECT max(w) FROM dept) AS a, (SELECT max(w) FROM dept) AS b FROM emp WHERE id < 5"
        ),
        lambda t: (
            lambda e, d, f: select(
                scalar(scalar(where(e, lambda r: r.id < 5), "a", lambda _: d), "b", lambda _: f), "id", "a", "b"
            )
        )(emp(t), group(t.dept, [], m=most("w")), group(t.dept, [], m=most("w"))),
    ),
    Case(
        "filtered by",
        lambda t: t.sql("SELECT * FROM (SELECT id, v + (SELECT max(w) FROM dept) AS s FROM emp) WHERE s > 20"),
        lambda t: (
            lambda e, m: where(
                select(scalar(e, "m", lambda _: m), "id", s=lambda r: plus(r.v, r.m)), lambda r: lt(20, r.s)
            )
        )(emp(t), group(t.dept, [], m=most("w"))),
    ),
    Case(
        "in one branch of a union, then grouped",
        lambda t: t.sql(
            "SELECT k, count(*) AS n FROM (SELECT k FROM emp WHERE v > (SELECT min(v) FROM skew) "
            "UNION ALL SELECT k FROM dept) GROUP BY k"
        ),
        lambda t: (
            lambda e, s, d: group(
                union(
                    rename(select(where(scalar(e, "m", lambda _: s), lambda r: lt(r.m, r.v)), "ek"), "k"),
                    select(d, "k"),
                ),
                ["k"],
                n=count(),
            )
        )(emp(t), group(t.skew, [], m=least("v")), t.dept),
    ),
    Case(
        "correlated",
        lambda t: t.sql("SELECT id, (SELECT max(w) FROM dept d WHERE d.k = e.k) AS m FROM emp e"),
        correlated,
    ),
    Case(
        "correlated, counting",
        lambda t: t.sql("SELECT id, (SELECT count(*) FROM dept d WHERE d.k = e.k) AS m FROM emp e"),
        lambda t: (
            lambda e, d: select(
                scalar(e, "m", lambda r: group(where(d, lambda x: eq(x.k, r.ek)), [], n=count())), "id", "m"
            )
        )(emp(t), t.dept),
    ),
    Case(
        "correlated, counting, with HAVING",
        lambda t: t.sql("SELECT id, (SELECT count(*) FROM dept d WHERE d.k = e.k HAVING count(*) < 2) AS m FROM emp e"),
        lambda t: (
            lambda e, d: select(
                scalar(
                    e,
                    "m",
                    lambda r: where(group(where(d, lambda x: eq(x.k, r.ek)), [], n=count()), lambda x: x.n < 2),
                ),
                "id",
                "m",
            )
        )(emp(t), t.dept),
    ),
    Case(
        "correlated by more than equality",
        lambda t: t.sql("SELECT id, (SELECT sum(w) FROM dept d WHERE d.w < e.id) AS m FROM emp e"),
        lambda t: (
            lambda e, d: select(
                scalar(e, "m", lambda r: group(where(d, lambda x: lt(x.w, r.id)), [], n=total("w"))), "id", "m"
            )
        )(emp(t), t.dept),
    ),
    Case(
        "correlated, the first of some",
        lambda t: t.sql("SELECT id, (SELECT w FROM dept d WHERE d.k = e.k ORDER BY w LIMIT 1) AS m FROM emp e"),
        lambda t: (
            lambda e, d: select(
                scalar(e, "m", lambda r: limit(sort(select(where(d, lambda x: eq(x.k, r.ek)), "w"), "w"), 1)), "id", "m"
            )
        )(emp(t), t.dept),
    ),
    Case(
        "correlated, in a filter with more",
        lambda t: t.sql(
            "SELECT id, name FROM emp e JOIN dept d ON e.k = d.k "
            "WHERE e.id > 0 AND v > (SELECT avg(n) FROM skew s WHERE s.v = d.w) OR id = 6"
        ),
        lambda t: (
            lambda e, d, s: select(
                where(
                    scalar(
                        join(e, d, lambda a, b: eq(a.ek, b.k)),
                        "m",
                        lambda r: group(where(s, lambda x: eq(x.v, r.w)), [], m=mean("n")),
                    ),
                    lambda r: either(both(lt(0, r.id), lt(r.m, r[3])), eq(r.id, 6)),
                ),
                "id",
                "name",
            )
        )(emp(t), t.dept, t.skew),
    ),
    Case(
        "correlated, beside a left join of the user's",
        lambda t: t.sql(
            "SELECT id, d.w, (SELECT max(n) FROM skew s WHERE s.v = d.w) AS m FROM emp e LEFT JOIN dept d ON e.k = d.k"
        ),
        lambda t: (
            lambda e, d, s: select(
                scalar(
                    join(e, d, lambda a, b: eq(a.ek, b.k), "left"),
                    "m",
                    lambda r: group(where(s, lambda x: eq(x.v, r.w)), [], m=most("n")),
                ),
                "id",
                "w",
                "m",
            )
        )(emp(t), t.dept, t.skew),
    ),
    Case(
        "correlated within correlated",
        lambda t: t.sql(
            "SELECT id, (SELECT max(w) FROM dept d WHERE d.k = e.k "
            "AND d.w > (SELECT min(n) FROM skew s WHERE s.k = d.k)) AS m FROM emp e"
        ),
        lambda t: (
            lambda e, d, s: select(
                scalar(
                    e,
                    "m",
                    lambda r: group(
                        where(
                            scalar(
                                where(d, lambda x: eq(x.k, r.ek)),
                                "low",
                                lambda x: group(where(s, lambda y: eq(y.k, x.k)), [], m=least("n")),
                            ),
                            lambda x: lt(x.low, x.w),
                        ),
                        [],
                        m=most("w"),
                    ),
                ),
                "id",
                "m",
            )
        )(emp(t), t.dept, t.skew),
    ),
    Case(
        "sorted and cut",
        lambda t: t.sql("SELECT id, (SELECT max(w) FROM dept) AS m FROM emp ORDER BY id LIMIT 3"),
        lambda t: (lambda e, d: limit(sort(select(scalar(e, "m", lambda _: d), "id", "m"), "id"), 3))(
            emp(t), group(t.dept, [], m=most("w"))
        ),
        ordered=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_scalar_subquery(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
