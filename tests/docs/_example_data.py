"""Makes the datasets that the examples of README and docs name, in a folder: `python _example_data.py FOLDER`.

people.csv → people → imputed → clean → left, right → report; orders and lines → joined → report; sales → log, twice.
out.csv, rates and copy are for `provspark.record`.
"""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from provspark.model.steps import StepKey
from provspark.tracker import attach

PEOPLE = 300
CITIES = ("Rome", "Oslo", "Lima")


def write(frame: Any, path: Path, mode: str = "overwrite", by: tuple[str, ...] = ()) -> None:
    frame.coalesce(1).write.mode(mode).partitionBy(*by).parquet(str(path))


def person(number: int) -> str:
    age = 20 + number * 7 % 45
    gain = "" if number % 9 == 0 else number * 13 % 1000
    sex = "Female" if number % 2 else "Male"
    consent = "no" if number % 20 == 3 else "yes"
    return f"{number},P{number},{sex},{age},{CITIES[number % 3]},{30 + number * 3 % 20},{gain},{number * 31},{consent}"


def sources(folder: Path) -> None:
    names = "customer,name,sex,age,city,hours,capital_gain,fnlwgt,consent"
    lines = [names, *(person(n) for n in range(PEOPLE)), "300,Ada,Female,36,Rome,40,100,5,yes"]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "out.csv").write_text("name\nAda\nBo\nCy\n")


def main(folder: Path) -> None:
    settings = {"spark.master": "local[2]", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    spark = SparkSession.builder.config(map=settings).getOrCreate()
    sources(folder)
    write(spark.range(3000).selectExpr("id as sale", "id % 100 as amount"), folder / "sales")
    write(spark.range(100).selectExpr("id as order", "id % 100 as customer"), folder / "orders")
    write(spark.range(300).selectExpr("id % 100 as order", "id as line", "id % 7 as price"), folder / "lines")
    for name, rows in (("rates", 1), ("copy", 3)):
        write(spark.range(rows).selectExpr("id as rate"), folder / name)
    run(spark, folder, "tuesday")
    (folder / "yesterday").write_text(datetime.now(timezone.utc).isoformat())
    write(spark.range(100).selectExpr("id as order", "id % 90 as customer"), folder / "orders")
    # Its rows come first in the report: what they were made from is there, and can be replayed.
    run(spark, folder, "monday")


def run(spark: SparkSession, folder: Path, day: str) -> None:
    def step(name: str) -> attach:
        return attach(store=str(folder / "prov"), key=StepKey(name, day, "census"))

    def read(name: str) -> Any:
        return spark.read.parquet(str(folder / name))

    with step("people"):
        people = spark.read.csv(str(folder / "people.csv"), header=True, inferSchema=True)
        write(people.withColumn("consent", sql.col("consent") == "yes"), folder / "people")
    with step("impute"):
        known = read("people").where("age > 0").na.fill(480, ["capital_gain"])
        write(known.where("hours > 0"), folder / "imputed")
    with step("clean"):
        write(read("imputed").where("hours > 30").drop("fnlwgt"), folder / "clean")
    with step("left"):
        write(read("clean").where("age < 50"), folder / "left")
    with step("right"):
        write(read("clean").where("hours > 35").select("customer", "hours"), folder / "right")
    with step("join"):
        write(read("orders").join(read("lines"), "order"), folder / "joined")
    with step("report"):
        bought = read("left").join(read("right").select("customer"), "customer").join(read("joined"), "customer")
        band = sql.concat((sql.floor(sql.col("age") / 10) * 10).cast("string"), sql.lit("s")).alias("age")
        totals = bought.groupBy("customer", band).agg(sql.sum("price").alias("total")).orderBy("customer")
        write(totals.withColumn("day", sql.lit(day)), folder / "report", "append", by=("day",))
    with step("log"):
        write(read("sales"), folder / "log", "append")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
