"""Scripts with operators of this family, whose operations are replayed."""

from __future__ import annotations

from _replay_scripts import Case, Frames
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf


def _groups(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    some = people.filter("pid <> 5")
    pids = sf.sort_array(sf.collect_list("pid")).alias("pids")
    grouped = some.groupBy("city").agg(sf.count("name").alias("n"), sf.round(sf.avg("pay"), 3).alias("pay"), pids)
    having = grouped.filter("n > 4")
    placed = having.withColumn("place", sf.row_number().over(Window.orderBy(sf.desc("pay"), "city")))
    best = placed.filter("place <= 3")
    return [("Filter", some), ("Aggregate", grouped), ("Filter", having), ("Window", placed), ("Filter", best)]


def _pivot(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    known = people.filter("name IS NOT NULL AND NOT isnan(pay)")
    wide = known.groupBy("name").pivot("city", [0, 1, 2]).agg(sf.sum("pay"))
    pids = known.groupBy("name").agg(sf.sort_array(sf.collect_list("pid")).alias("pids"))
    return [("Filter", known), ("Join", wide.join(pids, "name"))]


CASES = [
    Case("groups", _groups),
    Case("pivot", _pivot),
]
