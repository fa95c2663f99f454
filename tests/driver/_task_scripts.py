"""Rows that pass a captured task by a way that its capture does not see."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from _task_flows import Cases, Flow, Job

CASES = Cases("task", "task", "outside")
PART = "part of task enrich (ProvSparkOperator) of DAG people was not captured"


def chain(flow: Flow, enrich: Job, **more: Any) -> None:
    """`clean`, a script that makes `enriched` of `cleaned`, `report`."""
    flow.clean() >> flow.job("enrich", enrich, **more) >> flow.report()


@CASES(ahead="edge untracked", to="edge untracked", back="edge", named=["Spark Connect"])
def spark_connect(flow: Flow) -> None:
    """The session's server runs in the JVM of the script, where its commands are intercepted. Its reads are not."""
    lines = [
        "from pyspark.sql import SparkSession",
        'spark = SparkSession.builder.remote("local[1]").getOrCreate()',
        f"spark.read.parquet({flow.cleaned!r}).write.parquet({flow.enriched!r})",
        "spark.stop()",
    ]
    chain(flow, flow.script("enrich.py", "\n".join(lines) + "\n"))


@CASES(named=[PART, "spark-submit"])
def spark_submit_in_a_process(flow: Flow) -> None:
    submit = flow.script("spark-submit", f"#!/bin/sh\nexec python {flow.pandas_script()}\n")
    submit.chmod(0o755)
    chain(flow, lambda spark: subprocess.run([str(submit), "more.py"], check=True, env=with_python()))


