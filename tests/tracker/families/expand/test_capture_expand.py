"""Operators that copy rows before they are grouped, sample them, or make several of one."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, check
from oracle.operators import count, count_distinct, explode, group, join, most, rename, select, total, union, where
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import eq, lt, plus, same
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark


def grouping_sets(r: Relation, keys: tuple[str, ...], *sets: tuple[str, ...], **aggregates: Any) -> Relation:
    """One grouping after the other, null for the keys that it lacks."""
    parts = []
    for by in sets:
        one = group(r, by, **aggregates)
        shown = {k: (lambda v, k=k: getattr(v, k)) if k in by else (lambda v: None) for k in keys}
        parts.append(select(one, **shown, **{a: (lambda v, a=a: getattr(v, a)) for a in aggregates}))
    return union(*parts)


KG = ("k", "g")

SETS = [
    Case(
        "rollup",
        lambda t: t.emp.rollup("k", "g").agg(sf.sum("v").alias("s")),
        lambda t: grouping_sets(t.emp, KG, KG, ("k",), (), s=total("v")),
    ),
    Case(
        "cube",
        lambda t: t.emp.cube("k", "g").agg(sf.count("*").alias("n"), sf.max("v").alias("m")),
        lambda t: grouping_sets(t.emp, KG, KG, ("k",), ("g",), (), n=count(), m=most("v")),
    ),
    Case(
        "grouping sets, one of them twice",
        lambda t: t.sql("SELECT k, g, count(*) n FROM emp GROUP BY GROUPING SETS ((k), (g), (k))"),
        lambda t: (lambda e: grouping_sets(e, KG, ("k",), ("g",), ("k",), n=count()))(t.emp),
    ),
    Case(
        "rollup over a join, then a filter by grouping_id",
        lambda t: (
            t.emp.join(t.dept, "k")
            .rollup("k", "name")
            .agg(sf.sum("w").alias("s"), sf.grouping_id().alias("i"))
            .filter("i = 1")
            .select("k", "s")
        ),
        lambda t: group(
            join(select(t.emp, "k"), rename(select(t.dept, "k", "w"), "l", "w"), lambda a, b: eq(a.k, b.l)),
            ["k"],
            s=total("w"),
        ),
    ),
    Case(
        "rollup over nothing",
        lambda t: t.none.rollup("k").count(),
        lambda t: grouping_sets(t.none, ("k",), ("k",), count=count()),
    ),
]

PIVOT = [
    Case(
        "pivot, two aggregates, values given",
        lambda t: t.emp.groupBy("k").pivot("g", ["a", "b"]).agg(sf.sum("v").alias("s"), sf.max("id").alias("m")),
        lambda t: group(
            t.emp,
            ["k"],
            a_s=lambda rows: total("v")([r for r in rows if r.g == "a"]),
            a_m=lambda rows: most("id")([r for r in rows if r.g == "a"]),
            b_s=lambda rows: total("v")([r for r in rows if r.g == "b"]),
            b_m=lambda rows: most("id")([r for r in rows if r.g == "b"]),
        ),
    ),
    Case(
        "pivot in SQL, no group beside",
        lambda t: t.sql("SELECT * FROM (SELECT g, v FROM emp) PIVOT (sum(v) FOR g IN ('a' AS a, 'zz' AS z))"),
        lambda t: group(t.emp, [], a=lambda rows: total("v")([r for r in rows if r.g == "a"]), z=lambda rows: None),
    ),
    Case(
        "unpivot",
        lambda t: t.emp.unpivot("id", ["k", "v"], "name", "value"),
        lambda t: (
            lambda e: union(
                select(e, "id", name=lambda r: "k", value=lambda r: r.k),
                select(e, "id", name=lambda r: "v", value=lambda r: r.v),
            )
        )(t.emp),
    ),
    Case(
        "UNPIVOT leaves nulls out",
        lambda t: t.sql("SELECT id, n, y FROM emp UNPIVOT (y FOR n IN (k, v))"),
        lambda t: (
            lambda e: where(
                union(
                    select(e, "id", n=lambda r: "k", y=lambda r: r.k),
                    select(e, "id", n=lambda r: "v", y=lambda r: r.v),
                ),
                lambda r: r.y is not None,
            )
        )(t.emp),
    ),
    Case(
        "stack",
        lambda t: t.emp.selectExpr("id", "stack(2, 'k', k, 'i', id)"),
        lambda t: (
            lambda e: union(
                select(e, "id", c0=lambda r: "k", c1=lambda r: r.k),
                select(e, "id", c0=lambda r: "i", c1=lambda r: r.id),
            )
        )(t.emp),
    ),
]

AGGREGATES = [
    Case(
        "several distinct aggregates and a plain one",
        lambda t: t.emp.groupBy("k").agg(sf.count_distinct("g"), sf.count_distinct("v"), sf.sum("v")).toDF(*"kabc"),
        lambda t: group(t.emp, ["k"], a=count_distinct("g"), b=count_distinct("v"), c=total("v")),
    ),
    Case(
        "several distinct aggregates of all rows",
        lambda t: t.emp.agg(sf.count_distinct("g"), sf.count_distinct("v")).toDF(*"ab"),
        lambda t: group(t.emp, [], a=count_distinct("g"), b=count_distinct("v")),
    ),
    Case(
        "FILTER keeps no row out of the group",
        lambda t: t.sql(
            "SELECT k, count(*) FILTER (WHERE v > 10) a, sum(DISTINCT v) FILTER (WHERE g = 'a') b, count(DISTINCT g) c "
            "FROM emp GROUP BY k"
        ),
        lambda t: group(
            t.emp,
            ["k"],
            a=lambda rows: sum(lt(10, r.v) is True for r in rows),
            b=lambda rows: (lambda s: sum(s) if s else None)({r.v for r in rows if r.g == "a"} - {None}),
            c=count_distinct("g"),
        ),
    ),
    Case(
        "count over nothing",
        lambda t: t.none.agg(sf.count("*").alias("n"), sf.sum("w").alias("s")),
        lambda t: group(t.none, [], n=count(), s=total("w")),
    ),
    Case(
        "describe",
        lambda t: t.emp.describe("v").filter("summary IN ('count', 'max')"),
        lambda t: (
            lambda g: union(
                select(g, summary=lambda r: "count", v=lambda r: str(r.n)),
                select(g, summary=lambda r: "max", v=lambda r: str(r.m)),
            )
        )(group(t.emp, [], n=count("v"), m=most("v"))),
    ),
    Case(
        "by a map",
        lambda t: (
            t.emp.filter("k IS NOT NULL")
            .groupBy(sf.expr("map(k, coalesce(x, 9.0D), -1, 9.0D)").alias("m"))
            .agg(sf.sum("id"))
            .select("sum(id)")
        ),
        lambda t: select(
            group(
                select(where(t.emp, lambda r: r.k is not None), "id", "k", x=lambda r: 9.0 if r.x is None else r.x),
                ["k", "x"],
                s=total("id"),
            ),
            "s",
        ),
    ),
    Case(
        "by a collated string",
        lambda t: t.sql("SELECT count(*) FROM (SELECT IF(id < 2, 'A', g) h FROM emp) GROUP BY h COLLATE UTF8_LCASE"),
        lambda t: select(group(t.emp, ["g"], n=count()), "n"),
    ),
    Case(
        "by 40 keys, 60 aggregates",
        lambda t: (
            t.emp.groupBy(*[(sf.col("id") % 2 + i).alias(f"c{i}") for i in range(40)])
            .agg(*[sf.sum(sf.col("v") + i).alias(f"s{i}") for i in range(60)])
            .select("c0", "s59")
        ),
        lambda t: group(select(t.emp, c0=lambda r: r.id % 2, v=lambda r: plus(r.v, 59)), ["c0"], s59=total("v")),
    ),
]

SAMPLES = [
    Case("sample", lambda t: t.skew.sample(False, 0.3, 3), lambda t: t.skew, pick="some"),
    Case("sample of all", lambda t: t.skew.sample(False, 1.0, 3), lambda t: t.skew),
    Case("randomSplit", lambda t: t.skew.randomSplit([0.4, 0.6], 5)[1], lambda t: t.skew, pick="some"),
    Case("sampleBy", lambda t: t.skew.sampleBy("k", {7: 0.2}, 1), lambda t: t.skew, pick="some"),
    Case(
        "TABLESAMPLE",
        lambda t: t.sql("SELECT n FROM skew TABLESAMPLE (20 PERCENT) REPEATABLE (5)"),
        lambda t: select(t.skew, "n"),
        pick="some",
    ),
    Case(
        "TABLESAMPLE of rows",
        lambda t: t.sql("SELECT n FROM skew TABLESAMPLE (7 ROWS)"),
        lambda t: select(t.skew, "n"),
        pick=7,
    ),
    Case(
        "rand() and monotonically_increasing_id()",
        lambda t: (
            t.skew.select("n", sf.rand(7).alias("r"), sf.monotonically_increasing_id().alias("m"))
            .filter("r < 0.5 AND m % 2 = 0")
            .select("n")
        ),
        lambda t: select(t.skew, "n"),
        pick="some",
    ),
    Case(
        "uuid() and current_timestamp()",
        lambda t: (
            t.emp.select("id", sf.expr("uuid()").alias("u"), sf.current_timestamp().alias("t"))
            .filter("length(u) = 36 AND t > timestamp '2020-01-01'")
            .select("id")
        ),
        lambda t: select(t.emp, "id"),
    ),
]

GENERATED = [
    Case(
        "json_tuple",
        lambda t: t.emp.selectExpr("id", "json_tuple(to_json(struct(k)), 'k') AS j"),
        lambda t: select(t.emp, "id", j=lambda r: None if r.k is None else str(r.k)),
    ),
    Case(
        "posexplode of a map",
        lambda t: t.emp.filter("k IS NOT NULL").selectExpr("id", "posexplode(map('k', k, 'i', id)) AS (p, a, b)"),
        lambda t: (
            lambda e: union(
                select(e, "id", p=lambda r: 0, a=lambda r: "k", b=lambda r: r.k),
                select(e, "id", p=lambda r: 1, a=lambda r: "i", b=lambda r: r.id),
            )
        )(where(t.emp, lambda r: r.k is not None)),
    ),
    Case(
        "LATERAL VIEW upon LATERAL VIEW",
        lambda t: t.sql(
            "SELECT id, a, b FROM bag LATERAL VIEW explode(words) x AS a LATERAL VIEW OUTER posexplode(pairs) y AS b, c"
        ),
        lambda t: rename(
            select(
                explode(
                    rename(explode(t.bag, "words"), "id", "words", "pairs", "point", "a"),
                    "pairs",
                    outer=True,
                    position=True,
                ),
                "id",
                "a",
                "pos",
            ),
            "id",
            "a",
            "b",
        ),
    ),
    Case(
        "higher-order functions",
        lambda t: t.bag.selectExpr("id", "transform(words, w -> upper(w)) AS u", "size(filter(words, w -> w = 'x')) n"),
        lambda t: select(
            t.bag,
            "id",
            u=lambda r: None if r.words is None else [None if w is None else w.upper() for w in r.words],
            n=lambda r: -1 if r.words is None else sum(w == "x" for w in r.words),
        ),
        conf={"spark.sql.legacy.sizeOfNull": True, "spark.sql.ansi.enabled": False},
    ),
    Case(
        "variant",
        lambda t: t.emp.select("id", sf.parse_json(sf.to_json(sf.struct("k"))).alias("j")).select(
            "id", sf.try_variant_get("j", "$.k", "int").alias("k")
        ),
        lambda t: select(t.emp, "id", "k"),
    ),
    Case(
        "500 columns",
        lambda t: t.emp.select("id", *[(sf.col("id") + i).alias(f"c{i}") for i in range(500)]).drop("c3"),
        lambda t: select(t.emp, "id", **{f"c{i}": lambda r, i=i: r.id + i for i in range(500) if i != 3}),
    ),
    Case(
        "14 branches of a union",
        lambda t: reduce(lambda a, b: a.union(b), [t.emp.select("id")] * 14),
        lambda t: union(*[select(t.emp, "id") for _ in range(14)]),
    ),
    Case(
        "joined columns of one name",
        lambda t: (lambda a, b: a.join(b, a.k.eqNullSafe(b.k)).select(a.k, b.x).toDF("k", "x"))(t.emp, t.dept),
        lambda t: select(
            rename(join(select(t.emp, "k"), select(t.dept, "k", "x"), lambda a, b: same(a.k, b.k)), "k", "l", "x"),
            "k",
            "x",
        ),
    ),
]


@pytest.mark.parametrize("case", [*SETS, *PIVOT, *AGGREGATES, *SAMPLES, *GENERATED], ids=str)
def test_expand(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
