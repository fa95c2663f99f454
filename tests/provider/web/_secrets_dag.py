"""A DAG of real Spark steps over masked columns, with each data set's masked and open columns listed by hand."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from provspark.model.steps import StepKey
from provspark.tracker import attach

MASKS = "ssn, salary"
CEILING, LEAST, BAND = 5_000_011, 1_000_123, 3_000_017
"""Numbers that scripts compare salaries with. Only texts of operations contain the last two."""
MISSING = "ZZQX-VVKJ-WWXQ"
"""A Social Security number that only a filter contains: no row has it."""
CITIES = ("Rome", "Oslo", "Lima")
_LETTERS = "QXZJKVW"
"""No English word and no hexadecimal id has four of them in a row."""


@dataclass(frozen=True)
class Person:
    """A row of the source."""

    id: int
    city: str
    ssn: str
    salary: int


@dataclass
class World:
    """What a DAG left: folders by name, columns by folder, and numbers of rows that plain Spark counts."""

    root: Path
    people: list[Person]
    masked: dict[str, list[str]] = field(default_factory=dict)
    """Columns that no answer may contain values of."""
    open: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Rows of each data set as plain Spark reads them: of all versions, those deleted too."""
    last: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Those of the versions whose files are all there."""

    @property
    def store(self) -> str:
        return str(self.root / "prov")

    def path(self, name: str) -> str:
        return str(self.root / name)


def make_people(seed: int, count: int = 12) -> list[Person]:
    """Return people whose numbers occur nowhere else. One number contains what URLs, JSON and XML escape."""
    random_ = random.Random(seed)
    found = []
    for number in range(count):
        ssn = "-".join("".join(random_.choice(_LETTERS) for _ in range(4)) for _ in range(3))
        ssn = ssn if number != 1 else ssn.replace("-", '&"é/')
        salary = 2_000_000 + seed % 3 * 450_000 + 397_000 * number + random_.randrange(1001, 9999)
        found.append(Person(number, CITIES[number % 3], ssn, salary))
    return found


def build(spark: SparkSession, root: Path, seed: int = 20) -> World:
    """Run the whole DAG."""
    world = World(root, make_people(seed))
    _sources(spark, world)
    for step in (_clean, _by_ssn, _derive, _count, _join, _pivot, _texts, _log, _snapshots, _opaque, _after, _open):
        step(spark, world)
    _broken(world)
    _one_person(spark, world)
    _delete(world)
    return world


def build_quiet(spark: SparkSession, root: Path, seed: int) -> World:
    """Run the steps in which no filter, group, join or partition reads a masked column."""
    world = World(root, make_people(seed))
    _sources(spark, world)
    for step in (_derive, _count, _pivot, _texts, _opaque, _after, _open):
        step(spark, world)
    return world


@contextmanager
def _step(world: World, dag: str, task: str) -> Iterator[None]:
    key = StepKey(task, "r1", dag)
    with attach(store=world.store, key=key, profile=True):
        yield


def _sources(spark: SparkSession, world: World) -> None:
    """Write people (nested), badges and cities, without capture."""
    rows = [
        (
            p.id,
            p.city,
            p.ssn,
            p.salary,
            (p.ssn, 20 + p.id),
            [(f"job {p.id}", p.salary + 1)],
            {"main": (p.ssn, p.id)},
        )
        for p in world.people
    ]
    schema = (
        "id int, city string, ssn string, salary bigint, person struct<ssn: string, age: int>, "
        "jobs array<struct<title: string, salary: bigint>>, papers map<string, struct<ssn: string, page: int>>"
    )
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(world.path("raw"))
    badges = [(p.ssn, f"badge {p.id}", f"floor {p.id % 4}") for p in world.people]
    spark.createDataFrame(badges, "ssn string, badge string, floor string").coalesce(1).write.option("escape", '"').csv(
        world.path("badges"), header=True
    )
    cities = spark.createDataFrame(
        [(c, f"land {i}", i * 11) for i, c in enumerate(CITIES)], "city string, land string, zone int"
    )
    cities.coalesce(1).write.parquet(world.path("cities"))
    buckets = spark.createDataFrame([(i, f"colour {i % 7}") for i in range(10)], "number bigint, colour string")
    buckets.coalesce(1).write.parquet(world.path("buckets"))
    _note(buckets, world, "buckets", "number colour")
    _note(spark.read.parquet(world.path("raw")), world, "raw", "id city")
    _note(_badges(spark, world), world, "badges", "badge floor")
    _note(spark.read.parquet(world.path("cities")), world, "cities", "city land zone")


def _badges(spark: SparkSession, world: World) -> DataFrame:
    return spark.read.schema("ssn string, badge string, floor string").csv(
        world.path("badges"), header=True, escape='"'
    )


def _note(frame: DataFrame, world: World, name: str, open_columns: str) -> None:
    """Keep a data set's rows; all columns that are not listed are masked."""
    world.open[name] = open_columns.split()
    world.masked[name] = [c for c in frame.columns if c not in world.open[name]]
    world.last[name] = [row.asDict(recursive=True) for row in frame.collect()]
    world.values.setdefault(name, []).extend(world.last[name])


