"""Aggregates and distinct, on keys of every kind; chains of joins and aggregates; common tables; settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, check
from oracle.operators import (
    count,
    count_distinct,
    distinct,
    explode,
    group,
    join,
    least,
    limit,
    mean,
    most,
    rename,
    select,
    sort,
    total,
    union,
    using,
    where,
)
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import both, eq, lt, plus
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark


def summed(*keys: str) -> Any:
    """Sum and count of employees by some keys."""
    return lambda t: t.emp.groupBy(*keys).agg(sf.sum("v").alias("s"), sf.count("*").alias("n"))


def summed_(*keys: str) -> Any:
    return lambda t: group(t.emp, keys, s=total("v"), n=count())


KEYS = [
    Case(f"key {' and '.join(keys) or 'none'}", summed(*keys), summed_(*keys))
    for keys in [(), ("k",), ("g",), ("x",), ("k", "g"), ("x", "g"), ("id",)]
]

AGGREGATES = [
    Case("struct key", lambda t: t.bag.groupBy("point").count(), lambda t: group(t.bag, ["point"], n=count())),
    Case("array key", lambda t: t.bag.groupBy("words").count(), lambda t: group(t.bag, ["words"], n=count())),
    Case(
        "computed key",
        lambda t: t.emp.groupBy((sf.col("v") + sf.col("k")).alias("y")).agg(sf.max("id").alias("m")),
        lambda t: group(select(t.emp, "id", y=lambda r: plus(r.v, r.k)), ["y"], m=most("id")),
    ),
    Case(
        "constant key",
        lambda t: t.emp.groupBy(sf.lit(1).alias("one")).count(),
        lambda t: group(select(t.emp, one=lambda r: 1), ["one"], n=count()),
    ),
    Case(
        "key that isn't kept",
        lambda t: t.sql("SELECT sum(v) FROM emp GROUP BY g"),
        lambda t: select(group(t.emp, ["g"], s=total("v")), "s"),
    ),
    Case(
        "key kept twice, and within an expression",
        lambda t: t.sql("SELECT k, k + 1 AS l, k AS m, count(v) + k AS n FROM emp GROUP BY k"),
        lambda t: select(
            group(t.emp, ["k"], c=count("v")),
            "k",
            l=lambda r: plus(r.k, 1),
            m=lambda r: r.k,
            n=lambda r: plus(r.c, r.k),
        ),
    ),
    Case(
        "min, max, avg with nulls and NaN",
        lambda t: (
            t.emp.withColumn("x", sf.col("x") + 0.0)
            .groupBy("g")
            .agg(
                sf.min("x").alias("lo"),
                sf.max("x").alias("hi"),
                sf.avg("v").alias("m"),
                sf.count("x").alias("n"),
            )
        ),
        lambda t: group(
            select(t.emp, "g", "v", x=lambda r: plus(r.x, 0.0)),
            ["g"],
            lo=least("x"),
            hi=most("x"),
            m=mean("v"),
            n=count("x"),
        ),
    ),
    Case(
        "count distinct",
        lambda t: t.emp.groupBy("g").agg(sf.countDistinct("k").alias("d")),
        lambda t: group(t.emp, ["g"], d=count_distinct("k")),
    ),
    Case(
        "count distinct among others",
        lambda t: t.emp.groupBy("g").agg(
            sf.countDistinct("k").alias("d"), sf.sum("v").alias("s"), sf.countDistinct("x").alias("e")
        ),
        lambda t: group(t.emp, ["g"], d=count_distinct("k"), s=total("v"), e=count_distinct("x")),
    ),
    Case(
        "global count distinct among others",
        lambda t: t.sql("SELECT count(DISTINCT g), count(*), sum(DISTINCT k) FROM emp"),
        lambda t: group(t.emp, [], d=count_distinct("g"), n=count(), s=lambda rows: 1 + 2 + 3 + 4 + 7),
    ),
    Case(
        "FILTER clause owes to the whole group",
        lambda t: t.sql("SELECT g, count(*) FILTER (WHERE v = 10) FROM emp GROUP BY g"),
        lambda t: group(t.emp, ["g"], n=lambda rows: sum(r.v == 10 for r in rows)),
    ),
    Case(
        "a constant aggregate",
        lambda t: t.sql("SELECT g, sum(CASE WHEN id < 0 THEN 1 ELSE 0 END) FROM emp GROUP BY g"),
        lambda t: group(t.emp, ["g"], n=lambda rows: 0),
    ),
    Case(
        "HAVING",
        lambda t: t.sql("SELECT k FROM emp GROUP BY k HAVING count(*) > 1 AND max(v) >= 20"),
        lambda t: select(where(group(t.emp, ["k"], n=count(), m=most("v")), lambda r: r.n > 1 and lt(19, r.m)), "k"),
    ),
    Case(
        "global over nothing",
        lambda t: t.none.agg(sf.sum("w"), sf.count("*")),
        lambda t: group(t.none, [], s=total("w"), n=count()),
    ),
    Case(
        "global over nothing that passes",
        lambda t: t.emp.filter("id < 0").agg(sf.count("*")),
        lambda t: group(where(t.emp, lambda r: False), [], n=count()),
    ),
    Case(
        "grouped over nothing",
        lambda t: t.none.groupBy("k").agg(sf.count("*")),
        lambda t: group(t.none, ["k"], n=count()),
    ),
    Case(
        "of an aggregate",
        lambda t: summed("k", "g")(t).groupBy("k").agg(sf.sum("n").alias("n"), sf.count("s").alias("c")),
        lambda t: group(summed_("k", "g")(t), ["k"], n=total("n"), c=count("s")),
    ),
    Case(
        "skew",
        lambda t: t.skew.groupBy("k").agg(sf.sum("v").alias("s")),
        lambda t: group(t.skew, ["k"], s=total("v")),
    ),
    Case(
        "of a limit",
        lambda t: t.emp.orderBy("id").limit(6).groupBy("k").count(),
        lambda t: group(limit(sort(t.emp, "id"), 6), ["k"], n=count()),
    ),
    Case(
        "of exploded words",
        lambda t: t.bag.select("id", sf.explode_outer("words").alias("w")).groupBy("w").agg(sf.max("id").alias("m")),
        lambda t: group(
            rename(explode(t.bag, "words", outer=True), "id", "words", "pairs", "point", "w"),
            ["w"],
            m=most("id"),
        ),
    ),
    Case(
        "ordered and limited",
        lambda t: t.skew.groupBy("k").count().orderBy(sf.desc("count"), "k").limit(3),
        lambda t: limit(sort(group(t.skew, ["k"], n=count()), "-n", "k"), 3),
        ordered=True,
    ),
]

GROUPING = [
    Case(
        "rollup",
        lambda t: t.emp.rollup("k").agg(sf.sum("v").alias("s")),
        lambda t: (
            lambda e: union(
                group(e, ["k"], s=total("v")),
                select(group(e, [], s=total("v")), k=lambda r: None, s=lambda r: r.s),
            )
        )(t.emp),
        expect="exact or refused",
    ),
    Case(
        "cube",
        lambda t: t.dept.cube("k", "name").agg(sf.count("*").alias("n")),
        lambda t: (
            lambda d: union(
                group(d, ["k", "name"], n=count()),
                select(group(d, ["k"], n=count()), "k", name=lambda r: None, n=lambda r: r.n),
                select(group(d, ["name"], n=count()), k=lambda r: None, name=lambda r: r.name, n=lambda r: r.n),
                select(group(d, [], n=count()), k=lambda r: None, name=lambda r: None, n=lambda r: r.n),
            )
        )(t.dept),
        expect="exact or refused",
    ),
    Case(
        "pivot",
        lambda t: t.emp.groupBy("k").pivot("g", ["a", "b"]).agg(sf.sum("v")),
        lambda t: group(
            t.emp,
            ["k"],
            a=lambda rows: total("v")([r for r in rows if r.g == "a"]),
            b=lambda rows: total("v")([r for r in rows if r.g == "b"]),
        ),
        expect="exact or refused",
    ),
]

DISTINCT = [
    Case(
        "distinct",
        lambda t: t.emp.select("k", "g", "v").distinct(),
        lambda t: distinct(select(t.emp, "k", "g", "v")),
    ),
    Case("distinct reals", lambda t: t.emp.select("x").distinct(), lambda t: distinct(select(t.emp, "x"))),
    Case(
        "distinct structs",
        lambda t: t.bag.select("point").distinct(),
        lambda t: distinct(select(t.bag, "point")),
    ),
    Case("dropDuplicates", lambda t: t.dept.dropDuplicates(), lambda t: distinct(t.dept)),
    Case(
        "dropDuplicates of all columns by name",
        lambda t: t.dept.select("k", "name").dropDuplicates(["name", "k"]),
        lambda t: distinct(select(t.dept, "k", "name")),
        expect="exact or refused",
    ),
    Case("distinct of nothing", lambda t: t.none.distinct(), lambda t: distinct(t.none)),
    Case(
        "distinct twice, with a sort",
        lambda t: t.emp.select("k", "g").distinct().select("k").distinct().orderBy("k"),
        lambda t: sort(distinct(select(distinct(select(t.emp, "k", "g")), "k")), "k"),
        ordered=True,
    ),
    Case(
        "distinct of a union with itself",
        lambda t: (lambda d: d.union(d).distinct())(t.emp.select("k")),
        lambda t: distinct(union(select(t.emp, "k"), select(t.emp, "k"))),
    ),
    Case(
        "SELECT DISTINCT of a join",
        lambda t: t.sql("SELECT DISTINCT g, name FROM emp JOIN dept ON emp.k = dept.k"),
        lambda t: distinct(
            select(
                join(
                    select(t.emp, "k", "g"),
                    rename(select(t.dept, "k", "name"), "l", "name"),
                    lambda a, b: eq(a.k, b.l),
                ),
                "g",
                "name",
            )
        ),
    ),
]


def wages(t: Any) -> Any:
    """Join, aggregate, join, aggregate."""
    by_key = t.skew.join(t.dept.select("k", "w"), "k").groupBy("k").agg(sf.sum("w").alias("s"))
    return t.emp.join(by_key, "k", "left").groupBy("g").agg(sf.sum("s").alias("s"), sf.count("*").alias("n"))


def wages_(t: Any) -> Relation:
    e = t.emp
    joined = join(t.skew, rename(select(t.dept, "k", "w"), "l", "w"), lambda a, b: eq(a.k, b.l))
    by_key = rename(group(joined, ["k"], s=total("w")), "l", "s")
    return group(join(e, by_key, lambda a, b: eq(a.k, b.l), "left"), ["g"], s=total("s"), n=count())


def shared(t: Any) -> Any:
    """One aggregate, used on both sides of a join."""
    d = t.emp.groupBy("k").agg(sf.count("*").alias("n"))
    return d.join(d.select(sf.col("k").alias("l"), sf.col("n").alias("m")), sf.expr("n = m AND k < l"))


def shared_(t: Any) -> Relation:
    a, b = group(t.emp, ["k"], n=count()), group(t.emp, ["k"], n=count())
    return join(a, rename(b, "l", "m"), lambda x, y: both(eq(x.n, y.m), lt(x.k, y.l)))


CHAINS = [
    Case("join, group, join, group", wages, wages_),
    Case("one group, joined with itself", shared, shared_),
    Case(
        "groups of two sources in one group",
        lambda t: (
            summed("k")(t).select("k", "n").union(t.dept.groupBy("k").count()).groupBy("k").agg(sf.sum("n").alias("n"))
        ),
        lambda t: group(union(select(summed_("k")(t), "k", "n"), group(t.dept, ["k"], n=count())), ["k"], n=total("n")),
    ),
    Case(
        "global group crossed with rows",
        lambda t: t.dept.select("w").crossJoin(t.emp.agg(sf.max("v").alias("m"))),
        lambda t: join(select(t.dept, "w"), group(t.emp, [], m=most("v")), how="cross"),
    ),
    Case(
        "distinct, join, sort, limit",
        lambda t: t.emp.select("k").distinct().join(t.dept, "k").orderBy("k", "w").limit(3).select("k", "w"),
        lambda t: limit(
            sort(
                select(
                    join(
                        distinct(select(t.emp, "k")),
                        rename(t.dept, "l", "name", "x", "w"),
                        lambda a, b: eq(a.k, b.l),
                    ),
                    "k",
                    "w",
                ),
                "k",
                "w",
            ),
            3,
        ),
        ordered=True,
    ),
    Case(
        "WITH, used twice",
        lambda t: t.sql(
            "WITH c AS (SELECT k, count(*) n FROM emp GROUP BY k) "
            "SELECT a.k, b.n FROM c a JOIN c b ON a.k = b.k WHERE a.n > 1"
        ),
        lambda t: select(
            join(
                where(group(t.emp, ["k"], n=count()), lambda r: r.n > 1),
                rename(group(t.emp, ["k"], n=count()), "l", "m"),
                lambda a, b: eq(a.k, b.l),
            ),
            "k",
            "m",
        ),
    ),
    Case(
        "WITH within WITH, united",
        lambda t: t.sql(
            "WITH c AS (SELECT k, v FROM emp WHERE v > 10), d AS (SELECT k, sum(v) v FROM c GROUP BY k) "
            "SELECT * FROM c UNION ALL SELECT * FROM d"
        ),
        lambda t: union(
            select(where(t.emp, lambda r: lt(10, r.v)), "k", "v"),
            group(where(t.emp, lambda r: lt(10, r.v)), ["k"], v=total("v")),
        ),
    ),
    Case(
        "a view of a view",
        lambda t: (
            t.sql("SELECT k, max(v) AS m FROM emp GROUP BY k").createOrReplaceTempView("tops")
            or t.sql("SELECT name, m FROM tops JOIN dept ON tops.k = dept.k")
        ),
        lambda t: select(
            join(
                group(t.emp, ["k"], m=most("v")),
                rename(select(t.dept, "k", "name"), "l", "name"),
                lambda a, b: eq(a.k, b.l),
            ),
            "name",
            "m",
        ),
    ),
    Case(
        "group joined back to its rows",
        lambda t: t.emp.join(t.emp.groupBy("g").agg(sf.max("v").alias("v")), ["g", "v"]).select("id"),
        lambda t: select(join(t.emp, group(t.emp, ["g"], v=most("v")), using("g", "v")), "id"),
    ),
]

SETTINGS = [
    Case(f"{name}, {label}", plan, meaning, conf=conf)
    for name, plan, meaning in [
        ("join, group, join, group", wages, wages_),
        ("one group, joined with itself", shared, shared_),
    ]
    for label, conf in [
        ("1 partition", {"spark.sql.shuffle.partitions": 1}),
        (
            "20 partitions, not adaptive",
            {"spark.sql.shuffle.partitions": 20, "spark.sql.adaptive.enabled": False},
        ),
        (
            "not adaptive, sort-merge, no code generation",
            {
                "spark.sql.adaptive.enabled": False,
                "spark.sql.autoBroadcastJoinThreshold": -1,
                "spark.sql.codegen.wholeStage": False,
            },
        ),
        (
            "adaptive, nothing coalesced, skew split",
            {
                "spark.sql.adaptive.coalescePartitions.enabled": False,
                "spark.sql.autoBroadcastJoinThreshold": -1,
                "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1",
                "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "1.0",
                "spark.sql.adaptive.advisoryPartitionSizeInBytes": "300",
            },
        ),
    ]
]


@pytest.mark.parametrize("case", [*KEYS, *AGGREGATES, *GROUPING, *DISTINCT, *CHAINS, *SETTINGS], ids=str)
def test_group(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
