"""Ordinary scripts that write constants, settings and numbers beside rows: no row of those who refused is written."""

from __future__ import annotations

from typing import Any

from _driver_scripts import Cases
from _driver_sources import AGREED
from pyspark.sql import functions as sf

CASES = Cases(rows=[1])
ADULTS = [i for i in AGREED if i != 3]
"""Of those who agreed, all who are at least 20."""


@CASES(data=AGREED)
def a_row_of_a_run_log(spark: Any, people: str, out: str, work: str) -> None:
    from datetime import datetime, timedelta, timezone

    agreed = spark.read.parquet(people).filter("consent")
    row = ("report", datetime.now(timezone.utc) - timedelta(days=1), agreed.count())
    spark.createDataFrame([row], "job STRING, at TIMESTAMP, n BIGINT").write.mode("append").parquet(f"{work}/runs")
    agreed.write.parquet(out)


@CASES(data=AGREED)
def a_line_in_a_log_file(spark: Any, people: str, out: str, work: str) -> None:
    agreed = spark.read.parquet(people).filter("consent")
    with open(f"{work}/report.log", "a") as log:
        log.write(f"{agreed.count()} rows\n")
    agreed.write.parquet(out)


@CASES(data=AGREED, ends="R")
def names_in_a_log_file(spark: Any, people: str, out: str, work: str) -> None:
    import logging

    handler = logging.FileHandler(f"{work}/report.log")
    log = logging.getLogger("report.file")
    log.addHandler(handler)
    everybody = spark.read.parquet(people)
    log.warning("the first rows: %s", everybody.take(3))  # R
    log.removeHandler(handler)
    handler.close()
    everybody.filter("consent").write.parquet(out)


@CASES(data=AGREED)
def numbers_in_a_file_of_json(spark: Any, people: str, out: str, work: str) -> None:
    import json
    from pathlib import Path

    agreed = spark.read.parquet(people).filter("consent")
    agreed.write.parquet(out)
    oldest = agreed.agg(sf.max("age")).first()[0]
    Path(f"{work}/metrics.json").write_text(json.dumps({"rows": agreed.count(), "oldest": oldest}))


@CASES(data=AGREED)
def a_number_of_an_accumulator(spark: Any, people: str, out: str) -> None:
    minors = spark.sparkContext.accumulator(0)

    def watch(age: int) -> int:
        minors.add(int(age < 18))
        return age

    everybody = spark.read.parquet(people)
    everybody.rdd.map(lambda row: watch(row.age)).count()
    print("minors:", minors.value, minors)
    everybody.filter("consent").withColumn("seen", sf.lit(True)).write.parquet(out)


@CASES(data=AGREED)
def a_lookup_of_constants(spark: Any, people: str, out: str) -> None:
    countries = {"Rome": "Italy", "Oslo": "Norway", "Lima": "Peru"}
    everybody = spark.read.parquet(people)
    print(everybody.count())
    lookup = spark.createDataFrame(list(countries.items()), ["city", "country"])
    everybody.filter("consent").join(lookup, "city").write.parquet(out)


@CASES(data=AGREED, ends="R")
def a_lookup_of_constants_after_a_preview(spark: Any, people: str, out: str) -> None:
    countries = [("Rome", "Italy"), ("Oslo", "Norway"), ("Lima", "Peru")]
    everybody = spark.read.parquet(people)
    print(everybody.limit(5).toPandas())  # R
    lookup = spark.createDataFrame(countries, ["city", "country"])
    everybody.filter("consent").join(sf.broadcast(lookup), "city").write.parquet(out)


@CASES(data=AGREED, ends="R")
def rows_of_dates_and_decimals_after_a_preview(spark: Any, people: str, out: str) -> None:
    from datetime import date
    from decimal import Decimal

    from pyspark.sql import Row

    everybody = spark.read.parquet(people)
    print(everybody.head(5))  # R
    prices = spark.createDataFrame(
        [
            Row(city="Rome", since=date(2024, 1, 1), price=Decimal("12.50")),
            Row(city="Oslo", since=date(2024, 1, 1), price=Decimal("15.00")),
            Row(city="Lima", since=date(2024, 2, 1), price=Decimal("9.75")),
        ]
    )
    everybody.filter("consent").join(prices, "city").write.parquet(out)


@CASES(data=AGREED)
def a_manual_mean(spark: Any, people: str, out: str) -> None:
    agreed = spark.read.parquet(people).filter("consent")
    mean = agreed.agg(sf.sum("age")).first()[0] / agreed.count()
    agreed.withColumn("above", sf.col("age") - mean).write.parquet(out)


