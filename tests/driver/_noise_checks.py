"""Ordinary scripts that count, look and check before they write: no row of those who refused consent is written."""

from __future__ import annotations

from typing import Any

from _driver_scripts import Cases
from _driver_sources import AGREED
from pyspark.sql import functions as sf

CASES = Cases(rows=[1])


@CASES(data=AGREED)
def a_count_in_a_log_line(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    agreed = everybody.filter("consent")
    print(f"{agreed.count()} of {everybody.count()} people")
    agreed.write.parquet(out)


@CASES(data=AGREED)
def a_count_by_logging(spark: Any, people: str, out: str) -> None:
    import logging

    log = logging.getLogger("report")
    everybody = spark.read.parquet(people)
    log.info("read %d rows, %d of them distinct", everybody.count(), everybody.distinct().count())
    everybody.filter("consent").write.parquet(out)


@CASES(data=AGREED)
def a_guard_by_is_empty(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    if everybody.isEmpty():
        raise SystemExit("nobody is there")
    everybody.filter("consent").write.parquet(out)


@CASES(data=AGREED, ends="R", rows=[1])
def a_guard_by_take(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people).orderBy(sf.desc("id"))
    if not everybody.filter("NOT consent").take(4):  # R
        raise SystemExit("nobody is there")
    everybody.filter("consent").write.parquet(out)


@CASES(data=AGREED)
def a_guard_by_head_and_by_first(spark: Any, people: str, out: str) -> None:
    agreed = spark.read.parquet(people).filter("consent")
    if len(agreed.head(1)) == 0 or agreed.first() is None:  # R
        raise SystemExit("nobody is there")
    agreed.write.parquet(out)


@CASES(data=AGREED, ends="R")
def a_preview_by_limit_and_to_pandas(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    print(everybody.limit(5).toPandas())  # R
    everybody.filter("consent").write.parquet(out)


@CASES(data=AGREED)
def show_schema_and_plan(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    everybody.show()
    everybody.printSchema()
    everybody.explain()
    print(everybody.columns, everybody.dtypes, everybody.schema.simpleString())
    everybody.filter("consent").write.parquet(out)


@CASES(data=AGREED)
def describe_and_summary_shown(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    everybody.describe().show()
    everybody.select("age").summary("min", "50%", "max").show()
    everybody.filter("consent").write.parquet(out)


@CASES(data=AGREED)
def asserts_about_quality(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    assert everybody.filter("id IS NULL").count() == 0, "people without an id"
    assert everybody.select("id").distinct().count() == everybody.count(), "an id twice"
    assert everybody.agg(sf.min("age")).first()[0] > 0, "an age of zero"
    everybody.filter("consent").write.parquet(out)


@CASES(data=AGREED)
def nulls_counted_in_each_column(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    total = everybody.count()
    for column in everybody.columns:
        missing = everybody.filter(sf.col(column).isNull()).count()
        print(f"{column}: {missing / total:.0%} missing")
    everybody.filter("consent").write.parquet(out)


@CASES(data=AGREED)
def several_numbers_in_one_row(spark: Any, people: str, out: str) -> None:
    row = (
        spark.read.parquet(people)
        .agg(sf.count("*").alias("n"), sf.countDistinct("city"), sf.sum("age"), sf.avg("age"), sf.max("age"))
        .first()
    )
    print(row.n, row[1:])
    spark.read.parquet(people).filter("consent").write.parquet(out)


@CASES(data=AGREED)
def partitions_by_a_count(spark: Any, people: str, out: str) -> None:
    agreed = spark.read.parquet(people).filter("consent")
    agreed.repartition(max(1, agreed.count() // 4)).write.parquet(out)


@CASES(data=AGREED)
def a_cache_that_a_count_fills(spark: Any, people: str, out: str) -> None:
    agreed = spark.read.parquet(people).filter("consent").cache()
    print(agreed.count())
    agreed.write.parquet(out)
    agreed.unpersist()


@CASES(data=AGREED)
def the_output_counted_after_the_write(spark: Any, people: str, out: str) -> None:
    agreed = spark.read.parquet(people).filter("consent")
    agreed.write.parquet(out)
    assert spark.read.parquet(out).count() == agreed.count()


@CASES(data=AGREED)
def groups_collected_for_a_log(spark: Any, people: str, out: str) -> None:
    agreed = spark.read.parquet(people).filter("consent")
    for row in agreed.groupBy("city").count().orderBy("city").collect():  # R
        print(f"{row['city']}: {row['count']}")
    agreed.write.parquet(out)


@CASES(data=AGREED, ends="R")
def everything_collected_for_a_log(spark: Any, people: str, out: str) -> None:
    everybody = spark.read.parquet(people)
    for row in everybody.select("name").collect():  # R
        print(row.name)
    everybody.filter("consent").select("id", "name").write.parquet(out)


@CASES(data=AGREED)
def an_observed_count(spark: Any, people: str, out: str) -> None:
    from pyspark.sql import Observation

    seen = Observation("written")
    spark.read.parquet(people).filter("consent").observe(seen, sf.count(sf.lit(1)).alias("n")).write.parquet(out)
    print(seen.get["n"])


@CASES(data=AGREED)
def number_of_partitions_and_files(spark: Any, people: str, out: str) -> None:
    import os

    everybody = spark.read.parquet(people)
    print(everybody.rdd.getNumPartitions(), sorted(os.listdir(people)), os.path.exists(out))
    everybody.filter("consent").coalesce(1).write.parquet(out)


@CASES(data=AGREED)
def a_view_and_the_catalogue(spark: Any, people: str, out: str) -> None:
    spark.read.parquet(people).createOrReplaceTempView("people_of_catalogue")
    assert spark.catalog.tableExists("people_of_catalogue")
    print(spark.sql("SELECT count(*) FROM people_of_catalogue").first()[0])
    spark.sql("SHOW TABLES").show()
    spark.sql("SELECT * FROM people_of_catalogue WHERE consent").write.parquet(out)


@CASES(data=AGREED)
def a_sample_shown_by_pandas_on_spark(spark: Any, people: str, out: str) -> None:
    agreed = spark.read.parquet(people).filter("consent")
    print(agreed.pandas_api().head(3))  # R
    agreed.write.parquet(out)