def with_python() -> dict[str, str]:
    """The environment, with the Python of the tests before others."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@CASES(named=[PART, "spark-submit"])
def spark_submit_after_a_comment(flow: Flow) -> None:
    submit = flow.script("spark-submit", f"#!/bin/sh\nexec python {flow.pandas_script()}\n")
    submit.chmod(0o755)
    text = f"# load them\n{submit} more.py"
    chain(flow, lambda spark: subprocess.run(text, shell=True, check=True, env=with_python()))


@CASES(hole="a step reports a process only if it runs Spark", ahead="", to="")
def cp_in_a_process(flow: Flow) -> None:
    chain(flow, lambda spark: subprocess.run(["cp", "-r", flow.cleaned, flow.enriched], check=True))


@CASES(hole="files that C++ opens are not seen", ahead="", to="")
def duckdb_in_a_script(flow: Flow) -> None:
    def enrich(spark: Any) -> None:
        duckdb = pytest.importorskip("duckdb")
        Path(flow.enriched).mkdir()
        people = f"SELECT * FROM '{flow.cleaned}/*.parquet'"
        duckdb.sql(f"COPY ({people}) TO '{flow.enriched}/more.parquet' (FORMAT parquet)")

    chain(flow, enrich)


@CASES(ahead="edge", to="edge", back="edge", named=[])
def java_writer(flow: Flow) -> None:
    chain(flow, lambda spark: spark.read.parquet(flow.cleaned)._jdf.write().parquet(flow.enriched))


@CASES(ahead="untracked", to="untracked", named=["RDD.saveAsTextFile"])
def rdd_of_text(flow: Flow) -> None:
    def enrich(spark: Any) -> None:
        people = spark.read.parquet(flow.cleaned)
        people.rdd.map(lambda row: f"{row.id},{row.name}").saveAsTextFile(flow.enriched)

    def report(spark: Any) -> None:
        spark.read.csv(flow.enriched, schema="id INT, name STRING").write.parquet(flow.reported)

    flow.clean() >> flow.job("enrich", enrich) >> flow.job("report", report)


@CASES(ahead="untracked", to="untracked", named=["DataFrame.foreachPartition"])
def foreach_partition(flow: Flow) -> None:
    path = f"{flow.enriched}.csv"

    def enrich(spark: Any) -> None:
        def save(rows: Any) -> None:
            with open(path, "a") as file:
                file.writelines(f"{row.id},{row.name}\n" for row in rows)

        spark.read.parquet(flow.cleaned).foreachPartition(save)

    def report(spark: Any) -> None:
        spark.read.csv(path, schema="id INT, name STRING").write.parquet(flow.reported)

    flow.clean() >> flow.job("enrich", enrich) >> flow.job("report", report)


def streamed(flow: Flow, spark: Any) -> Any:
    """The writer of a stream of what `clean` wrote, which ends with it."""
    people = spark.readStream.schema(spark.read.parquet(flow.cleaned).schema).parquet(flow.cleaned)
    return people.writeStream.option("checkpointLocation", f"{flow.work}/check").trigger(availableNow=True)


@CASES(named=[PART, "DataStreamWriter.start"])
def a_stream(flow: Flow) -> None:
    def enrich(spark: Any) -> None:
        assert streamed(flow, spark).start(flow.enriched, format="parquet").awaitTermination(120)

    chain(flow, enrich)


@CASES(to="task untracked", back="untracked", named=[PART, "foreachBatch"])
def batches_of_a_stream(flow: Flow) -> None:
    def enrich(spark: Any) -> None:
        def save(batch: Any, number: int) -> None:
            batch.write.parquet(flow.enriched)

        assert streamed(flow, spark).foreachBatch(save).start().awaitTermination(120)

    chain(flow, enrich)


@CASES(ahead="files task", to="files task", named=[PART, "AlterTableRenamePartitionCommand"])
def a_partition_with_a_new_name(flow: Flow) -> None:
    table = f"renamed_{flow.work.parent.name}"

    def enrich(spark: Any) -> None:
        spark.sql(f"CREATE TABLE {table} (id INT, name STRING, p INT) USING parquet PARTITIONED BY (p)")
        spark.sql(f"INSERT INTO {table} SELECT id, name, 1 FROM parquet.`{flow.cleaned}`")

    def rename(spark: Any) -> None:
        spark.sql(f"ALTER TABLE {table} PARTITION (p = 1) RENAME TO PARTITION (p = 2)")

    def report(spark: Any) -> None:
        spark.table(table).filter("p = 2").select("id", "name").write.parquet(flow.reported)
        spark.sql(f"DROP TABLE {table}")

    flow.clean() >> flow.job("fill", enrich) >> flow.job("enrich", rename) >> flow.job("report", report)


@CASES(ahead="edge untracked", to="edge untracked", back="edge", named=["AlterTableDropPartitionCommand"])
def a_partition_that_is_dropped(flow: Flow) -> None:
    """Its files stay, and are read by their path."""
    table = f"dropped_{flow.work.parent.name}"

    def enrich(spark: Any) -> None:
        columns = "id INT, name STRING, p INT"
        spark.sql(f"CREATE TABLE {table} ({columns}) USING parquet PARTITIONED BY (p) LOCATION '{flow.enriched}'")
        spark.sql(f"INSERT INTO {table} SELECT id, name, id % 2 FROM parquet.`{flow.cleaned}`")
        spark.sql(f"ALTER TABLE {table} DROP PARTITION (p = 0)")
        spark.sql(f"DROP TABLE {table}")

    chain(flow, enrich)


@CASES(ahead="edge untracked", to="edge untracked", back="edge", named=["TruncateTableCommand"])
def a_table_that_is_emptied_and_filled(flow: Flow) -> None:
    table = f"emptied_{flow.work.parent.name}"

    def enrich(spark: Any) -> None:
        spark.sql(f"CREATE TABLE {table} (id INT, name STRING) USING parquet")
        spark.sql(f"INSERT INTO {table} VALUES (0, 'Nobody')")
        spark.sql(f"TRUNCATE TABLE {table}")
        spark.read.parquet(flow.cleaned).select("id", "name")._jdf.write().insertInto(table)

    def report(spark: Any) -> None:
        spark.table(table).write.parquet(flow.reported)
        spark.sql(f"DROP TABLE {table}")

    flow.clean() >> flow.job("enrich", enrich) >> flow.job("report", report)


@CASES(named=[PART, "not supported"])
def a_version_that_is_not_supported(flow: Flow) -> None:
    flow.broken_starts["enrich"] = "version"
    chain(flow, lambda spark: spark.read.parquet(flow.cleaned).write.parquet(flow.enriched))


@CASES(hole="a captured task that ran without a store looks like one that did not run", ahead="", to="")
def a_store_that_can_not_be_written(flow: Flow) -> None:
    flow.broken_starts["enrich"] = "store"
    chain(flow, lambda spark: spark.read.parquet(flow.cleaned).write.parquet(flow.enriched))


@CASES(ahead="edge", to="edge", back="edge", named=[])
def a_first_try_that_wrote(flow: Flow) -> None:
    """The second try finds the rows, and leaves them."""

    def enrich(spark: Any) -> None:
        if not Path(flow.enriched).exists():
            spark.read.parquet(flow.cleaned)._jdf.write().parquet(flow.enriched)
            raise RuntimeError("the connection is lost")

    chain(flow, enrich, retries=1)
