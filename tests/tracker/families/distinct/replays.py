"""Scripts with operators of this family, whose operations are replayed."""

from __future__ import annotations

from _replay_scripts import Case, Frames
from pyspark.sql import DataFrame, SparkSession


def _duplicates(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    one = people.dropDuplicates(["name", "city"])
    return [("Deduplicate", one), ("Project", one.select("pid", "name"))]


def _distinct(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    one = people.select("name", "city").distinct()
    return [("Project", people.select("name", "city")), ("Distinct", one)]


CASES = [
    Case("duplicates", _duplicates, whole=True),
    Case("distinct", _distinct),
]
