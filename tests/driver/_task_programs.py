"""Rows that pass commands, and operators that are not ours."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

from _task_flows import Cases, Flow
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.io.operators.file_transfer import FileTransferOperator
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import task

from provspark.operators.spark import ProvSparkOperator

CASES = Cases("task", "task", "outside")


def bash(flow: Flow, command: str) -> None:
    """A command between both captured tasks."""
    flow.clean() >> BashOperator(task_id="enrich", bash_command=command) >> flow.report()


@CASES()
def python_by_bash(flow: Flow) -> None:
    bash(flow, f"python {flow.pandas_script()}")


@CASES()
def cp(flow: Flow) -> None:
    bash(flow, f"cp -r {flow.cleaned} {flow.enriched}")


@CASES()
def cp_that_keeps_times(flow: Flow) -> None:
    bash(flow, f"cp -rp {flow.cleaned} {flow.enriched}")


@CASES()
def mv(flow: Flow) -> None:
    bash(flow, f"mv {flow.cleaned} {flow.enriched}")


@CASES()
def capture_and_then_another_script(flow: Flow) -> None:
    checked = flow.script("check.py", f"import os\nprint(os.listdir({flow.cleaned!r}))\n")
    bash(flow, f"provspark run {checked}; python {flow.pandas_script()}")


@CASES()
def capture_with_a_comment_and_then_another_script(flow: Flow) -> None:
    checked = flow.script("check.py", f"import os\nprint(os.listdir({flow.cleaned!r}))\n")
    bash(flow, f"provspark run {checked}  # see what's there\npython {flow.pandas_script()}")


@CASES()
def capture_and_then_a_sourced_file(flow: Flow) -> None:
    checked = flow.script("check.py", f"import os\nprint(os.listdir({flow.cleaned!r}))\n")
    flow.script("load.sh", f"python {flow.pandas_script()}\n")
    bash(flow, f"provspark run {checked}; . ./load.sh")


@CASES()
def capture_of_a_script_that_submits_another(flow: Flow) -> None:
    submit = flow.script("spark-submit", f"#!/bin/sh\nexec python {flow.pandas_script()}\n")
    submit.chmod(0o755)
    lines = ["import subprocess", "subprocess.run(['./spark-submit', 'more.py'], check=True)"]
    bash(flow, f"provspark run {flow.script('start.py', chr(10).join(lines))}")


@CASES()
def a_command_by_a_function(flow: Flow) -> None:
    @task.bash
    def enrich() -> str:
        return f"cp -r {flow.cleaned} {flow.enriched}"

    flow.clean() >> enrich() >> flow.report()


def by_spark(flow: Flow) -> Any:
    """A script that makes `enriched`."""

    def enrich(spark: Any) -> None:
        spark.read.parquet(flow.cleaned).write.parquet(flow.enriched)

    return enrich


@CASES()
def spark_submit_of_the_provider(flow: Flow) -> None:
    flow.clean() >> flow.job("enrich", by_spark(flow), SparkSubmitOperator) >> flow.report()


@CASES()
def capture_that_is_off(flow: Flow) -> None:
    flow.clean() >> flow.job("enrich", by_spark(flow), prov_mode="off") >> flow.report()


@CASES()
def capture_that_is_off_for_mapped_tasks(flow: Flow) -> None:
    def enrich(spark: Any, city: str) -> None:
        people = spark.read.parquet(flow.cleaned).filter(f"city = '{city}'")
        people.write.mode("append").parquet(flow.enriched)

    flow.clean() >> flow.several("enrich", enrich, [["Rome"], ["Lima"]], prov_mode="off") >> flow.report()


@CASES()
def capture_that_is_off_for_one_of_the_mapped_tasks(flow: Flow) -> None:
    mapped = ProvSparkOperator.partial(task_id="enrich", application="enrich.py").expand(prov_mode=["off"])
    flow.jobs["enrich"] = by_spark(flow)
    flow.clean() >> mapped >> flow.report()


@CASES()
def a_transfer_of_files(flow: Flow) -> None:
    def clean(spark: Any) -> None:
        people = spark.read.parquet(flow.source).filter("consent").coalesce(1)
        people.write.parquet(flow.cleaned)

        (file,) = Path(flow.cleaned).glob("*.parquet")
        shutil.move(file, f"{flow.cleaned}/all.parquet")

    target = f"{flow.enriched}/all.parquet"
    Path(flow.enriched).mkdir()
    transfer = FileTransferOperator(task_id="enrich", src=f"file://{flow.cleaned}/all.parquet", dst=f"file://{target}")
    flow.job("clean", clean) >> transfer >> flow.report()


@CASES(ahead="coarse files task", back="coarse outside")
def sql(flow: Flow) -> None:
    """The captured task fills a table, which SQL copies to another."""
    path = str(flow.work / "people.db")

    def clean(spark: Any) -> None:
        people = spark.read.parquet(flow.source).filter("consent").toPandas()
        with sqlite3.connect(path) as database:
            people.to_sql("people", database)

    def report(spark: Any) -> None:
        with sqlite3.connect(path) as database:
            rows = database.execute("SELECT id, name FROM enriched").fetchall()
        spark.createDataFrame(rows, "id INT, name STRING").write.parquet(flow.reported)

    copy = SQLExecuteQueryOperator(task_id="enrich", sql="CREATE TABLE enriched AS SELECT * FROM people")
    flow.job("clean", clean) >> copy >> flow.job("report", report)


@CASES(back="", hole="a table of a database has no time at which it was written")
def a_table_of_a_database(flow: Flow) -> None:
    url, driver = f"jdbc:derby:memory:{flow.work.parent.name};create=true", "org.apache.derby.jdbc.EmbeddedDriver"

    def enrich(spark: Any) -> None:
        spark.read.parquet(flow.cleaned).select("id", "name").write.jdbc(url, "people", properties={"driver": driver})

    def report(spark: Any) -> None:
        keyed = {"driver": driver, "provsparkKeys": "id"}
        spark.read.jdbc(url, "people", properties=keyed).write.parquet(flow.reported)

    flow.clean() >> flow.job("enrich", enrich, SparkSubmitOperator) >> flow.job("report", report)


@CASES(named=["task start "])
def a_dag_that_is_triggered_and_waited_for(flow: Flow) -> None:
    with flow.dag("other"):
        flow.enrich()
    trigger = TriggerDagRunOperator(task_id="start", trigger_dag_id="other", wait_for_completion=True)
    flow.clean() >> trigger >> flow.report()


@CASES(hole="tasks of other DAGs are not checked", ahead="", to="")
def a_dag_that_an_asset_starts(flow: Flow) -> None:
    with flow.dag("other"):
        flow.enrich() >> flow.report()
    flow.clean()


@CASES(hole="callbacks of a task are not checked", ahead="", to="")
def a_callback(flow: Flow) -> None:
    flow.clean(on_success_callback=lambda context: flow.copied()) >> flow.report()
