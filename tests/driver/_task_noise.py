"""Ordinary DAGs: rows pass captured tasks only, whatever stands around them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from _task_flows import Cases, Flow, Landed
from airflow.providers.common.sql.operators.sql import SQLCheckOperator
from airflow.providers.smtp.operators.smtp import EmailOperator
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.providers.standard.operators.latest_only import LatestOnlyOperator
from airflow.providers.standard.operators.python import BranchPythonOperator, PythonOperator, ShortCircuitOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import BaseNotifier, BaseOperator, TaskGroup, task

from provspark.operators.query import ProvQueryOperator

CASES = Cases("edge", "edge", "edge", named=())


class Announcement(EmailOperator):  # type: ignore[misc]
    """A team's own e-mail."""


class SlackWebhookOperator(BaseOperator):  # type: ignore[misc]
    """As that of Slack's provider is named."""


class Quiet(BaseNotifier):  # type: ignore[misc]
    """Notifies nobody."""

    def notify(self, context: Any) -> None:
        self.context = context


def captured(flow: Flow, **arguments: Any) -> Any:
    """The second captured task: what others put between `clean` and `report`."""

    def enrich(spark: Any) -> None:
        spark.read.parquet(flow.cleaned).filter("age > 18").write.parquet(flow.enriched)

    return flow.job("enrich", enrich, **arguments)


@CASES()
def captured_tasks_alone(flow: Flow) -> None:
    flow.clean() >> captured(flow) >> flow.report()


@CASES()
def an_email_at_the_end(flow: Flow) -> None:
    mail = Announcement(task_id="mail", to="us@example.org", subject="done", html_content="{{ ds }}")
    flow.clean() >> captured(flow) >> flow.report() >> mail


@CASES()
def slack_at_each_end(flow: Flow) -> None:
    told = [SlackWebhookOperator(task_id=f"tell_{number}") for number in range(2)]
    flow.clean(on_success_callback=Quiet()) >> captured(flow) >> told[0] >> flow.report() >> told[1]


@CASES(other="skipped", again="skipped")
def a_skipped_branch(flow: Flow) -> None:
    def other(spark: Any) -> None:
        spark.read.parquet(flow.cleaned).write.parquet(f"{flow.work}/other")

    choose = BranchPythonOperator(task_id="choose", python_callable=lambda: "enrich")
    join = EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")
    skipped = flow.job("other", other)
    chosen = captured(flow)
    flow.clean() >> choose >> [chosen, skipped]
    skipped >> flow.job("again", other)
    chosen >> join >> flow.report()


@CASES(ahead="edge task", named=["task other "], other="skipped")
def a_skipped_branch_without_capture(flow: Flow) -> None:
    """What runs and what is skipped is not stored."""
    choose = BranchPythonOperator(task_id="choose", python_callable=lambda: "enrich")
    chosen = captured(flow)
    flow.clean() >> choose >> [chosen, flow.enrich("other")]
    chosen >> flow.report()


@CASES()
def sensors(flow: Flow) -> None:
    wait = [
        Landed(task_id=f"wait_{number}", folder=folder) for number, folder in enumerate((flow.source, flow.cleaned))
    ]
    wait[0] >> flow.clean() >> wait[1] >> captured(flow) >> flow.report()


@CASES()
def empty_tasks(flow: Flow) -> None:
    start, end = (EmptyOperator(task_id=name) for name in ("start", "end"))
    start >> flow.clean() >> captured(flow) >> flow.report() >> end


@CASES()
def groups(flow: Flow) -> None:
    with TaskGroup("early") as early:
        EmptyOperator(task_id="begin") >> flow.clean()
    with TaskGroup("late") as late, TaskGroup("within"):
        captured(flow) >> flow.report()
    early >> late


@CASES()
def mapped_tasks(flow: Flow) -> None:
    def enrich(spark: Any, city: str) -> None:
        people = spark.read.parquet(flow.cleaned).filter(f"city = '{city}'")
        people.write.parquet(f"{flow.enriched}/city={city}")

    mapped = flow.several("enrich", enrich, [["Rome"], ["Oslo"], ["Lima"]])
    flow.clean() >> mapped >> flow.report()


@CASES(later="unstarted")
def a_task_that_did_not_run_yet(flow: Flow) -> None:
    flow.unstarted.add("later")
    flow.clean() >> captured(flow) >> flow.report() >> flow.job("later", lambda spark: None)


@CASES(never="skipped")
def a_task_that_was_skipped(flow: Flow) -> None:
    report = flow.report()
    stop = ShortCircuitOperator(task_id="stop", python_callable=lambda: False)
    flow.clean() >> captured(flow) >> report >> stop >> flow.job("never", lambda spark: None)


@CASES(fetch="failed", never="upstream_failed")
def a_task_whose_upstream_failed(flow: Flow) -> None:
    def fetch() -> None:
        raise RuntimeError("no such server")

    flow.fails.add("fetch")
    never = flow.job("never", lambda spark: None)
    PythonOperator(task_id="fetch", python_callable=fetch) >> never
    flow.clean() >> captured(flow) >> flow.report() >> never


@CASES()
def only_the_latest_run(flow: Flow) -> None:
    flow.clean() >> LatestOnlyOperator(task_id="latest") >> captured(flow) >> flow.report()


@CASES()
def a_short_circuit(flow: Flow) -> None:
    @task.short_circuit
    def some() -> bool:
        return any(Path(flow.cleaned).iterdir())

    flow.clean() >> some() >> captured(flow) >> flow.report()