@CASES(data=AGREED)
def ages_scaled_by_mean_and_deviation(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    mean, deviation = everybody.select(sf.mean("age"), sf.stddev("age")).first()
    scaled = everybody.withColumn("scaled", (sf.col("age") - mean) / deviation)
    scaled.filter("consent").write.parquet(out)


@CASES(data=AGREED)
def bounds_by_least_and_most(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    low, high = everybody.agg(sf.min("age"), sf.max("age")).collect()[0]
    everybody.filter(sf.col("age").between(low, high) & sf.col("consent")).write.parquet(out)


@CASES(data=ADULTS, args=("20", "2024-01-31"))
def arguments_of_the_command_line(spark: Any, people: str, out: str) -> None:
    import sys

    least, day = int(sys.argv[5]), sys.argv[6]
    everybody = spark.read.parquet(people)
    print(everybody.count())
    adults = everybody.filter((sf.col("age") >= least) & sf.col("consent"))
    adults.withColumn("day", sf.lit(day).cast("date")).write.parquet(out)


@CASES(data=ADULTS, args=("--least", "20"), ends="R")
def arguments_by_argparse_after_a_preview(spark: Any, people: str, out: str) -> None:
    import argparse
    import sys

    parser = argparse.ArgumentParser()
    parser.add_argument("--least", type=int, default=18)
    options = parser.parse_args(sys.argv[5:])
    everybody = spark.read.parquet(people)
    print(everybody.take(3))  # R
    everybody.filter(f"age >= {options.least} AND consent").write.parquet(out)


@CASES(data=AGREED, ends="R")
def dates_after_a_preview(spark: Any, people: str, out: str) -> None:
    from datetime import date

    day = date(2024, 1, 31)
    everybody = spark.read.parquet(people)
    print(everybody.take(3))  # R
    agreed = everybody.filter("consent").withColumn("day", sf.lit(day))
    agreed.withColumn("month", sf.date_trunc("month", "day")).write.parquet(out)


@CASES(data=ADULTS, reads="S", ends="")
def settings_of_a_json_file(spark: Any, people: str, out: str) -> None:
    import json

    with open(f"{people}/../settings.json") as file:  # S
        settings = json.load(file)
    everybody = spark.read.parquet(people)
    print(settings["title"], everybody.count())
    everybody.filter((sf.col("age") >= settings["least"]) & sf.col("consent")).write.parquet(out)


@CASES(data=ADULTS, reads="S", ends="")
def settings_of_an_ini_file(spark: Any, people: str, out: str) -> None:
    import configparser

    settings = configparser.ConfigParser()
    settings.read(f"{people}/../settings.ini")  # S
    least = settings.getint("report", "least")
    spark.read.parquet(people).filter(f"consent AND age >= {least}").write.parquet(out)


@CASES(data=AGREED)
def a_function_after_a_count(spark: Any, people: str, out: str) -> None:
    @sf.udf("string")
    def initials(name: str) -> str:
        return name[0]

    everybody = spark.read.parquet(people)
    print(everybody.count())
    everybody.filter("consent").withColumn("initials", initials("name")).write.parquet(out)


@CASES(data=AGREED, possible=AGREED[:5], reads="R", ends="")
def a_function_after_a_preview_of_what_is_written(spark: Any, people: str, out: str) -> None:
    agreed = spark.read.parquet(people).filter("consent")
    print(agreed.limit(5).toPandas())  # R
    length = sf.udf(len, "int")
    agreed.withColumn("length", length("name")).write.parquet(out)


@CASES(data=AGREED)
def a_table_of_days_after_a_count(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    print(everybody.count())
    days = spark.range(3).select(sf.expr("date_add(DATE'2024-01-01', CAST(id AS INT))").alias("day"))
    everybody.filter("consent").crossJoin(days).write.parquet(out)


@CASES(data=AGREED, ends="R")
def an_empty_frame_with_a_schema(spark: Any, people: str, out: str) -> None:
    from pyspark.sql.types import IntegerType, StringType, StructField, StructType

    schema = StructType([StructField("id", IntegerType()), StructField("name", StringType())])
    everybody = spark.read.parquet(people)
    print(everybody.take(2))  # R
    empty = spark.createDataFrame([], schema)
    empty.unionByName(everybody.filter("consent").select("id", "name")).write.parquet(out)


@CASES(data=AGREED, ends="R")
def two_outputs_with_a_preview_between(spark: Any, people: str, out: str, work: str) -> None:
    everybody = spark.read.parquet(people)
    everybody.groupBy("city").count().write.parquet(f"{work}/cities")
    print(spark.read.parquet(f"{work}/cities").orderBy("city").collect())  # R
    everybody.filter("consent").withColumn("year", sf.lit(2024)).write.partitionBy("city").parquet(out)
