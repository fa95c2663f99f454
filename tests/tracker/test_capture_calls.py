"""Functions of the script are called no more often than in plain Spark, and keys are the values that Spark used."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle import lineage, outputs
from pyspark.sql import Window
from pyspark.sql import functions as sf

import provspark
from provspark.tracker import attach

pytestmark = pytest.mark.spark

Make = Callable[[Any, Callable[[Any], Any]], Any]
ROWS = 24


def by_name(text: str) -> Make:
    def make(rows: Any, call: Callable[[Any], Any]) -> Any:
        rows.createOrReplaceTempView("rows")
        rows.select("id", call("id").alias("x")).createOrReplaceTempView("called")
        return rows.sparkSession.sql(text)

    return make


CASES: dict[str, Make] = {
    "select": lambda rows, call: rows.select(call("id").alias("x")),
    "where": lambda rows, call: rows.where(call("id") > 3),
    "group by": lambda rows, call: rows.groupBy(call("id")).count(),
    "group by a column": lambda rows, call: rows.select(call("k").alias("x"), "id").groupBy("x").agg(sf.sum("id")),
    "group by one made of it": lambda rows, call: (
        rows.select(call("k").alias("x"), "id").withColumn("y", sf.expr("x + 1")).groupBy("y").count()
    ),
    "group by a filtered one": lambda rows, call: (
        rows.select(call("k").alias("x"), "id").where("id > 3").groupBy("x").count()
    ),
    "cube": lambda rows, call: rows.cube(call("k"), "id").count(),
    "pivot": lambda rows, call: rows.withColumn("x", call("k")).groupBy("id").pivot("x", [0, 1]).count(),
    "distinct": lambda rows, call: rows.select(call("k").alias("x")).distinct(),
    "first of each": lambda rows, call: rows.withColumn("x", call("k")).dropDuplicates(["x"]),
    "window": lambda rows, call: rows.withColumn("x", call("k")).withColumn(
        "n", sf.count("*").over(Window.partitionBy("x"))
    ),
    "window of it": lambda rows, call: rows.withColumn("n", sf.count("*").over(Window.partitionBy(call("k")))),
    "intersect": lambda rows, call: rows.select(call("id")).intersect(rows.select("k")),
    "intersected": lambda rows, call: rows.select("k").intersect(rows.select(call("id"))),
    "except": lambda rows, call: rows.select(call("id").alias("x")).subtract(rows.select("k")),
    "taken away": lambda rows, call: rows.select("k").subtract(rows.select(call("id"))),
    "except all": lambda rows, call: rows.select(call("id")).exceptAll(rows.select("k")),
    "join": lambda rows, call: rows.join(rows.select(call("id").alias("id"), sf.col("k").alias("o")), "id"),
    "semi-join": lambda rows, call: rows.alias("a").join(
        rows.alias("b"), call(sf.col("a.id")) == sf.col("b.k"), "left_semi"
    ),
    "semi-joined": lambda rows, call: rows.alias("a").join(
        rows.alias("b"), call(sf.col("b.id")) == sf.col("a.k"), "left_semi"
    ),
    "anti-join": lambda rows, call: rows.alias("a").join(
        rows.alias("b"), call(sf.col("b.id")) == sf.col("a.k"), "left_anti"
    ),
    "in": by_name("SELECT id FROM rows WHERE k IN (SELECT x FROM called)"),
    "in, of it": by_name("SELECT id FROM called WHERE x IN (SELECT k FROM rows)"),
    "or in": by_name("SELECT id FROM rows WHERE id = 3 OR k IN (SELECT x FROM called)"),
    "exists": by_name("SELECT id FROM rows r WHERE EXISTS (SELECT 1 FROM called c WHERE c.x = r.k)"),
    "exists, of it": by_name("SELECT id FROM called c WHERE EXISTS (SELECT 1 FROM rows r WHERE c.x = r.k)"),
    "value": by_name("SELECT id, (SELECT max(x) FROM called c WHERE c.x = r.k) FROM rows r"),
    "sort": lambda rows, call: rows.sort(call("id")),
    "explode": lambda rows, call: (
        rows.select("k", sf.explode(sf.array(call("id"), "k")).alias("x")).groupBy("x").count()
    ),
    "array": lambda rows, call: rows.groupBy(sf.array(call("k")).alias("m")).count().select("count"),
    "repartition": lambda rows, call: rows.repartition(3, call("id")).select("id"),
    "cached": lambda rows, call: rows.select(call("k").alias("x")).cache().groupBy("x").count(),
    "union": lambda rows, call: rows.select(call("k").alias("x")).union(rows.select("id")).distinct(),
}


@pytest.fixture
def rows(spark: Any, tmp_path: Path) -> Any:
    frame = spark.range(ROWS).selectExpr("id", "id % 4 AS k")
    frame.coalesce(1).write.parquet(str(tmp_path / "in"))
    return spark.read.parquet(str(tmp_path / "in"))


@pytest.mark.parametrize("parted", [False, pytest.param(True, marks=pytest.mark.long)], ids=["", "parted"])
@pytest.mark.parametrize("case", CASES)
def test_calls(case: str, parted: bool, rows: Any, spark: Any, tmp_path: Path) -> None:
    """By an accumulator. Where plain Spark calls a function twice, once for a filter, capture may call it once."""

    def write(folder: Path) -> int:
        calls = spark.sparkContext.accumulator(0)
        frame = CASES[case](rows, sf.udf(lambda x: (calls.add(1), x)[1], "bigint"))
        frame = frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))
        writer = frame.withColumn("n", sf.lit(1)).write
        (writer.partitionBy("c0") if parted else writer).parquet(str(folder))
        spark.catalog.clearCache()
        return int(calls.value)

    plain = write(tmp_path / "plain")
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        captured = write(tmp_path / "captured")
    assert capture.untracked == ()
    assert 0 < captured <= plain
    both = (sorted(map(repr, outputs.read(tmp_path / name).rows)) for name in ("plain", "captured"))
    assert next(both) == next(both)


CHOSEN: dict[str, Make] = {
    "group by": lambda rows, call: rows.groupBy(call("k").alias("x")).agg(sf.collect_list("id").alias("ids")),
    "a made key": lambda rows, call: (
        rows.withColumn("x", call("k")).groupBy(sf.expr("x % 3").alias("y")).agg(sf.collect_list("id").alias("ids"))
    ),
    "window": lambda rows, call: rows.withColumn("x", call("k")).select(
        sf.collect_list("id").over(Window.partitionBy("x")).alias("ids")
    ),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_values(case: str, rows: Any, tmp_path: Path) -> None:
    """A function that gives another value each time, undeclared: a row's sources are those that Spark put together."""
    frame = CHOSEN[case](rows, sf.udf(lambda x: random.randrange(9), "bigint"))
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame.write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    told = [sorted(row[-1]) for row in outputs.read(tmp_path / "out").rows]
    prov = provspark.open((tmp_path / "store").as_uri())
    found = prov.backward(str(tmp_path / "out"), rows=range(len(told)), kinds=("data", "context")).table()
    sources: dict[int, set[int]] = {}
    for edge in lineage.lines(found):
        sources.setdefault(edge["row"], set()).add(edge["related_row"])
    assert [sorted(sources[i]) for i in range(len(told))] == told
