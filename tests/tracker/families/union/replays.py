"""Scripts with operators of this family, whose operations are replayed."""

from __future__ import annotations

from _replay_scripts import Case, Frames
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf


def _union(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    low = people.filter("pay < 4").select("pid", "name", "words")
    both = low.unionByName(people.filter("pay > 6").select("name", "words", "pid"))
    split = both.withColumn("word", sf.explode(sf.split("words", " ")))
    return [("Union", both), ("Generate", split), ("Filter", split.filter("word <> 'b'"))]


CASES = [
    Case("union", _union),
]
