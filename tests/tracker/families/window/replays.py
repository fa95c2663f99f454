"""Scripts with operators of this family, whose operations are replayed."""

from __future__ import annotations

from _replay_scripts import Case, Frames
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf


def _window(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    by_city = Window.partitionBy("city").orderBy("pay", "pid")
    ranked = people.withColumn("rank", sf.rank().over(by_city)).withColumn("before", sf.lag("pay").over(by_city))
    first = ranked.filter("rank <= 2")
    return [("Window", people.withColumn("rank", sf.rank().over(by_city))), ("Window", ranked), ("Filter", first)]


CASES = [
    Case("window", _window),
]
