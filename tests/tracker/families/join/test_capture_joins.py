"""Joins of every kind, on repeated, null, NaN and zero keys, with empty sides, by every strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, check
from oracle.operators import (
    How,
    distinct,
    group,
    join,
    limit,
    rename,
    select,
    sort,
    total,
    using,
    where,
)
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import both, either, eq, lt, same
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark

NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": -1}
SPARK_HOW: dict[How, str] = {
    "inner": "inner",
    "left": "left_outer",
    "right": "right_outer",
    "full": "full_outer",
    "semi": "left_semi",
    "anti": "left_anti",
}


def emp(t: Any) -> Any:
    return t.emp.selectExpr("id", "g", "k AS ek", "x AS ex")


def dept(t: Any, table: str = "dept") -> Any:
    return getattr(t, table).selectExpr("name", "w", "k AS dk", "x AS dx")


def emp_(t: Any) -> Relation:
    return rename(select(t.emp, "id", "g", "k", "x"), "id", "g", "ek", "ex")


def dept_(t: Any, table: str = "dept") -> Relation:
    return rename(select(getattr(t, table), "name", "w", "k", "x"), "name", "w", "dk", "dx")


def of(how: How, name: str, condition: Any, meaning: Any, **more: Any) -> Case:
    """Employees joined with departments."""
    return Case(
        f"{how}, {name}",
        lambda t: emp(t).join(dept(t), condition(), SPARK_HOW[how]),
        lambda t: join(emp_(t), dept_(t), meaning, how),
        **more,
    )


CONDITIONS = [
    ("one key", lambda: sf.expr("ek = dk"), lambda a, b: eq(a.ek, b.dk)),
    ("null-safe key", lambda: sf.expr("ek <=> dk"), lambda a, b: same(a.ek, b.dk)),
    ("real key", lambda: sf.expr("ex = dx"), lambda a, b: eq(a.ex, b.dx)),
    ("two keys", lambda: sf.expr("ek = dk AND g = name"), lambda a, b: both(eq(a.ek, b.dk), eq(a.g, b.name))),
]
EVERY = [of(how, name, on, meaning) for how in SPARK_HOW for name, on, meaning in CONDITIONS]

MORE_CONDITIONS = [
    of(
        how,
        name,
        on,
        meaning,
        expect="exact" if how in ("inner", "left", "right", "full") else "exact or refused",
    )
    for name, on, meaning, hows in [
        (
            "less than",
            lambda: sf.expr("ek < dk"),
            lambda a, b: lt(a.ek, b.dk),
            ("inner", "left", "full", "semi"),
        ),
        (
            "key and residue",
            lambda: sf.expr("ek = dk AND id > w + 3"),
            lambda a, b: both(eq(a.ek, b.dk), lt(b.w + 3, a.id)),
            ("inner", "left", "right", "full", "semi", "anti"),
        ),
        (
            "either of two keys",
            lambda: sf.expr("ek = dk OR g = name"),
            lambda a, b: either(eq(a.ek, b.dk), eq(a.g, b.name)),
            ("inner", "full", "anti"),
        ),
        (
            "expressions of keys",
            lambda: sf.expr("ek + 1 = dk * 2"),
            lambda a, b: None if None in (a.ek, b.dk) else a.ek + 1 == b.dk * 2,
            ("inner", "left"),
        ),
        (
            "a condition of one side",
            lambda: sf.expr("ek = dk AND w > 1"),
            lambda a, b: both(eq(a.ek, b.dk), b.w > 1),
            ("left", "full"),
        ),
    ]
    for how in hows
]

EMPTY = [
    Case(
        f"{how}, {side} side empty",
        lambda t, how=how, side=side: (lambda a, b: a.join(b, sf.expr("ek = dk"), SPARK_HOW[how]))(
            emp(t).filter("id < 0") if side == "left" else emp(t),
            dept(t, "none") if side == "right" else dept(t),
        ),
        lambda t, how=how, side=side: join(
            where(emp_(t), lambda r: r.id < 0) if side == "left" else emp_(t),
            dept_(t, "none") if side == "right" else dept_(t),
            lambda a, b: eq(a.ek, b.dk),
            how,
        ),
        conf=NO_BROADCAST if how in ("full", "anti") else {},
    )
    for how, side in [
        ("inner", "right"),
        ("left", "right"),
        ("full", "left"),
        ("full", "right"),
        ("semi", "right"),
        ("anti", "right"),
        ("right", "left"),
    ]
]

STRATEGIES = [
    Case(
        f"{how}, by {hint}",
        lambda t, how=how, hint=hint: t.skew.join(
            t.dept.select("k", "w").hint(hint).withColumnRenamed("k", "dk"), sf.expr("k = dk"), SPARK_HOW[how]
        ),
        lambda t, how=how: join(t.skew, rename(select(t.dept, "k", "w"), "dk", "w"), lambda a, b: eq(a.k, b.dk), how),
        conf=conf,
    )
    for how, hint, conf in [
        ("inner", "broadcast", {}),
        ("left", "merge", NO_BROADCAST),
        ("full", "merge", {**NO_BROADCAST, "spark.sql.adaptive.enabled": False}),
        ("inner", "shuffle_hash", NO_BROADCAST),
        ("full", "shuffle_hash", NO_BROADCAST),
        ("semi", "merge", NO_BROADCAST),
        ("anti", "shuffle_hash", NO_BROADCAST),
        ("inner", "shuffle_replicate_nl", NO_BROADCAST),
    ]
]

SHAPES = [
    Case(
        "inner USING",
        lambda t: t.emp.select("id", "k").join(t.dept.select("k", "w"), "k"),
        lambda t: select(join(select(t.emp, "id", "k"), select(t.dept, "k", "w"), using("k")), "k", "id", "w"),
    ),
    Case(
        "full USING",
        lambda t: t.emp.select("id", "k").join(t.dept.select("k", "w"), ["k"], "full"),
        lambda t: select(
            join(
                select(t.emp, "id", "k"),
                rename(select(t.dept, "k", "w"), "dk", "w"),
                lambda a, b: eq(a.k, b.dk),
                "full",
            ),
            k=lambda r: r.dk if r.k is None else r.k,
            id=lambda r: r.id,
            w=lambda r: r.w,
        ),
    ),
    Case(
        "cross",
        lambda t: t.emp.select("id").crossJoin(t.dept.select("w")),
        lambda t: join(select(t.emp, "id"), select(t.dept, "w"), how="cross"),
    ),
    Case(
        "cross with nothing",
        lambda t: t.emp.select("id").crossJoin(t.none.select("w")),
        lambda t: join(select(t.emp, "id"), select(t.none, "w"), how="cross"),
    ),
    Case(
        "no column kept of one side",
        lambda t: emp(t).join(dept(t), sf.expr("ek = dk")).select("id"),
        lambda t: select(join(emp_(t), dept_(t), lambda a, b: eq(a.ek, b.dk)), "id"),
    ),
    Case(
        "outer that a filter makes inner",
        lambda t: emp(t).join(dept(t), sf.expr("ek = dk"), "left").filter("w > 1"),
        lambda t: where(join(emp_(t), dept_(t), lambda a, b: eq(a.ek, b.dk), "left"), lambda r: lt(1, r.w)),
    ),
    Case(
        "outer, only the unmatched kept",
        lambda t: emp(t).join(dept(t), sf.expr("ek = dk"), "full").filter("w IS NULL OR id IS NULL"),
        lambda t: where(
            join(emp_(t), dept_(t), lambda a, b: eq(a.ek, b.dk), "full"),
            lambda r: r.w is None or r.id is None,
        ),
    ),
    Case(
        "with itself",
        lambda t: (
            lambda d: (
                d.alias("a")
                .join(d.alias("b"), sf.expr("a.k = b.k AND a.id < b.id"))
                .select("a.id", sf.col("b.id").alias("j"))
            )
        )(t.emp),
        lambda t: select(
            join(
                select(t.emp, "id", "k"),
                rename(select(t.emp, "id", "k"), "j", "l"),
                lambda a, b: both(eq(a.k, b.l), a.id < b.j),
            ),
            "id",
            "j",
        ),
    ),
    Case(
        "with itself twice",
        lambda t: t.sql("SELECT a.w, b.w x, c.w y FROM dept a JOIN dept b ON a.k = b.k LEFT JOIN dept c ON b.x = c.x"),
        lambda t: rename(
            select(
                join(
                    join(
                        rename(t.dept, "ak", "an", "ax", "aw"),
                        rename(t.dept, "bk", "bn", "bx", "bw"),
                        lambda a, b: eq(a.ak, b.bk),
                    ),
                    rename(t.dept, "ck", "cn", "cx", "cw"),
                    lambda a, b: eq(a.bx, b.cx),
                    "left",
                ),
                "aw",
                "bw",
                "cw",
            ),
            "w",
            "x",
            "y",
        ),
    ),
    Case(
        "three sources, outer within outer",
        lambda t: (
            emp(t)
            .join(dept(t).join(t.skew, sf.expr("dk = k AND n < 20"), "left"), sf.expr("ek = dk"), "full")
            .select("id", "w", "n")
        ),
        lambda t: select(
            join(
                emp_(t),
                join(dept_(t), t.skew, lambda a, b: both(eq(a.dk, b.k), b.n < 20), "left"),
                lambda a, b: eq(a.ek, b.dk),
                "full",
            ),
            "id",
            "w",
            "n",
        ),
    ),
    Case(
        "natural",
        lambda t: t.sql("SELECT * FROM (SELECT id, k FROM emp) NATURAL JOIN (SELECT k, w FROM dept)"),
        lambda t: select(join(select(t.emp, "id", "k"), select(t.dept, "k", "w"), using("k")), "k", "id", "w"),
    ),
    Case(
        "limit above",
        lambda t: emp(t).join(dept(t), sf.expr("ek = dk")).select("id", "w").orderBy("id", "w").limit(5),
        lambda t: limit(sort(select(join(emp_(t), dept_(t), lambda a, b: eq(a.ek, b.dk)), "id", "w"), "id", "w"), 5),
    ),
    Case(
        "lateral",
        lambda t: t.sql("SELECT id, w FROM emp, LATERAL (SELECT w FROM dept WHERE dept.k = emp.k)"),
        lambda t: select(join(emp_(t), dept_(t), lambda a, b: eq(a.ek, b.dk)), "id", "w"),
        expect="exact or refused",
    ),
]

CHAINS = [
    Case(
        "semi-join by a distinct join",
        lambda t: t.emp.join(t.skew.join(t.dept, "k").select("k").distinct(), "k", "left_semi").select("id"),
        lambda t: select(
            join(
                t.emp,
                distinct(select(join(t.skew, rename(t.dept, "dk", "name", "x", "w"), lambda a, b: eq(a.k, b.dk)), "k")),
                using("k"),
                "semi",
            ),
            "id",
        ),
    ),
    Case(
        "anti-join of a semi-join",
        lambda t: t.emp.join(t.dept, "k", "left_semi").join(t.skew.select(sf.col("v").alias("k")), "k", "left_anti"),
        lambda t: select(
            join(join(t.emp, t.dept, using("k"), "semi"), t.skew, lambda a, b: eq(a.k, b.v), "anti"),
            "k",
            "id",
            "g",
            "x",
            "v",
        ),
    ),
    Case(
        "join of a semi-join's result with itself",
        lambda t: (lambda d: d.select("id", "k").join(d.select(sf.col("k").alias("l"), "v"), sf.expr("k = l")))(
            t.emp.join(t.dept, "k", "left_semi")
        ),
        lambda t: join(
            select(join(t.emp, t.dept, using("k"), "semi"), "id", "k"),
            rename(select(join(t.emp, t.dept, using("k"), "semi"), "k", "v"), "l", "v"),
            lambda a, b: eq(a.k, b.l),
        ),
    ),
    Case(
        "semi-join below a group",
        lambda t: t.skew.join(t.dept, "k", "left_semi").groupBy("v").agg(sf.sum("n").alias("s")),
        lambda t: group(join(t.skew, t.dept, using("k"), "semi"), ["v"], s=total("n")),
    ),
]


@pytest.mark.parametrize("case", [*EVERY, *MORE_CONDITIONS, *EMPTY, *STRATEGIES, *SHAPES, *CHAINS], ids=str)
def test_join(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
