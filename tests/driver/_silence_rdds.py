"""Rows that were read on the driver through RDDs, SQL variables and observed metrics."""

from __future__ import annotations

from typing import Any

from _driver_scripts import Cases
from _driver_sources import ALL
from pyspark.sql import functions as sf

CASES = Cases(rows=[10], label="coarse")


@CASES(possible=ALL, reads="R")
def rdd_collect(spark: Any, people: str, out: str) -> None:
    pairs = spark.read.parquet(people).rdd.map(lambda row: (row.id, row.name)).collect()  # R
    spark.createDataFrame(pairs, "id INT, name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def rdd_reduce(spark: Any, people: str, out: str) -> None:
    longest = spark.read.parquet(people).rdd.map(lambda row: row.name).reduce(max)  # R
    spark.createDataFrame([(longest,)], "name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def rdd_take_ordered(spark: Any, people: str, out: str) -> None:
    oldest = spark.read.parquet(people).rdd.map(lambda row: (row.age, row.name)).top(2)  # R
    spark.createDataFrame(oldest, "age INT, name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def rdd_collect_as_map(spark: Any, people: str, out: str) -> None:
    names = spark.read.parquet(people).rdd.map(lambda row: (row.id, row.name)).collectAsMap()  # R
    spark.createDataFrame(sorted(names.items()), "id INT, name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def rdd_count_by_value(spark: Any, people: str, out: str) -> None:
    cities = spark.read.parquet(people).rdd.map(lambda row: row.city).countByValue()  # R
    spark.createDataFrame(sorted(cities.items()), "city STRING, n INT").write.parquet(out)


@CASES(possible=ALL, reads="R")
def json_lines_collected(spark: Any, people: str, out: str) -> None:
    import json

    lines = spark.read.parquet(people).toJSON().collect()  # R
    spark.createDataFrame([(json.loads(line)["name"],) for line in lines], "name STRING").write.parquet(out)


@CASES(data=ALL, label="coarse")
def a_frame_of_an_rdd_of_rows(spark: Any, people: str, out: str) -> None:
    pairs = spark.read.parquet(people).rdd.map(lambda row: (row.id, row.name.upper()))
    spark.createDataFrame(pairs, "id INT, name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def an_accumulator_of_names(spark: Any, people: str, out: str) -> None:
    from pyspark import AccumulatorParam

    class Names(AccumulatorParam):
        def zero(self, value: list[str]) -> list[str]:
            return []

        def addInPlace(self, a: list[str], b: list[str]) -> list[str]:
            return a + b

    names = spark.sparkContext.accumulator([], Names())
    spark.read.parquet(people).rdd.map(lambda row: names.add([row.name]) or row).count()
    found = sorted(names.value)  # R
    spark.createDataFrame([(name,) for name in found], "name STRING").write.parquet(out)


@CASES(possible=ALL, reads="AR", strict=True, label="exact")
def an_accumulator_of_ages(spark: Any, people: str, out: str) -> None:
    total = spark.sparkContext.accumulator(0)
    spark.read.parquet(people).rdd.map(lambda row: total.add(row.age) or row).count()  # A
    keys = [str(total.value)]  # R
    spark.createDataFrame([(key,) for key in keys], "key STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def an_observed_name(spark: Any, people: str, out: str, work: str) -> None:
    from pyspark.sql import Observation

    seen = Observation("seen")
    frame = spark.read.parquet(people).observe(seen, sf.max("name").alias("last"))
    frame.write.parquet(f"{work}/copy")
    last = seen.get["last"]  # R
    spark.createDataFrame([(last,)], "name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R", label="exact")
def a_variable_of_sql(spark: Any, people: str, out: str) -> None:
    spark.read.parquet(people).createOrReplaceTempView("people_of_variable")
    spark.sql("DECLARE OR REPLACE VARIABLE last STRING")
    spark.sql("SET VAR last = (SELECT max(name) FROM people_of_variable)")  # R
    spark.sql("SELECT last AS name").write.parquet(out)


@CASES(possible=ALL, reads="R", label="exact")
def execute_immediate_into_a_variable(spark: Any, people: str, out: str) -> None:
    spark.read.parquet(people).createOrReplaceTempView("people_of_immediate")
    spark.sql("DECLARE OR REPLACE VARIABLE last STRING")
    spark.sql("EXECUTE IMMEDIATE 'SELECT max(name) FROM people_of_immediate' INTO last")  # R
    spark.sql("SELECT concat(last, '!') AS name").write.parquet(out)


@CASES(possible=[10], reads="R")
def the_largest_id_of_a_chosen_row(spark: Any, people: str, out: str) -> None:
    oldest = spark.read.parquet(people).orderBy(sf.desc("age")).limit(1)
    found = oldest.agg(sf.max("id")).first()[0]  # R
    spark.createDataFrame([(found,)], "id INT").write.parquet(out)
