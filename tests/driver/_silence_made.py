"""Rows that were read on the driver and handed to Spark again as made rows."""

from __future__ import annotations

from typing import Any

from _driver_scripts import Cases
from _driver_sources import ALL, OLD
from pyspark.sql import functions as sf

CASES = Cases(rows=[10], label="coarse")


@CASES(possible=OLD, reads="R")
def collect_then_create(spark: Any, people: str, out: str) -> None:
    rows = spark.read.parquet(people).filter("age >= 40").collect()  # R
    spark.createDataFrame([(row.id, row.name.upper()) for row in rows], "id INT, name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def to_pandas_filtered_by_pandas(spark: Any, people: str, out: str) -> None:
    p = spark.read.parquet(people).toPandas()  # R
    p = p[p.age % 2 == 1]
    spark.createDataFrame(p).write.parquet(out)


@CASES(possible=OLD, reads="R")
def to_arrow_then_create(spark: Any, people: str, out: str) -> None:
    table = spark.read.parquet(people).filter("age >= 40").toArrow()  # R
    spark.createDataFrame(table.select(["id", "name"])).write.parquet(out)


@CASES(possible=[4, 6, 10], reads="R")
def take_then_parallelize(spark: Any, people: str, out: str) -> None:
    oldest = spark.read.parquet(people).orderBy(sf.desc("age")).take(3)  # R
    pairs = spark.sparkContext.parallelize([(row["id"], row["name"]) for row in oldest], 1)
    pairs.toDF("id INT, name STRING").write.parquet(out)


@CASES(possible=[6, 10], reads="R")
def head_then_values_in_sql(spark: Any, people: str, out: str) -> None:
    oldest = spark.read.parquet(people).orderBy(sf.desc("age")).head(2)  # R
    values = ", ".join(f"({row.id}, '{row.name}')" for row in oldest)
    spark.sql(f"SELECT * FROM VALUES {values} AS t(id, name)").write.parquet(out)


@CASES(possible=[10], reads="R")
def first_then_row(spark: Any, people: str, out: str) -> None:
    from pyspark.sql import Row

    oldest = spark.read.parquet(people).orderBy(sf.desc("age")).first()  # R
    spark.createDataFrame([Row(name=oldest.name, age=oldest.age)]).write.parquet(out)


@CASES(possible=[10, 11], reads="R")
def tail_then_create(spark: Any, people: str, out: str) -> None:
    last = spark.read.parquet(people).tail(2)  # R
    spark.createDataFrame(last).write.parquet(out)


@CASES(possible=ALL, reads="R")
def a_loop_over_to_local_iterator(spark: Any, people: str, out: str) -> None:
    kept = []
    for row in spark.read.parquet(people).toLocalIterator():  # R
        if row.city == "Oslo":
            kept.append((row.id, row.name))
    spark.createDataFrame(kept, "id INT, name STRING").write.parquet(out)


@CASES(possible=[0, 1], reads="R", rows=[1])
def to_local_iterator_left_after_two_rows(spark: Any, people: str, out: str) -> None:
    rows = spark.read.parquet(people).toLocalIterator()  # R
    pair = [next(rows), next(rows)]
    spark.createDataFrame([(row.name,) for row in pair], "name STRING").write.parquet(out)


@CASES(possible=range(5), reads="R", rows=[4])
def limit_to_pandas_then_create(spark: Any, people: str, out: str) -> None:
    some = spark.read.parquet(people).limit(5).toPandas()  # R
    spark.createDataFrame(some[["id", "age"]]).write.parquet(out)


@CASES(possible=ALL, reads="R")
def groups_collected(spark: Any, people: str, out: str) -> None:
    groups = spark.read.parquet(people).groupBy("city").agg(sf.max("age").alias("most")).collect()  # R
    spark.createDataFrame([(g.city, g.most) for g in groups], "city STRING, most INT").write.parquet(out)


@CASES(possible=ALL, reads="R")
def collect_list_of_names(spark: Any, people: str, out: str) -> None:
    names = spark.read.parquet(people).agg(sf.sort_array(sf.collect_list("name"))).first()[0]  # R
    spark.createDataFrame([(name,) for name in names], "name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def most_of_a_text(spark: Any, people: str, out: str) -> None:
    last = spark.read.parquet(people).agg(sf.max("name")).collect()[0][0]  # R
    spark.createDataFrame([(last,)], "name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def approx_quantile(spark: Any, people: str, out: str) -> None:
    quartiles = spark.read.parquet(people).approxQuantile("age", [0.25, 0.75], 0.0)  # R
    spark.createDataFrame([(q,) for q in quartiles], "q DOUBLE").write.parquet(out)


@CASES(possible=ALL, reads="R")
def frequent_items(spark: Any, people: str, out: str) -> None:
    frequent = spark.read.parquet(people).stat.freqItems(["city"], 0.3).collect()  # R
    spark.createDataFrame([(c,) for c in sorted(frequent[0][0])], "city STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def summary_collected(spark: Any, people: str, out: str) -> None:
    lines = spark.read.parquet(people).select("name", "age").summary("min", "max").collect()  # R
    spark.createDataFrame(lines).write.parquet(out)


@CASES(possible=ALL, reads="R", strict=True, label="exact")
def an_average_where_numbers_count(spark: Any, people: str, out: str) -> None:
    mean = spark.read.parquet(people).agg(sf.avg("age")).first()[0]  # R
    spark.createDataFrame([(mean,)], "mean DOUBLE").write.parquet(out)


@CASES(possible=OLD, reads="R")
def a_range_as_long_as_what_was_read(spark: Any, people: str, out: str) -> None:
    rows = spark.read.parquet(people).filter("age >= 40").collect()  # R
    spark.range(len(rows)).write.parquet(out)


@CASES(possible=OLD, reads="R")
def rows_read_from_a_cached_frame(spark: Any, people: str, out: str) -> None:
    old = spark.read.parquet(people).filter("age >= 40").cache()
    names = [row["name"] for row in old.collect()]  # R
    spark.createDataFrame([(n,) for n in names], "name STRING").write.parquet(out)
    old.unpersist()


@CASES(possible=OLD, reads="R")
def rows_read_in_threads(spark: Any, people: str, out: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def names_in(city: str) -> list[str]:
        old = spark.read.parquet(people).filter("age >= 40")
        return [row.name for row in old.filter(sf.col("city") == city).collect()]  # R

    with ThreadPoolExecutor(2) as pool:
        names = [name for some in pool.map(names_in, ["Rome", "Oslo", "Lima"]) for name in some]
    spark.createDataFrame([(name,) for name in names], "name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R")
def text_of_show(spark: Any, people: str, out: str) -> None:
    import io
    from contextlib import redirect_stdout

    text = io.StringIO()
    with redirect_stdout(text):
        spark.read.parquet(people).select("name").show(50)  # R
    names = [line.strip("| ") for line in text.getvalue().splitlines()[3:-2]]
    spark.createDataFrame([(name,) for name in names], "name STRING").write.parquet(out)