def _clean(spark: SparkSession, world: World) -> None:
    with _step(world, "intake", "clean"):
        raw = spark.read.parquet(world.path("raw"))
        known = [p.ssn.replace("'", "\\'") for p in world.people[:10]]
        listed = ", ".join(f"'{ssn}'" for ssn in [*known, MISSING])
        kept = raw.filter(f"person.ssn IN ({listed})").filter(sf.col("salary") > LEAST)
        kept = kept.withColumn("title", sf.upper("city"))
        people = kept.select(
            *("id", "city", "title", "ssn", "salary"),
            sf.col("person.ssn").alias("identifier"),
            sf.expr("jobs[0].salary").alias("wage"),
            sf.expr("papers['main'].ssn").alias("paper"),
        )
        people.coalesce(1).write.parquet(world.path("people"))
    _note(spark.read.parquet(world.path("people")), world, "people", "id city title")


def _by_ssn(spark: SparkSession, world: World) -> None:
    with _step(world, "intake", "partition"):
        people = spark.read.parquet(world.path("people"))
        people.select("id", "city", "ssn").coalesce(1).write.partitionBy("ssn").parquet(world.path("by_ssn"))
    _note(spark.read.parquet(world.path("by_ssn")), world, "by_ssn", "id city")


def _people(spark: SparkSession, world: World) -> DataFrame:
    """The cleaned people, or, where no filter should read them, the source."""
    name = "people" if "people" in world.open else "raw"
    return spark.read.parquet(world.path(name))


def _derive(spark: SparkSession, world: World) -> None:
    with _step(world, "pay", "derive"):
        people = _people(spark, world)
        by_city = Window.partitionBy("city").orderBy("id")
        derived = people.select(
            *("id", "city", sf.lower("city").alias("place")),
            (sf.col("salary") * 0.1).alias("bonus"),
            sf.least("salary", sf.lit(CEILING)).alias("capped"),
            sf.sha2("ssn", 256).alias("long_hash"),
            sf.md5("ssn").alias("hash"),
            sf.substring("ssn", 1, 6).alias("head"),
            sf.col("ssn").alias("who"),
            sf.col("salary").cast("string").alias("text"),
            sf.lag("salary").over(by_city).alias("before"),
            sf.first("ssn").over(by_city).alias("first_one"),
            sf.row_number().over(by_city).alias("place_in_city"),
        )
        derived = derived.withColumn("bonus", sf.greatest("bonus", sf.lit(300_007.0)))
        derived = derived.withColumn("band", sf.when(sf.col("capped") > BAND, "QQHIGHXX").otherwise("QQLOWZZ"))
        derived.coalesce(1).write.orc(world.path("derived"))
    _note(spark.read.orc(world.path("derived")), world, "derived", "id city place place_in_city")


