"""What is cached: computed once, used by all who may use it, and its rows keep their lineage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Frames, check
from oracle.operators import count, distinct, group, join, select, total, union, where
from oracle.tables import DEPT, EMP, SKEW
from oracle.values import eq
from pyspark import StorageLevel
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark

TABLES = [EMP, DEPT, SKEW]


@pytest.fixture(autouse=True)
def nothing_cached(spark: Any) -> Iterator[None]:
    spark.catalog.clearCache()
    yield
    spark.catalog.clearCache()


def fresh(plan: Callable[[Frames], Any]) -> Callable[[Frames], Any]:
    """Drop what an earlier run of the plan cached."""

    def again(t: Frames) -> Any:
        t.spark.catalog.clearCache()
        return plan(t)

    return again


def self_union(t: Frames) -> Any:
    d = t.emp.filter("id > 2").select("id", "k").cache()
    d.count()
    return d.filter("k = 1").union(d)


def self_join(t: Frames) -> Any:
    d = t.emp.select("id", "k").persist(StorageLevel.DISK_ONLY)
    return (
        d.alias("a").join(d.alias("b"), sf.expr("a.k = b.k AND a.id < b.id")).select("a.id", sf.col("b.id").alias("o"))
    )


def aggregate(t: Frames) -> Any:
    d = t.emp.groupBy("k").agg(sf.count("*").alias("n")).persist()
    d.collect()
    return d.join(t.dept.select("k", "w"), "k").select("n", "w")


def aggregate_piecemeal(t: Frames) -> Any:
    """Without a shuffle the tap is in the cached stage itself, which several jobs compute, some parts in one task."""
    d = t.skew.repartition(4, "v").groupBy("v").agg(sf.sum("n").alias("s")).cache()
    d.take(1)
    d.limit(2).union(t.emp.select("id", "k")).take(3)
    return d.union(t.emp.select("v", "id")).coalesce(1).union(d)


def aggregate_twice(t: Frames) -> Any:
    inner = t.skew.groupBy("v").agg(sf.count("*").alias("n")).cache()
    outer = inner.groupBy("n").agg(sf.sum("v").alias("s")).cache()
    outer.count()
    return outer.select("s").union(inner.select("n"))


def derived_before(t: Frames) -> Any:
    d = t.emp.filter("id > 2").select("id", "k")
    before = d.filter("k = 1")
    d.cache().count()
    return before


def cached_after_it_ran(t: Frames) -> Any:
    """The frame's own plan was optimised before anything was cached."""
    d = t.emp.filter("id > 2").select("id", "k")
    above = d.filter("k = 1")
    above.collect()
    d.cache().count()
    return above


def table(t: Frames) -> Any:
    t.emp.filter("id > 2").select("id", "k").createOrReplaceTempView("few")
    t.spark.catalog.cacheTable("few")
    return t.spark.sql("SELECT id FROM few WHERE k = 1 UNION ALL SELECT k FROM few")


def sql_table(t: Frames) -> Any:
    t.emp.filter("id > 2").select("id", "k").createOrReplaceTempView("few")
    t.spark.sql("-- a remark\nCACHE TABLE few").collect()
    assert t.spark.catalog.isCached("few")
    return t.spark.sql("SELECT id FROM few WHERE k = 1 UNION ALL SELECT k FROM few")


def sql_table_as(t: Frames) -> Any:
    t.emp.createOrReplaceTempView("emp_v")
    t.spark.catalog.dropTempView("few_as")
    t.spark.sql("CACHE TABLE few_as OPTIONS ('storageLevel' 'DISK_ONLY') AS SELECT id, k FROM emp_v WHERE id > 2")
    return t.spark.sql("SELECT id FROM few_as WHERE k = 1 UNION ALL SELECT k FROM few_as")


def unpersisted(t: Frames) -> Any:
    d = t.emp.filter("id > 2").select("id", "k").cache()
    d.count()
    d.unpersist(blocking=True)
    return d.filter("k = 1")


def unpersisted_below(t: Frames) -> Any:
    """Spark builds a cache anew when one that it reads is dropped."""
    d = t.emp.filter("id > 2").select("id", "k").cache()
    e = d.distinct().cache()
    d.unpersist()
    return e.filter("k = 1")


def in_a_subquery(t: Frames) -> Any:
    d = t.dept.filter("w > 2").select("k").cache()
    d.count()
    return t.emp.join(d, "k", "left_semi").select("id", "k")


def few(t: Any) -> Any:
    return where(select(t.emp, "id", "k"), lambda r: r.id > 2)


def ones(r: Any) -> Any:
    return where(r, lambda r: eq(r.k, 1))


def two(t: Any) -> Any:
    return union(select(ones(few(t)), "id"), select(few(t), id=lambda r: r.k))


def by_v(t: Any) -> Any:
    return group(t.skew, ["v"], s=total("n"))


def twice(t: Any) -> Any:
    outer = group(group(t.skew, ["v"], n=count()), ["n"], s=total("v"))
    return union(select(outer, "s"), select(group(t.skew, ["v"], s=count()), "s"))


CASES = [
    Case("self-union", self_union, lambda t: union(ones(few(t)), few(t))),
    Case(
        "self-join on disk",
        self_join,
        lambda t: select(
            join(
                select(t.emp, "id", "k"),
                select(t.emp, o=lambda r: r.id, j=lambda r: r.k),
                lambda a, b: None if a.k is None or b.j is None else a.k == b.j and a.id < b.o,
            ),
            "id",
            "o",
        ),
    ),
    Case(
        "aggregate",
        aggregate,
        lambda t: select(
            join(group(t.emp, ["k"], n=count()), t.dept, lambda a, b: eq(a.k, b.k)), n=lambda r: r.n, w=lambda r: r.w
        ),
    ),
    Case(
        "aggregate, piece by piece",
        aggregate_piecemeal,
        lambda t: union(by_v(t), select(t.emp, v=lambda r: r.v, s=lambda r: r.id), by_v(t)),
    ),
    Case("aggregate of an aggregate", aggregate_twice, twice),
    Case("frame made before", derived_before, lambda t: ones(few(t))),
    Case("frame run before", cached_after_it_ran, lambda t: ones(few(t))),
    Case("cacheTable", table, two),
    Case("CACHE TABLE", sql_table, two),
    Case("CACHE TABLE AS", sql_table_as, two),
    Case("unpersist", unpersisted, lambda t: ones(few(t))),
    Case("unpersist of what a cache reads", unpersisted_below, lambda t: ones(distinct(few(t)))),
    Case(
        "right side of a semi-join",
        in_a_subquery,
        lambda t: select(join(t.emp, where(t.dept, lambda r: r.w > 2), lambda a, b: eq(a.k, b.k), "semi"), "id", "k"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lineage_through_a_cache(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    """What the plans count on the way is no matter here."""
    alone = {"spark.provspark.driverReads": "false"}
    check(Case(case.name, fresh(case.plan), case.meaning, alone), spark, TABLES, sources, tmp_path)
