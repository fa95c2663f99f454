"""Scripts with operators of this family, whose operations are replayed."""

from __future__ import annotations

from _replay_scripts import Case, Frames
from pyspark.sql import DataFrame, SparkSession


def _sets(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    a, b = people.filter("pay < 8"), people.filter("pay > 3")
    both = a.intersect(b)
    left = both.subtract(people.filter("city = 1"))
    return [("Filter", a), ("Intersect", both), ("Except", left)]


CASES = [
    Case("sets", _sets),
]