def _count(spark: SparkSession, world: World) -> None:
    with _step(world, "pay", "count"):
        people = _people(spark, world)
        stats = people.groupBy("city").agg(
            sf.count("*").alias("n"),
            sf.max("ssn").alias("most"),
            (sf.count_distinct("ssn") * 1_000_003).alias("different"),
            sf.sum("salary").alias("total"),
            sf.collect_list("ssn").alias("all_of_them"),
        )
        stats.coalesce(1).write.json(world.path("stats"))
    schema = "city string, n bigint, most string, different bigint, total bigint, all_of_them array<string>"
    _note(spark.read.schema(schema).json(world.path("stats")), world, "stats", "city n")


def _join(spark: SparkSession, world: World) -> None:
    with _step(world, "pay", "join"):
        people, badges = _people(spark, world), _badges(spark, world)
        people.select("id", "city", "ssn").join(badges, "ssn").select("id", "city", "badge", "floor").coalesce(
            1
        ).write.parquet(world.path("joined"))
        wages = people.select("id", sf.col("salary").alias("earned"))
        joined = spark.read.parquet(world.path("raw")).select("id", "city").join(wages, "id")
        joined.coalesce(1).write.parquet(world.path("brought"))
        # Of what is joined, only the column that equals the key tells the key's value.
        digits = people.select("id", "city", (sf.col("salary") % 10).alias("digit"))
        buckets = spark.read.parquet(world.path("buckets"))
        keyed = digits.join(buckets, digits["digit"] == buckets["number"]).select("id", "city", "number", "colour")
        keyed.coalesce(1).write.parquet(world.path("keyed"))
    _note(spark.read.parquet(world.path("joined")), world, "joined", "id city badge floor")
    _note(spark.read.parquet(world.path("brought")), world, "brought", "id city")
    _note(spark.read.parquet(world.path("keyed")), world, "keyed", "id city colour")


def _pivot(spark: SparkSession, world: World) -> None:
    with _step(world, "pay", "pivot"):
        people = _people(spark, world).withColumn("parity", sf.col("id") % 2)
        wide = people.groupBy("parity").pivot("city", list(CITIES)).agg(sf.sum("salary"))
        wide.coalesce(1).write.parquet(world.path("wide"))
    _note(spark.read.parquet(world.path("wide")), world, "wide", "parity")


def _texts(spark: SparkSession, world: World) -> None:
    with _step(world, "pay", "texts"):
        derived = spark.read.orc(world.path("derived"))
        texts = derived.select("id", "place", sf.concat(sf.lit("no. "), "who").alias("number"), "text")
        texts.coalesce(1).write.option("escape", '"').csv(world.path("texts"), header=True)
    schema = "id int, place string, number string, text string"
    frame = spark.read.schema(schema).csv(world.path("texts"), header=True, escape='"')
    _note(frame, world, "texts", "id place")


def _log(spark: SparkSession, world: World) -> None:
    """Append twice."""
    for number, condition in enumerate(("id < 4", "id >= 4")):
        with _step(world, "pay", f"append_{number}"):
            some = _people(spark, world).filter(condition).select("id", "city", sf.reverse("ssn").alias("turned"))
            some.coalesce(1).write.mode("append").parquet(world.path("log"))
    _note(spark.read.parquet(world.path("log")), world, "log", "id city")


def _snapshots(spark: SparkSession, world: World) -> None:
    """Write, read and overwrite a data set: the files of its first version are gone."""
    for number, condition in enumerate(("id < 5", "id >= 3")):
        with _step(world, "pay", f"snapshot_{number}"):
            some = _people(spark, world).filter(condition).select("id", "city", (sf.col("salary") * 3).alias("triple"))
            some.coalesce(1).write.mode("overwrite").parquet(world.path("snapshot"))
        _note(spark.read.parquet(world.path("snapshot")), world, "snapshot", "id city")
        with _step(world, "audit", f"count_{number}"):
            taken = spark.read.parquet(world.path("snapshot"))
            taken.groupBy("city").agg(sf.max("triple").alias("top")).coalesce(1).write.mode("overwrite").parquet(
                world.path("tops")
            )
        _note(spark.read.parquet(world.path("tops")), world, "tops", "city")


