"""Scripts with operators of this family, whose operations are replayed."""

from __future__ import annotations

from collections.abc import Callable

from _replay_scripts import Case, Frames
from pyspark.sql import DataFrame, SparkSession


def _join(how: str) -> Callable[[SparkSession, DataFrame, DataFrame], Frames]:
    def make(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
        some = people.filter("pay < 9")
        here = cities.filter("cid > 1")
        joined = some.join(here, some["city"] == here["city"], how)
        kept = ["pid", "name", "pay"] if "semi" in how or "anti" in how else ["pid", "name", "pay", "cid", "title"]
        return [("Filter", some), ("Join", joined.select(*kept)), ("Project", joined.select(*kept))]

    return make


CASES = [
    *(Case(how, _join(how)) for how in ("inner", "left", "right", "full", "left_semi", "left_anti")),
]
