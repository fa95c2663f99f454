"""Scripts with operators of this family, whose operations are replayed."""

from __future__ import annotations

from _replay_scripts import Case, Frames
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf


def _narrow(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    rich = people.filter(sf.col("pay") > 3)
    doubled = rich.withColumn("pay", sf.col("pay") * 2)
    named = doubled.select("pid", sf.upper("name").alias("name"), sf.coalesce("city", sf.lit(-1)).alias("city"), "pay")
    known = named.filter("name IS NOT NULL")
    banded = known.withColumn("band", sf.when(sf.col("pay") < 10, "low").otherwise("high"))
    return [("Filter", rich), ("Project", doubled), ("Project", named), ("Filter", known), ("Project", banded)]


CASES = [
    Case("narrow", _narrow),
]
