"""Scripts whose operations are replayed: each a list of the frames that the script makes, the last of which it writes.

Every row carries its own number, or, behind a group, the numbers of all that it came from: `pid` and `pids` of people,
`cid` of cities. So plain Spark tells by itself which rows of each frame a source row is in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

Frames = list[tuple[str, DataFrame]]
"""The class of the operation that made the frame, and the frame."""


@dataclass(frozen=True)
class Case:
    """One script."""

    name: str
    make: Callable[[SparkSession, DataFrame, DataFrame], Frames]
    whole: bool = False
    """It has an operation whose choice its text does not settle."""


def write_sources(spark: SparkSession, root: Path) -> None:
    """Write people (Parquet, two files), and cities (CSV)."""
    people = [
        (
            i,
            None if i % 9 == 4 else f"name {i % 6}",
            None if i % 7 == 3 else i % 5,
            float("nan") if i % 11 == 6 else (i * 37 % 50) / 4,
            " ".join("abc"[: i % 4]) or None,
        )
        for i in range(36)
    ]
    schema = "pid int, name string, city int, pay double, words string"
    spark.createDataFrame(people[:20], schema).coalesce(1).write.parquet(str(root / "people"))
    spark.createDataFrame(people[20:], schema).coalesce(1).write.mode("append").parquet(str(root / "people"))
    cities = spark.createDataFrame([(i, i % 6 + 1, f"city {i}") for i in range(7)], "cid int, city int, title string")
    cities.coalesce(1).write.option("header", True).csv(str(root / "cities"))


def read_sources(spark: SparkSession, root: Path) -> tuple[DataFrame, DataFrame]:
    """Read them."""
    cities = spark.read.schema("cid int, city int, title string").option("header", True).csv(str(root / "cities"))
    return spark.read.parquet(str(root / "people")), cities


def _narrow(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    rich = people.filter(sf.col("pay") > 3)
    doubled = rich.withColumn("pay", sf.col("pay") * 2)
    named = doubled.select("pid", sf.upper("name").alias("name"), sf.coalesce("city", sf.lit(-1)).alias("city"), "pay")
    known = named.filter("name IS NOT NULL")
    banded = known.withColumn("band", sf.when(sf.col("pay") < 10, "low").otherwise("high"))
    return [("Filter", rich), ("Project", doubled), ("Project", named), ("Filter", known), ("Project", banded)]


def _join(how: str) -> Callable[[SparkSession, DataFrame, DataFrame], Frames]:
    def make(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
        some = people.filter("pay < 9")
        here = cities.filter("cid > 1")
        joined = some.join(here, some["city"] == here["city"], how)
        kept = ["pid", "name", "pay"] if "semi" in how or "anti" in how else ["pid", "name", "pay", "cid", "title"]
        return [("Filter", some), ("Join", joined.select(*kept)), ("Project", joined.select(*kept))]

    return make


def _groups(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    some = people.filter("pid <> 5")
    pids = sf.sort_array(sf.collect_list("pid")).alias("pids")
    grouped = some.groupBy("city").agg(sf.count("name").alias("n"), sf.round(sf.avg("pay"), 3).alias("pay"), pids)
    having = grouped.filter("n > 4")
    placed = having.withColumn("place", sf.row_number().over(Window.orderBy(sf.desc("pay"), "city")))
    best = placed.filter("place <= 3")
    return [("Filter", some), ("Aggregate", grouped), ("Filter", having), ("Window", placed), ("Filter", best)]


def _window(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    by_city = Window.partitionBy("city").orderBy("pay", "pid")
    ranked = people.withColumn("rank", sf.rank().over(by_city)).withColumn("before", sf.lag("pay").over(by_city))
    first = ranked.filter("rank <= 2")
    return [("Window", people.withColumn("rank", sf.rank().over(by_city))), ("Window", ranked), ("Filter", first)]


def _duplicates(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    one = people.dropDuplicates(["name", "city"])
    return [("Deduplicate", one), ("Project", one.select("pid", "name"))]


def _limit(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    some = people.filter("city IS NOT NULL")
    ordered = some.orderBy(sf.desc("pay"), "pid")
    return [("Filter", some), ("Sort", ordered), ("GlobalLimit", ordered.limit(7))]


def _union(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    low = people.filter("pay < 4").select("pid", "name", "words")
    both = low.unionByName(people.filter("pay > 6").select("name", "words", "pid"))
    split = both.withColumn("word", sf.explode(sf.split("words", " ")))
    return [("Union", both), ("Generate", split), ("Filter", split.filter("word <> 'b'"))]


def _pivot(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    known = people.filter("name IS NOT NULL AND NOT isnan(pay)")
    wide = known.groupBy("name").pivot("city", [0, 1, 2]).agg(sf.sum("pay"))
    pids = known.groupBy("name").agg(sf.sort_array(sf.collect_list("pid")).alias("pids"))
    return [("Filter", known), ("Join", wide.join(pids, "name"))]


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


def _distinct(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    one = people.select("name", "city").distinct()
    return [("Project", people.select("name", "city")), ("Distinct", one)]


def _sets(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    a, b = people.filter("pay < 8"), people.filter("pay > 3")
    both = a.intersect(b)
    left = both.subtract(people.filter("city = 1"))
    return [("Filter", a), ("Intersect", both), ("Except", left)]


def _cube(spark: SparkSession, people: DataFrame, cities: DataFrame) -> Frames:
    pids = sf.sort_array(sf.collect_list("pid")).alias("pids")
    cubed = people.filter("pay < 9").cube("city", "name").agg(sf.count("*").alias("n"), pids)
    return [("Filter", people.filter("pay < 9")), ("Aggregate", cubed), ("Filter", cubed.filter("n > 2"))]


CASES = [
    Case("narrow", _narrow),
    *(Case(how, _join(how)) for how in ("inner", "left", "right", "full", "left_semi", "left_anti")),
    Case("groups", _groups),
    Case("window", _window),
    Case("duplicates", _duplicates, whole=True),
    Case("limit", _limit),
    Case("union", _union),
    Case("pivot", _pivot),
    Case("sql", _sql),
    Case("correlated", _correlated),
    Case("distinct", _distinct),
    Case("sets", _sets),
    Case("cube", _cube),
]