@CASES(ahead="edge task", named=["task start "])
def a_dag_that_is_triggered_at_the_end(flow: Flow) -> None:
    """It may take the rows on: its tasks are not known here."""
    with flow.dag("other"):
        EmptyOperator(task_id="nothing")
    flow.clean() >> captured(flow) >> flow.report() >> TriggerDagRunOperator(task_id="start", trigger_dag_id="other")


@CASES()
def a_check_of_lineage(flow: Flow) -> None:
    os.environ["AIRFLOW_CONN_TASKS"] = json.dumps({"conn_type": "provspark", "extra": {"store": flow.store}})
    arguments = {"dataset": flow.source, "where": [("consent", "=", False)], "to": flow.enriched}
    consent = ProvQueryOperator(
        task_id="consent", question="forward", arguments=arguments, expect="nothing", prov_conn_id="tasks"
    )
    flow.clean() >> captured(flow) >> consent >> flow.report()


@CASES()
def a_command_that_only_runs_capture(flow: Flow) -> None:
    lines = [
        "from pyspark.sql import SparkSession",
        'spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).getOrCreate()',
        f"spark.read.parquet({flow.cleaned!r}).write.parquet({flow.enriched!r})",
    ]
    script = flow.script("enrich.py", "\n".join(lines) + "\n")
    text = f"# rows of adults\nset -e\nprovspark run {script} {{{{ ds }}}}  # that's all\n"
    flow.clean() >> BashOperator(task_id="enrich", bash_command=text) >> flow.report()


@CASES()
def a_branch_beside(flow: Flow) -> None:
    start = EmptyOperator(task_id="start")
    start >> flow.clean() >> captured(flow) >> flow.report()
    start >> flow.enrich("beside", op_args=[flow.source, f"{flow.work}/beside"])


@CASES()
def settings_fetched_before(flow: Flow) -> None:
    @task
    def fetch() -> int:
        return 18

    def enrich(spark: Any, least: str) -> None:
        people = spark.read.parquet(flow.cleaned)
        people.filter(people.age > flow.results["fetch"]).write.parquet(flow.enriched)

    job = flow.job("enrich", enrich, application_args=["{{ ti.xcom_pull('fetch') }}"])
    fetch() >> flow.clean() >> job >> flow.report()


@CASES(back="edge outside")
def settings_in_a_file_of_this_run(flow: Flow) -> None:
    """The report comes from the file, too, and the file from a task without capture."""
    path = flow.work / "settings.json"

    @task
    def fetch() -> None:
        path.write_text(json.dumps({"least": 18}), encoding="utf-8")

    def enrich(spark: Any) -> None:
        least = spark.read.json(str(path))
        people = spark.read.parquet(flow.cleaned)
        people.join(least, people.age > least.least).drop("least").write.parquet(flow.enriched)

    fetch() >> flow.clean() >> flow.job("enrich", enrich) >> flow.report()


@CASES(ahead="edge task", named=["task down "])
def a_cluster_that_is_set_up_and_torn_down(flow: Flow) -> None:
    """A teardown is a task like others: it may archive rows."""
    up = BashOperator(task_id="up", bash_command="mkdir cluster").as_setup()
    down = BashOperator(task_id="down", bash_command="rmdir cluster").as_teardown(setups=up)
    up >> flow.clean() >> captured(flow) >> flow.report() >> down


@CASES()
def processes_of_a_script(flow: Flow) -> None:
    def enrich(spark: Any) -> None:
        for command in (["git", "--version"], ["ls", flow.cleaned], ["sh", "-c", "uname -a # spark-submit x.py"]):
            subprocess.run(command, check=True, capture_output=True)
        spark.read.parquet(flow.cleaned).write.parquet(flow.enriched)

    flow.clean() >> flow.job("enrich", enrich) >> flow.report()


@CASES(trust=["people.count"])
def a_trusted_task(flow: Flow) -> None:
    @task
    def count() -> int:
        return len(list(Path(flow.cleaned).iterdir()))

    clean = flow.clean()
    clean >> captured(flow) >> flow.report()
    clean >> count()


@CASES()
def checks_by_sql_and_people(flow: Flow) -> None:
    check = SQLCheckOperator(task_id="check", sql="SELECT 1")
    agreed = ApprovalOperator(task_id="agreed", subject="Publish the report?")
    flow.clean() >> check >> captured(flow) >> agreed >> flow.report()


@CASES()
def a_captured_task_that_is_tried_again(flow: Flow) -> None:
    def enrich(spark: Any) -> None:
        spark.read.parquet(flow.cleaned).write.mode("overwrite").parquet(flow.enriched)
        if not flow.results.setdefault("tried", False):
            flow.results["tried"] = True
            raise RuntimeError("the connection is lost")

    flow.clean() >> flow.job("enrich", enrich, retries=1) >> flow.report()


@CASES(runs=2)
def every_day(flow: Flow) -> None:
    """Each run writes its own day."""

    def clean(spark: Any) -> None:
        people = spark.read.parquet(flow.source).filter("consent")
        people.write.mode("overwrite").parquet(f"{flow.cleaned}/{flow.run_id}")

    def report(spark: Any) -> None:
        people = spark.read.parquet(f"{flow.cleaned}/{flow.run_id}")
        people.select("id", "name").write.mode("overwrite").parquet(flow.reported)

    flow.job("clean", clean) >> flow.job("report", report)
