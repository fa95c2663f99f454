"""Values that were read on the driver and came back within a plan: literals, SQL text, Python functions."""

from __future__ import annotations

from typing import Any

from _driver_scripts import Cases
from _driver_sources import ALL, OLD
from pyspark.sql import functions as sf

CASES = Cases(rows=[10])


@CASES(possible=OLD, reads="R")
def keys_in_isin(spark: Any, people: str, visits: str, out: str) -> None:
    keys = [row.id for row in spark.read.parquet(people).filter("age >= 40").collect()]  # R
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.filter(sf.col("person").isin(keys)).write.parquet(out)


@CASES(possible=[10], reads="R")
def a_literal_column(spark: Any, people: str, visits: str, out: str) -> None:
    oldest = spark.read.parquet(people).orderBy(sf.desc("age")).first()  # R
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.withColumn("oldest", sf.lit(oldest["name"])).write.parquet(out)


@CASES(possible=[10], reads="R")
def an_f_string_as_condition(spark: Any, people: str, visits: str, out: str) -> None:
    oldest = spark.read.parquet(people).orderBy(sf.desc("age")).take(1)[0]  # R
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.filter(f"person = {oldest.id}").write.parquet(out)


@CASES(possible=OLD, reads="R")
def an_f_string_as_sql(spark: Any, people: str, visits: str, out: str) -> None:
    keys = [row.id for row in spark.read.parquet(people).filter("age >= 40").collect()]  # R
    spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT").createOrReplaceTempView(
        "visits_of_sql"
    )
    spark.sql(f"SELECT * FROM visits_of_sql WHERE person IN ({', '.join(map(str, keys))})").write.parquet(out)


@CASES(possible=[10], reads="R")
def a_parameter_of_sql(spark: Any, people: str, visits: str, out: str) -> None:
    oldest = spark.read.parquet(people).orderBy(sf.desc("age")).first()  # R
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    query = "SELECT * FROM {visits} WHERE person = :person"
    spark.sql(query, args={"person": oldest.id}, visits=all_visits).write.parquet(out)


@CASES(possible=ALL, reads="R")
def a_broadcast_dictionary(spark: Any, people: str, visits: str, out: str) -> None:
    rows = spark.read.parquet(people).collect()  # R
    names = spark.sparkContext.broadcast({row.id: row.name for row in rows})
    name_of = sf.udf(lambda person: names.value.get(person), "string")
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.withColumn("name", name_of("person")).write.parquet(out)


@CASES(possible=ALL, reads="R")
def a_dictionary_in_a_function(spark: Any, people: str, visits: str, out: str) -> None:
    names = {row.id: row.name for row in spark.read.parquet(people).collect()}  # R

    @sf.udf("string")
    def name_of(person: int) -> str | None:
        return names.get(person)

    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.select("day", name_of("person").alias("name")).write.parquet(out)


@CASES(possible=ALL, reads="R", label="coarse")
def a_series_in_map_in_pandas(spark: Any, people: str, visits: str, out: str) -> None:
    ages = spark.read.parquet(people).toPandas().set_index("id")["age"]  # R

    def with_age(batches: Any) -> Any:
        for batch in batches:
            yield batch.assign(age=batch["person"].map(ages).astype("int64"))

    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.mapInPandas(with_age, "person INT, day STRING, cost INT, age BIGINT").write.parquet(out)


@CASES(possible=ALL, reads="R", label="coarse")
def names_in_a_function_of_an_rdd(spark: Any, people: str, visits: str, out: str) -> None:
    names = {row.id: row.name for row in spark.read.parquet(people).collect()}  # R
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    pairs = all_visits.rdd.map(lambda row: (row.cost, names.get(row.person)))
    spark.createDataFrame(pairs, "cost INT, name STRING").write.parquet(out)


@CASES(possible=OLD, reads="R")
def a_chain_of_when(spark: Any, people: str, visits: str, out: str) -> None:
    name = sf.lit("?")
    for row in spark.read.parquet(people).filter("age >= 40").collect():  # R
        name = sf.when(sf.col("person") == row.id, row.name).otherwise(name)
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.withColumn("name", name).write.parquet(out)


@CASES(possible=OLD, reads="R")
def a_limit_by_what_was_read(spark: Any, people: str, visits: str, out: str) -> None:
    rows = spark.read.parquet(people).filter("age >= 40").collect()  # R
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.orderBy("cost").limit(len(rows)).write.parquet(out)


@CASES(possible=OLD, reads="R", label="coarse")
def a_lookup_that_is_joined(spark: Any, people: str, visits: str, out: str) -> None:
    old = spark.read.parquet(people).filter("age >= 40").collect()  # R
    lookup = spark.createDataFrame([(row.id, row.name) for row in old], "person INT, name STRING")
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.join(lookup, "person").write.parquet(out)


@CASES(possible=ALL, reads="R")
def a_write_for_each_city(spark: Any, people: str, visits: str, out: str) -> None:
    cities = spark.read.parquet(people).groupBy("city").agg(sf.max("id").alias("last")).collect()  # R
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    for city in sorted(cities):
        some = all_visits.filter(sf.col("person") == city.last).withColumn("city", sf.lit(city.city))
        some.write.mode("append").parquet(out)
