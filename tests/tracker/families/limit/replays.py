"""Scripts with operators of this family, whose operations are replayed."""

from __future__ import annotations

from _replay_scripts import Case, Frames
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf


def _limit(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    some = people.filter("city IS NOT NULL")
    ordered = some.orderBy(sf.desc("pay"), "pid")
    return [("Filter", some), ("Sort", ordered), ("GlobalLimit", ordered.limit(7))]


CASES = [
    Case("limit", _limit),
]
