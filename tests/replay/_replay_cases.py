"""Scripts whose operations are replayed: those of each family of operators, and those with subqueries."""

from __future__ import annotations

from _replay_scripts import Case, Frames, read_sources, write_sources
from oracle.family_parts import family_parts
from pyspark.sql import DataFrame, SparkSession

__all__ = ["CASES", "Case", "read_sources", "write_sources"]


def _sql(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    people.createOrReplaceTempView("people")
    cities.createOrReplaceTempView("cities")
    above = "SELECT * FROM people WHERE pay > (SELECT avg(pay) FROM people WHERE NOT isnan(pay))"
    text = f"WITH above AS ({above}) SELECT * FROM above WHERE city IN (SELECT city FROM cities WHERE cid < 4)"
    return [("Filter", spark.sql(above)), ("Filter", spark.sql(text))]


def _correlated(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    people.createOrReplaceTempView("people")
    most = "SELECT max(q.pay) FROM people q WHERE q.city = p.city AND NOT isnan(q.pay)"
    text = f"SELECT * FROM people p WHERE pay >= ({most})"
    exists = f"SELECT * FROM ({text}) t WHERE EXISTS (SELECT 1 FROM people q WHERE q.name = t.name AND q.pid > t.pid)"
    return [("Filter", spark.sql(text)), ("Filter", spark.sql(exists))]


CASES: list[Case] = [
    *(case for each in family_parts("replays") for case in each.CASES),
    Case("sql", _sql),
    Case("correlated", _correlated),
]
