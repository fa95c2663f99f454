"""Scripts with operators of this family, whose operations are replayed."""

from __future__ import annotations

from _replay_scripts import Case, Frames
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf


def _cube(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    pids = sf.sort_array(sf.collect_list("pid")).alias("pids")
    cubed = people.filter("pay < 9").cube("city", "name").agg(sf.count("*").alias("n"), pids)
    return [("Filter", people.filter("pay < 9")), ("Aggregate", cubed), ("Filter", cubed.filter("n > 2"))]


CASES = [
    Case("cube", _cube),
]
