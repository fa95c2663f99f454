"""Scripts whose operations are replayed: each a list of the frames that the script makes, the last of which it writes.

Every row carries its own number, or, behind a group, the numbers of all that it came from: `pid` and `pids` of people,
`cid` of cities. So plain Spark tells by itself which rows of each frame a source row is in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

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
