"""Operators that hand rows on: project, filter, sort, limit, union, explode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, check
from oracle.operators import distinct, explode, limit, rename, select, sort, union, where
from oracle.tables import TABLES
from oracle.values import both, either, eq, lt, plus, rank, same, times, within
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark

PROJECT = [
    Case("all columns", lambda t: t.emp, lambda t: t.emp),
    Case("some columns", lambda t: t.emp.select("g", "k"), lambda t: select(t.emp, "g", "k")),
    Case(
        "computed columns",
        lambda t: t.emp.select("id", (sf.col("v") * 2 + sf.col("k")).alias("y")),
        lambda t: select(t.emp, "id", y=lambda r: plus(times(r.v, 2), r.k)),
    ),
    Case(
        "one column under two names",
        lambda t: t.emp.select(sf.col("k").alias("p"), sf.col("k").alias("q")),
        lambda t: select(t.emp, p=lambda r: r.k, q=lambda r: r.k),
    ),
    Case(
        "no column of the source",
        lambda t: t.emp.select(sf.lit("c").alias("c")),
        lambda t: select(t.emp, c=lambda r: "c"),
    ),
    Case(
        "names in other case",
        lambda t: t.emp.select("ID", "G"),
        lambda t: select(t.emp, ID=lambda r: r.id, G=lambda r: r.g),
    ),
    Case(
        "names with dots, spaces and ours",
        lambda t: t.emp.select(
            sf.col("id").alias("a.b"), sf.col("g").alias("c d"), sf.col("v").alias("row_index")
        ).select("`a.b`", "`c d`", "row_index"),
        lambda t: select(t.emp, "id", "g", "v"),
    ),
    Case(
        "withColumn over itself, drop, rename, toDF",
        lambda t: t.emp.withColumn("v", sf.col("v") + 1).drop("x", "k").withColumnRenamed("g", "h").toDF("a", "b", "c"),
        lambda t: select(t.emp, a=lambda r: r.id, b=lambda r: r.g, c=lambda r: plus(r.v, 1)),
    ),
    Case(
        "structs and arrays built",
        lambda t: t.emp.select(sf.struct("k", "g").alias("s"), sf.array("k", "k").alias("l")),
        lambda t: select(t.emp, s=lambda r: (r.k, r.g), l=lambda r: [r.k, r.k]),
    ),
    Case(
        "field of a struct",
        lambda t: t.bag.select("id", "point.a"),
        lambda t: select(t.bag, "id", a=lambda r: r.point and r.point["a"]),
    ),
    Case(
        "fillna, replace, dropna",
        lambda t: t.emp.select("id", "k", "g").fillna({"k": -1}).replace("b", "c", "g").dropna(),
        lambda t: where(
            select(t.emp, "id", k=lambda r: -1 if r.k is None else r.k, g=lambda r: "c" if r.g == "b" else r.g),
            lambda r: r.g is not None,
        ),
    ),
    Case(
        "Python function of a row",
        lambda t: t.emp.select("id", sf.udf(lambda k: -1 if k is None else k + 1, "int")("k").alias("y")),
        lambda t: select(t.emp, "id", y=lambda r: -1 if r.k is None else r.k + 1),
        expect="exact or refused",
    ),
]

FILTER = [
    Case("comparison with null", lambda t: t.emp.filter("k > 1"), lambda t: where(t.emp, lambda r: lt(1, r.k))),
    Case(
        "not equal leaves nulls out",
        lambda t: t.emp.filter(sf.col("g") != "a"),
        lambda t: where(t.emp, lambda r: r.g is not None and r.g != "a"),
    ),
    Case("NaN", lambda t: t.emp.filter("isnan(x)"), lambda t: where(t.emp, lambda r: rank(r.x) == (2,))),
    Case("zeros", lambda t: t.emp.filter("x = 0.0D"), lambda t: where(t.emp, lambda r: eq(r.x, 0.0))),
    Case("null-safe", lambda t: t.emp.filter("g <=> null"), lambda t: where(t.emp, lambda r: same(r.g, None))),
    Case(
        "IN a list",
        lambda t: t.emp.filter("k IN (1, 7, null)"),
        lambda t: where(t.emp, lambda r: within(r.k, [1, 7, None])),
    ),
    Case(
        "AND, OR of unknowns",
        lambda t: t.emp.filter("(k = 1 OR g = 'b') AND NOT (v = 10 AND k = 4)"),
        lambda t: where(
            t.emp,
            lambda r: both(either(eq(r.k, 1), eq(r.g, "b")), either(lt(r.v, 10), lt(10, r.v), not_eq(r.k, 4))),
        ),
    ),
    Case("nothing passes", lambda t: t.emp.filter("v < 0"), lambda t: where(t.emp, lambda r: False)),
    Case("always false", lambda t: t.emp.filter("false"), lambda t: where(t.emp, lambda r: False)),
    Case("always true", lambda t: t.emp.filter("true"), lambda t: t.emp),
    Case(
        "of filters and projects",
        lambda t: t.emp.filter("v >= 10").select("id", (sf.col("v") / 10).cast("int").alias("d")).where("d < 5"),
        lambda t: where(
            select(where(t.emp, lambda r: r.v is not None), "id", d=lambda r: r.v // 10), lambda r: r.d < 5
        ),
    ),
    Case(
        "by a column that is dropped",
        lambda t: t.emp.filter("g LIKE 'a%'").select("id"),
        lambda t: select(where(t.emp, lambda r: r.g is not None and r.g.startswith("a")), "id"),
    ),
    Case(
        "over an empty file's folder",
        lambda t: t.none.filter("k IS NULL"),
        lambda t: where(t.none, lambda r: r.k is None),
    ),
    Case(
        "by a Python function",
        lambda t: t.emp.filter(sf.udf(lambda k: k == 1, "boolean")("k")).select("id"),
        lambda t: select(where(t.emp, lambda r: r.k == 1), "id"),
        expect="exact or refused",
    ),
]


def not_eq(a: object, b: object) -> bool | None:
    return None if a is None or b is None else a != b


ORDER = [
    Case(
        "orderBy",
        lambda t: t.emp.orderBy(sf.desc("g"), "v", "id"),
        lambda t: sort(t.emp, "-g", "v", "id"),
        ordered=True,
    ),
    Case(
        "orderBy of NaN and zeros",
        lambda t: t.emp.select("x", "id").orderBy("x", "id").coalesce(1),
        lambda t: sort(select(t.emp, "x", "id"), "x", "id"),
        ordered=True,
    ),
    Case(
        "sort by what is dropped",
        lambda t: t.emp.orderBy("id").select("g"),
        lambda t: select(sort(t.emp, "id"), "g"),
        ordered=True,
    ),
    Case(
        "sortWithinPartitions",
        lambda t: t.emp.coalesce(1).sortWithinPartitions(sf.desc("id")),
        lambda t: sort(t.emp, "-id"),
        ordered=True,
    ),
    Case(
        "orderBy and limit",
        lambda t: t.emp.orderBy(sf.desc("v"), "id").limit(4),
        lambda t: limit(sort(t.emp, "-v", "id"), 4),
        ordered=True,
    ),
    Case(
        "limit, then a filter",
        lambda t: t.emp.orderBy("id").limit(6).filter("k = 1").select("id"),
        lambda t: select(where(limit(sort(t.emp, "id"), 6), lambda r: eq(r.k, 1)), "id"),
    ),
    Case("limit of any", lambda t: t.skew.limit(13), lambda t: t.skew, pick=13),
    Case("limit of more than there is", lambda t: t.emp.limit(100), lambda t: t.emp),
    Case("limit 0", lambda t: t.emp.limit(0), lambda t: limit(t.emp, 0)),
    Case(
        "limit of a limit over a union",
        lambda t: t.skew.limit(20).union(t.skew.limit(3)).limit(21),
        lambda t: union(t.skew, t.skew),
        pick=21,
    ),
    Case(
        "offset",
        lambda t: t.emp.orderBy("id").offset(3).limit(4),
        lambda t: limit(sort(t.emp, "id"), 4, skip=3),
        expect="exact or refused",
    ),
    Case("repartition", lambda t: t.skew.repartition(4), lambda t: t.skew),
    Case("repartition by a key", lambda t: t.skew.repartition(4, "k"), lambda t: t.skew),
    Case("repartitionByRange", lambda t: t.skew.repartitionByRange(3, "n"), lambda t: t.skew),
    Case("coalesce", lambda t: t.skew.repartition(5).coalesce(2), lambda t: t.skew),
    Case(
        "hints",
        lambda t: t.skew.hint("rebalance").filter("v = 1"),
        lambda t: where(t.skew, lambda r: eq(r.v, 1)),
    ),
    Case("sample", lambda t: t.skew.sample(1.0, seed=1), lambda t: t.skew, expect="exact or refused"),
]

UNION = [
    Case(
        "of two sources",
        lambda t: t.emp.select("k", "g").union(t.dept.select("k", "name")),
        lambda t: union(select(t.emp, "k", "g"), rename(select(t.dept, "k", "name"), "k", "g")),
    ),
    Case("of one source twice", lambda t: t.emp.union(t.emp), lambda t: union(t.emp, t.emp)),
    Case(
        "of one DataFrame with itself, filtered",
        lambda t: (lambda d: d.filter("k = 1").union(d.filter("v = 10")))(t.emp),
        lambda t: union(where(t.emp, lambda r: eq(r.k, 1)), where(t.emp, lambda r: eq(r.v, 10))),
    ),
    Case("with nothing", lambda t: t.none.union(t.dept).union(t.none), lambda t: union(t.none, t.dept, t.none)),
    Case(
        "by name",
        lambda t: t.emp.select("k", "v").unionByName(t.dept.select(sf.col("w").alias("v"), "k")),
        lambda t: union(select(t.emp, "k", "v"), select(t.dept, "k", v=lambda r: r.w)),
    ),
    Case(
        "by name with missing columns",
        lambda t: t.emp.select("id", "k").unionByName(t.dept.select("k", "name"), allowMissingColumns=True),
        lambda t: union(
            select(t.emp, "id", "k", name=lambda r: None),
            select(t.dept, id=lambda r: None, k=lambda r: r.k, name=lambda r: r.name),
        ),
    ),
    Case(
        "with a wider type",
        lambda t: t.emp.select("k").union(t.emp.select("v")),
        lambda t: union(select(t.emp, "k"), select(t.emp, "v")),
    ),
    Case(
        "of four, then a filter and a sort",
        lambda t: t.dept.union(t.dept).union(t.none).union(t.dept).filter("w > 4").orderBy("w"),
        lambda t: sort(where(union(t.dept, t.dept, t.none, t.dept), lambda r: r.w > 4), "w"),
    ),
    Case(
        "distinct, in SQL",
        lambda t: t.sql("SELECT k FROM emp UNION SELECT k FROM dept"),
        lambda t: distinct(union(select(t.emp, "k"), select(t.dept, "k"))),
    ),
]

EXPLODE = [
    Case(
        "explode",
        lambda t: t.bag.select("id", sf.explode("words")),
        lambda t: select(explode(t.bag, "words"), "id", "col"),
    ),
    Case(
        "explode_outer",
        lambda t: t.bag.select("id", sf.explode_outer("words")),
        lambda t: select(explode(t.bag, "words", outer=True), "id", "col"),
    ),
    Case(
        "posexplode_outer",
        lambda t: t.bag.select("id", sf.posexplode_outer("words")),
        lambda t: select(explode(t.bag, "words", outer=True, position=True), "id", "pos", "col"),
    ),
    Case(
        "of a computed array",
        lambda t: t.emp.select("id", sf.explode(sf.split("g", ""))).filter("col <> 'a'"),
        lambda t: where(
            select(
                explode(select(t.emp, "id", l=lambda r: None if r.g is None else list(r.g) or [""]), "l"),
                "id",
                "col",
            ),
            lambda r: r.col != "a",
        ),
    ),
    Case(
        "inline",
        lambda t: t.bag.selectExpr("id", "inline(pairs)"),
        lambda t: select(
            explode(t.bag, "pairs"), "id", p=lambda r: r.col and r.col["p"], q=lambda r: r.col and r.col["q"]
        ),
    ),
    Case(
        "of two arrays, one after the other",
        lambda t: t.bag.select("id", "pairs", sf.explode("words").alias("w")).select(
            "id", "w", sf.explode("pairs.p").alias("p")
        ),
        lambda t: select(
            explode(rename(explode(t.bag, "words"), "id", "words", "pairs", "point", "w"), "pairs"),
            "id",
            "w",
            p=lambda r: r.col and r.col["p"],
        ),
    ),
    Case(
        "LATERAL VIEW",
        lambda t: t.sql("SELECT id, w FROM bag LATERAL VIEW OUTER explode(words) s AS w WHERE w IS NULL OR w = 'x'"),
        lambda t: where(
            rename(select(explode(t.bag, "words", outer=True), "id", "col"), "id", "w"),
            lambda r: r.w is None or r.w == "x",
        ),
    ),
    Case(
        "then distinct",
        lambda t: t.bag.select(sf.explode("words").alias("w")).distinct(),
        lambda t: distinct(select(explode(t.bag, "words"), "col")),
    ),
]


@pytest.mark.parametrize("case", [*PROJECT, *FILTER, *ORDER, *UNION, *EXPLODE], ids=str)
def test_narrow(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
