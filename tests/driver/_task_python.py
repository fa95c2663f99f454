"""Cases: rows go through Python tasks, at different places of a DAG."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
from _task_flows import Cases, Flow, Landed
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import BranchPythonOperator, PythonOperator, ShortCircuitOperator
from airflow.sdk import Asset, TaskGroup, task, task_group

CASES = Cases("task", "task", "outside")


@CASES()
def pandas_between(flow: Flow) -> None:
    flow.clean() >> flow.enrich() >> flow.report()


@CASES()
def a_decorated_function(flow: Flow) -> None:
    @task
    def enrich() -> None:
        flow.copied()

    flow.clean() >> enrich() >> flow.report()


@CASES(back="", hole="rows that a script made have no time, and capture does not know that its arguments are of a task")
def rows_in_xcom(flow: Flow) -> None:
    @task
    def enrich() -> list[Any]:
        return pd.read_parquet(flow.cleaned)[["id", "name"]].to_numpy().tolist()

    def report(spark: Any, xcom: str) -> None:
        rows = [tuple(row) for row in flow.results["enrich"]]
        spark.createDataFrame(rows, "id INT, name STRING").write.parquet(flow.reported)

    flow.clean() >> enrich() >> flow.job("report", report, application_args=["{{ ti.xcom_pull('enrich') }}"])


@CASES()
def a_mapped_task(flow: Flow) -> None:
    def enrich(city: str) -> None:
        people = pd.read_parquet(flow.cleaned)
        Path(flow.enriched).mkdir(exist_ok=True)
        people[people.city == city].to_parquet(f"{flow.enriched}/{city}.parquet")

    cities = [["Rome"], ["Oslo"], ["Lima"]]
    mapped = PythonOperator.partial(task_id="enrich", python_callable=enrich).expand(op_args=cities)
    flow.clean() >> mapped >> flow.report()


@CASES()
def a_mapped_function(flow: Flow) -> None:
    @task
    def enrich(city: str) -> None:
        people = pd.read_parquet(flow.cleaned)
        Path(flow.enriched).mkdir(exist_ok=True)
        people[people.city == city].to_parquet(f"{flow.enriched}/{city}.parquet")

    flow.clean() >> enrich.expand(city=["Rome", "Oslo", "Lima"]) >> flow.report()


@CASES(named=["task late.enrich "])
def a_member_of_a_group(flow: Flow) -> None:
    with TaskGroup("late") as late:
        EmptyOperator(task_id="begin") >> flow.enrich() >> EmptyOperator(task_id="end")
    flow.clean() >> late >> flow.report()


@CASES()
def a_member_of_a_nested_group(flow: Flow) -> None:
    @task_group
    def each() -> None:
        with TaskGroup("within", prefix_group_id=False):
            flow.job("count", lambda spark: spark.read.parquet(flow.cleaned).count()) >> flow.enrich()

    flow.clean() >> each() >> flow.report()


@CASES()
def behind_a_short_circuit(flow: Flow) -> None:
    go_on = ShortCircuitOperator(task_id="go_on", python_callable=lambda: Path(flow.cleaned).exists())
    flow.clean() >> go_on >> flow.enrich() >> flow.report()


@CASES(elsewhere="skipped")
def on_the_chosen_branch(flow: Flow) -> None:
    choose = BranchPythonOperator(task_id="choose", python_callable=lambda: "enrich")
    (
        flow.clean()
        >> choose
        >> [flow.enrich(), EmptyOperator(task_id="elsewhere")]
        >> flow.report(trigger_rule="none_failed_min_one_success")
    )


@CASES()
def two_hops_downstream(flow: Flow) -> None:
    count = flow.job("count", lambda spark: spark.read.parquet(flow.cleaned).count())
    wait = Landed(task_id="wait", folder=flow.cleaned)
    flow.clean() >> count >> wait >> EmptyOperator(task_id="begin") >> flow.enrich() >> flow.report()


@CASES(named=["task first ", "task second "])
def two_in_a_row(flow: Flow) -> None:
    between = f"{flow.enriched}-1"
    first = PythonOperator(task_id="first", python_callable=flow.copied, op_args=[flow.cleaned, between])
    second = PythonOperator(task_id="second", python_callable=flow.copied, op_args=[between, flow.enriched])
    flow.clean() >> first >> second >> flow.report()


@CASES(ahead="task", to="unknown", back="unknown")
def at_the_end(flow: Flow) -> None:
    flow.last = flow.enriched
    flow.clean() >> flow.enrich()


@CASES(ahead="edge declared task", to="edge declared task", back="edge declared")
def with_inlets_and_outlets(flow: Flow) -> None:
    inlets, outlets = ([Asset(Path(path).as_uri())] for path in (flow.cleaned, flow.enriched))
    flow.clean() >> flow.enrich(inlets=inlets, outlets=outlets) >> flow.report()


@CASES(back="task")
def with_outlets_alone(flow: Flow) -> None:
    flow.clean() >> flow.enrich(outlets=[Asset(Path(flow.enriched).as_uri())]) >> flow.report()


@CASES(ahead="files task", to="files task")
def in_place_of_what_it_reads(flow: Flow) -> None:
    def enrich() -> None:
        people = pd.read_parquet(flow.cleaned)
        for old in Path(flow.cleaned).glob("*.parquet"):
            old.unlink()
        people.to_parquet(f"{flow.cleaned}/all.parquet")

    flow.clean() >> PythonOperator(task_id="enrich", python_callable=enrich) >> flow.report(flow.cleaned)


def added(flow: Flow) -> None:
    """The captured task leaves the person out, and the other one adds them to the same folder."""

    def clean(spark: Any) -> None:
        spark.read.parquet(flow.source).filter("id <> 3").write.parquet(flow.cleaned)

    def enrich() -> None:
        people = pd.read_parquet(flow.source)
        people[people.id == 3].to_parquet(f"{flow.cleaned}/more.parquet")

    late = PythonOperator(task_id="enrich", python_callable=enrich)
    flow.job("clean", clean) >> late >> flow.report(flow.cleaned)


@CASES(ahead="files task", to="files task", back="edge outside")
def rows_added_to_what_a_step_wrote(flow: Flow) -> None:
    added(flow)


@CASES(ahead="files task", back="edge outside")
def rows_added_to_the_last_data_set(flow: Flow) -> None:
    """Backward, the version is the one that is there, with the rows that were added."""
    flow.last = flow.cleaned
    added(flow)


@CASES()
def into_what_it_makes(flow: Flow) -> None:
    """Another captured task reads the last data set, so that answers know it."""
    flow.last = flow.enriched
    flow.clean() >> flow.enrich() >> flow.report()


@CASES(to="returned task")
def before_the_first_rows_are_written(flow: Flow) -> None:
    """The first captured task only looks."""

    def clean(spark: Any) -> None:
        print(spark.read.parquet(flow.source).filter("consent").take(3))

    land = PythonOperator(task_id="enrich", python_callable=flow.copied, op_args=[flow.source])
    flow.job("clean", clean) >> land >> flow.report()


@CASES(back="coarse outside")
def a_database_that_the_next_script_reads(flow: Flow) -> None:
    path = str(flow.work / "people.db")

    @task
    def enrich() -> None:
        with sqlite3.connect(path) as database:
            pd.read_parquet(flow.cleaned).to_sql("people", database)

    def report(spark: Any) -> None:
        with sqlite3.connect(path) as database:
            rows = database.execute("SELECT id, name FROM people").fetchall()
        spark.createDataFrame(rows, "id INT, name STRING").write.parquet(flow.reported)

    flow.clean() >> enrich() >> flow.job("report", report)


@CASES()
def that_fails_and_is_tried_again(flow: Flow) -> None:
    tried: list[int] = []

    def enrich() -> None:
        flow.copied()
        tried.append(1)
        if len(tried) == 1:
            raise RuntimeError("the connection is lost")

    flow.clean() >> PythonOperator(task_id="enrich", python_callable=enrich, retries=1) >> flow.report()


@CASES()
def below_two_captured_tasks(flow: Flow) -> None:
    def other(spark: Any) -> None:
        spark.read.parquet(flow.source).filter("age > 20").write.parquet(f"{flow.work}/other")

    [flow.clean(), flow.job("other", other)] >> flow.enrich() >> flow.report()


@CASES(clean="failed")
def a_failed_step_wrote_the_rows(flow: Flow) -> None:
    """The next task runs all the same."""

    def clean(spark: Any) -> None:
        spark.read.parquet(flow.source).write.parquet(flow.cleaned)
        raise RuntimeError("too late")

    flow.fails.add("clean")
    flow.job("clean", clean) >> flow.enrich(trigger_rule="all_done") >> flow.report()


@CASES(named=["task away "], to="unknown", back="unknown")
def a_teardown_that_archives(flow: Flow) -> None:
    flow.last = flow.enriched
    setup = EmptyOperator(task_id="cluster")
    away = flow.enrich("away").as_teardown(setups=setup)
    setup >> flow.clean() >> away


@CASES(ahead="", to="", hole="a task that reads the source beside the captured task, not after it, is no stop")
def beside_the_task_that_reads_the_source(flow: Flow) -> None:
    land = PythonOperator(task_id="enrich", python_callable=flow.copied, op_args=[flow.source])
    flow.clean()
    land >> flow.report()


@CASES(ahead="", to="", runs=2, hole="a task before the captured one that reads what an earlier run wrote is no stop")
def by_the_state_of_the_run_before(flow: Flow) -> None:
    """The DAG merges its own last result into new rows: the uncaptured task stands before the captured one."""

    people, staged = flow.source, f"{flow.enriched}-"

    def enrich() -> None:
        flow.copied(people if flow.run_id == "run-1" else f"{flow.work}/run-1", staged + flow.run_id)

    def clean(spark: Any) -> None:
        spark.read.parquet(staged + flow.run_id).filter("consent").write.parquet(f"{flow.work}/{flow.run_id}")

    flow.source, flow.last = f"{staged}run-1", f"{flow.work}/run-2"
    PythonOperator(task_id="enrich", python_callable=enrich) >> flow.job("clean", clean)


@CASES(back="", hole="a run that begins again has a new start, and the task without capture wrote before it")
def before_the_run_was_cleared(flow: Flow) -> None:
    """Only the last task runs again, in a run whose start is newer than what it reads."""

    def report(spark: Any) -> None:
        spark.read.parquet(flow.enriched).select("id", "name").write.mode("overwrite").parquet(flow.reported)

    flow.cleared.append("report")
    flow.clean() >> flow.enrich() >> flow.job("report", report)
