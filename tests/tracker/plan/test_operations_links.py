"""Links, categories, details and texts of each operator, against what they should be by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from _operations import Named, operations
from pyspark.sql import Window
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark

DIRECT = ("identity", "transformation", "aggregation")
Links = set[tuple[str, str, str, bool]]


def emp(spark: Any) -> Any:
    return spark.createDataFrame([(1, "x", 2.0, [1, 2])], "id INT, k STRING, pay DOUBLE, tags ARRAY<INT>")


def dept(spark: Any) -> Any:
    return spark.createDataFrame([("x", "here")], "k STRING, place STRING")


def data(out: str, source: str, kind: str = "transformation") -> tuple[str, str, str, bool]:
    return out, source, kind, False


CASES: dict[str, tuple[Callable[[Any], Any], str, Links, tuple[str, ...], str]] = {
    "filter": (
        lambda s: emp(s).filter("pay > 1 AND k = 'x'"),
        "Filter",
        {data("*", "pay", "filter"), data("*", "k", "filter")},
        ("horizontal reduction",),
        "keep rows where (pay > 1) AND (k = 'x')",
    ),
    "a new column": (
        lambda s: emp(s).withColumn("more", sf.col("pay") * 2),
        "Project",
        {data("more", "pay")},
        ("vertical augmentation",),
        "more = (pay * 2)",
    ),
    "a column anew": (
        lambda s: emp(s).withColumn("k", sf.upper("k")),
        "Project",
        {data("k", "k")},
        ("transformation",),
        "k = upper(k)",
    ),
    "a condition": (
        lambda s: emp(s).select(sf.when(sf.col("id") > 1, sf.col("k")).otherwise("none").alias("v")),
        "Project",
        {data("v", "id", "conditional"), data("v", "k")},
        ("vertical reduction", "vertical augmentation"),
        "v = CASE WHEN (id > 1) THEN k ELSE 'none' END; drop id, k, pay, tags",
    ),
    "drop": (lambda s: emp(s).drop("pay"), "Project", set(), ("vertical reduction",), "drop pay"),
    "rename": (
        lambda s: emp(s).withColumnRenamed("pay", "wage"),
        "Project",
        {data("wage", "pay", "identity")},
        (),
        "name pay as wage",
    ),
    "join": (
        lambda s: (lambda e, d: e.join(d, e.k == d.k, "left"))(emp(s), dept(s).withColumnRenamed("k", "key")
                  .withColumnRenamed("key", "k")),
        "Join",
        {data("*", "k", "join"), data("k", "k", "join")},
        ("join",),
        "left outer join on k = k",
    ),
    "anti": (
        lambda s: emp(s).join(dept(s).selectExpr("k AS other"), sf.expr("k = other"), "anti"),
        "Join",
        {data("*", "k", "join"), ("*", "other", "join", True)},
        ("horizontal reduction",),
        "left anti join on k = other",
    ),
    "group": (
        lambda s: emp(s).groupBy("k").agg(sf.sum("pay").alias("p"), sf.expr("count(id) FILTER (WHERE pay > 1) AS n")),
        "Aggregate",
        {data("*", "k", "group by"), data("p", "pay", "aggregation"), data("n", "id", "aggregation"),
         data("n", "pay", "conditional")},
        ("aggregate",),
        "group by k: p = sum(pay), n = count(id) FILTER (WHERE (pay > 1))",
    ),
    "sort": (lambda s: emp(s).orderBy(sf.desc("pay")), "Sort", {data("*", "pay", "sort")}, (), "sort by pay DESC"),
    "window": (
        lambda s: emp(s).withColumn("t", sf.sum("pay").over(Window.partitionBy("k").orderBy("id"))),
        "Window",
        {("t", c, kind, context) for c, kind in (("pay", "aggregation"), ("k", "window"), ("id", "window"))
         for context in (False, True)},
        ("vertical augmentation",),
        "t = sum(pay) OVER (PARTITION BY k ORDER BY id ASC NULLS FIRST",
    ),
    "lag": (
        lambda s: emp(s).withColumn("t", sf.lag("pay").over(Window.orderBy("id"))),
        "Window",
        {("t", "pay", "transformation", True), ("t", "id", "window", True), data("t", "id", "window")},
        ("vertical augmentation",),
        "t = lag(pay, 1, NULL) OVER (ORDER BY id ASC NULLS FIRST)",
    ),
    "explode": (
        lambda s: emp(s).select("id", sf.explode("tags").alias("tag")),
        "Generate",
        {data("tag", "tags"), data("*", "tags", "filter")},
        ("vertical augmentation", "horizontal augmentation"),
        "explode(tags) into tag",
    ),
    "union": (
        lambda s: emp(s).select("k").union(dept(s).select("place")),
        "Union",
        {data("k", "k", "identity"), data("k", "place", "identity")},
        ("append",),
        "append 2 inputs",
    ),
    "unpivot": (
        lambda s: emp(s).unpivot("k", [sf.col("id").cast("double"), "pay"], "what", "value"),
        "Expand",
        {data("value", "id"), data("value", "pay", "identity")},
        ("vertical reduction", "vertical augmentation", "horizontal augmentation"),
        "make 2 copies of each row",
    ),
    "distinct": (
        lambda s: dept(s).distinct(),
        "Deduplicate",
        {data("*", "k", "group by"), data("*", "place", "group by")},
        ("horizontal reduction",),
        "drop duplicates by",
    ),
    "dropDuplicates": (
        lambda s: emp(s).dropDuplicates(["k"]),
        "Deduplicate",
        {data("*", "k", "group by")},
        ("horizontal reduction",),
        "drop duplicates by k",
    ),
    "except": (
        lambda s: emp(s).select("k").exceptAll(dept(s).select("place")),
        "Except",
        {data("*", "k", "group by"), ("*", "place", "join", True)},
        ("horizontal reduction",),
        "keep rows that are not in the second input",
    ),
    "intersect": (
        lambda s: emp(s).select("k").intersect(dept(s).select("place")),
        "Intersect",
        {data("*", "k", "group by"), data("*", "place", "join"), data("k", "place", "join")},
        ("horizontal reduction",),
        "keep rows that are in both inputs",
    ),
    "limit": (lambda s: emp(s).limit(3), "GlobalLimit", set(), ("horizontal reduction",), "keep 3 rows"),
    "sample": (lambda s: emp(s).sample(0.5, 1), "Sample", set(), ("horizontal reduction",), "sample from 0.0 to 0.5"),
    "pandas by group": (
        lambda s: emp(s).groupBy("k").applyInPandas(lambda f: f[["id"]], "id INT"),
        "FlatMapGroupsInPandas",
        {data("id", c) for c in ("id", "k", "pay", "tags")} | {data("*", "k", "group by")},
        ("transformation", "vertical reduction"),
        "FlatMapGroupsInPandas",
    ),
    "pandas": (
        lambda s: emp(s).select("id", "k").mapInPandas(lambda it: it, "w INT"),
        "MapInPandas",
        {data("w", "id"), data("w", "k")},
        ("vertical reduction", "vertical augmentation"),
        "MapInPandas ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str, spark: Any) -> None:
    """One operation of each kind."""
    make, node, links, categories, text = CASES[name]
    named = Named(operations(make(spark)))
    found = next(o for o in named.operations.operations if o.node == node)
    assert {(named.name(k.out), named.name(k.source), k.kind, k.context) for k in found.links} == links
    assert found.categories == categories
    assert found.text.startswith(text)


def test_subqueries(spark: Any) -> None:
    """A scalar's value is context; EXISTS and IN are not; NOT IN is."""
    emp(spark).createOrReplaceTempView("links_emp")
    dept(spark).createOrReplaceTempView("links_dept")
    text = (
        "SELECT id, (SELECT max(place) FROM links_dept) AS m FROM links_emp WHERE k {} (SELECT place FROM links_dept)"
    )
    named = Named(operations(spark.sql(text.format("IN"))))
    top = named.operations.operations[-1]
    assert {(named.name(k.out), named.name(k.source), k.kind, k.context) for k in top.links} == {
        ("m", "max(place)", "transformation", True)
    }
    assert top.contextual and named.operations.operations[top.subqueries[0]].node == "Aggregate"
    assert named.links("Filter") == {data("*", "k", "filter"), data("*", "place", "filter")}
    (e,) = named.one("Filter").expressions
    assert e.sql.endswith(f"IN (SELECT * FROM `subquery#{named.one('Filter').subqueries[0]}`))")
    without = Named(operations(spark.sql(text.format("NOT IN"))))
    assert without.links("Filter") == {data("*", "k", "filter"), ("*", "place", "filter", True)}
    outer = "SELECT id FROM links_emp e WHERE EXISTS (SELECT 1 FROM links_dept d WHERE d.k = e.k AND place > 'a')"
    found = operations(spark.sql(outer)).operations
    inner = next(o for o in found if dict(o.details).get("outer columns"))
    own = {c.id for o in found if o.node == "LocalRelation" or not o.children for c in o.columns if c.name == "k"}
    assert int(dict(inner.details)["outer columns"]) in own


def test_ids_mean_one_value(spark: Any) -> None:
    """The sides of a self-join and the inputs of a union have columns of their own; what is handed on keeps its id."""
    e = emp(spark)
    for frame in (e.union(e), e.alias("a").join(e.alias("b"), "id")):
        found = operations(frame).operations
        leaves = [o for o in found if not o.children]
        assert len(leaves) == 2 and not {c.id for c in leaves[0].columns} & {c.id for c in leaves[1].columns}
    kept = operations(e.filter("id > 0").orderBy("id")).operations
    assert len({tuple(c.id for c in o.columns) for o in kept}) == 1
    made = operations(e.union(e)).operations[-1]
    assert not {c.id for c in made.columns} & {k.source for k in made.links}
