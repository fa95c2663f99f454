"""Rows that left by what capture cannot see into: databases, processes, workers, arguments."""

from __future__ import annotations

from typing import Any

from _driver_scripts import Cases
from _driver_sources import OLD
from pyspark.sql import functions as sf

CASES = Cases(rows=[10])
RETURNED = ["returned"]
"""The kind of stop where an output has a source that nobody captured, as young as the read or of unknown age."""


@CASES(possible=OLD, reads="R", label="coarse")
def sqlite_and_back(spark: Any, people: str, out: str) -> None:
    import sqlite3

    import pandas as pd

    rows = spark.read.parquet(people).filter("age >= 40").collect()  # R
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE old (id INT, name TEXT)")
        database.executemany("INSERT INTO old VALUES (?, ?)", [(row.id, row.name) for row in rows])
        p = pd.read_sql("SELECT * FROM old WHERE id > 2", database)
    spark.createDataFrame(p).write.parquet(out)


@CASES(possible=OLD, reads="RS", ends="S", label="coarse")
def sqlite_read_by_the_next_step(spark: Any, people: str, work: str) -> None:
    import sqlite3

    rows = spark.read.parquet(people).filter("age >= 40").collect()  # R
    with sqlite3.connect(f"{work}/old.db") as database:
        database.execute("CREATE TABLE old (id INT, name TEXT)")
        database.executemany("INSERT INTO old VALUES (?, ?)", [(row.id, row.name) for row in rows])


@sqlite_read_by_the_next_step.then
def _(spark: Any, work: str, out: str) -> None:
    import sqlite3

    with sqlite3.connect(f"{work}/old.db") as database:  # S
        pairs = database.execute("SELECT id, name FROM old").fetchall()
    spark.createDataFrame(pairs, "id INT, name STRING").write.parquet(out)


@CASES(ends="R", stops=RETURNED)
def a_file_of_another_process(spark: Any, people: str, out: str, work: str) -> None:
    import subprocess

    names = "\n".join(row.name for row in spark.read.parquet(people).filter("age >= 40").collect())  # R
    subprocess.run(["tee", f"{work}/names.txt"], input=names, text=True, stdout=subprocess.DEVNULL, check=True)
    spark.read.text(f"{work}/names.txt").write.parquet(out)


@CASES(ends="R", stops=RETURNED)
def what_a_process_says_in_the_next_step(spark: Any, people: str, work: str) -> None:
    import subprocess

    names = "\n".join(row.name for row in spark.read.parquet(people).filter("age >= 40").collect())  # R
    subprocess.run(["tee", f"{work}/names.txt"], input=names, text=True, stdout=subprocess.DEVNULL, check=True)


@what_a_process_says_in_the_next_step.then
def _(spark: Any, work: str, out: str) -> None:
    import subprocess

    names = subprocess.run(["cat", f"{work}/names.txt"], capture_output=True, text=True, check=True).stdout
    spark.createDataFrame([(name,) for name in names.splitlines()], "name STRING").write.parquet(out)


@CASES(ends="R", args=("10",))
def an_argument_of_the_next_step(spark: Any, people: str) -> None:
    oldest = spark.read.parquet(people).orderBy(sf.desc("age")).first()  # R
    print(oldest.id)


@an_argument_of_the_next_step.then
def _(spark: Any, visits: str, out: str) -> None:
    import sys

    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.filter(sf.col("person") == int(sys.argv[5])).write.parquet(out)


@CASES(stops=["untracked"])
def files_that_workers_write(spark: Any, people: str, out: str, work: str) -> None:
    def keep(rows: Any) -> None:
        import uuid
        from pathlib import Path

        Path(f"{work}/{uuid.uuid4()}.txt").write_text("".join(row.name + "\n" for row in rows))

    spark.read.parquet(people).foreachPartition(keep)
    spark.read.text(f"{work}/*.txt").write.parquet(out)


@CASES(possible=[10], reads="R")
def a_variable_of_the_environment(spark: Any, people: str, visits: str, out: str) -> None:
    import os

    os.environ["OLDEST"] = spark.read.parquet(people).orderBy(sf.desc("age")).first()["name"]  # R
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.withColumn("oldest", sf.lit(os.environ["OLDEST"])).write.parquet(out)