def _opaque(spark: SparkSession, world: World) -> None:
    """Run a function whose columns have no known sources, and a query that capture refuses."""

    def sealed(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            yield pd.DataFrame({"number": batch["id"] + 70, "tag": "T" + batch["ssn"], "pay": batch["salary"] + 5})

    with _step(world, "pay", "opaque"):
        people = _people(spark, world).select("id", "ssn", "salary")
        people.mapInPandas(sealed, "number int, tag string, pay bigint").coalesce(1).write.parquet(world.path("opaque"))
    _note(spark.read.parquet(world.path("opaque")), world, "opaque", "")
    with _step(world, "pay", "refused"):
        _people(spark, world).createOrReplaceTempView("p")
        query = "SELECT id AS number, ssn AS token FROM p WHERE (id IN (SELECT id + 100 FROM p)) = false"
        spark.sql(query).coalesce(1).write.parquet(world.path("refused"))
    spark.catalog.dropTempView("p")
    _note(spark.read.parquet(world.path("refused")), world, "refused", "")


def _after(spark: SparkSession, world: World) -> None:
    """Read what steps of another DAG derived."""
    with _step(world, "audit", "after"):
        opaque = spark.read.parquet(world.path("opaque"))
        opaque.select(sf.col("tag").alias("label"), "pay").coalesce(1).write.parquet(world.path("after"))
    _note(spark.read.parquet(world.path("after")), world, "after", "")
    with _step(world, "audit", "report"):
        derived = spark.read.orc(world.path("derived"))
        report = derived.groupBy("place").agg(sf.max("bonus").alias("high"), sf.min("who").alias("low"))
        report.coalesce(1).write.parquet(world.path("report"))
    _note(spark.read.parquet(world.path("report")), world, "report", "place")
    with _step(world, "audit", "tokens"):
        tokens = spark.read.parquet(world.path("refused")).select(sf.col("token").alias("again"))
        tokens.coalesce(1).write.parquet(world.path("tokens"))
    _note(spark.read.parquet(world.path("tokens")), world, "tokens", "")


def _open(spark: SparkSession, world: World) -> None:
    with _step(world, "town", "zones"):
        cities = spark.read.parquet(world.path("cities")).filter("zone > 5")
        cities.withColumn("wide_zone", sf.col("zone") * 2).drop("zone").coalesce(1).write.parquet(world.path("zones"))
    _note(spark.read.parquet(world.path("zones")), world, "zones", "city land wide_zone")


def _broken(world: World) -> None:
    """End a step with an error that contains a value."""
    with suppress(ValueError), _step(world, "pay", "broken"):
        raise ValueError(f"two rows for {world.people[0].ssn}: salary {world.people[0].salary}")


def _one_person(spark: SparkSession, world: World) -> None:
    """Read a partition by its path, and write to a path that contains a value."""
    ssn = world.people[2].ssn
    with _step(world, "intake", "one"):
        one = spark.read.parquet(world.path(f"by_ssn/ssn={ssn}"))
        one.coalesce(1).write.parquet(world.path(f"cases/ssn={ssn}"))
    _note(spark.read.parquet(world.path(f"cases/ssn={ssn}")), world, f"cases/ssn={ssn}", "id city")


def _delete(world: World) -> None:
    """Delete a data set, and a file of a partition."""
    shutil.rmtree(world.root / "report")
    gone = world.root / "by_ssn" / f"ssn={world.people[4].ssn}"
    shutil.rmtree(gone)
    del world.last["report"], world.last["by_ssn"]
