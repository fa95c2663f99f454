"""A task that hands rows on by pandas between two of Spark: as it is, and with its inlets and outlets declared."""

from __future__ import annotations

import os
from pathlib import Path

from airflow.sdk import DAG, Asset, TriggerRule, task

from provspark.operators.query import ProvQueryOperator
from provspark.operators.spark import ProvSparkOperator

JOB = str(Path(__file__).resolve().parents[1] / "dags" / "adults_of.py")
FOLDER = os.environ["PROVSPARK_TEST_FOLDER"]


def places(dag: str) -> list[str]:
    return [f"{FOLDER}/{dag}/{name}" for name in ("adults", "picked", "report")]


def hand_on(source: str, target: str) -> None:
    import pandas as pd

    Path(target).mkdir()
    pd.read_parquet(source).to_parquet(f"{target}/part-0.parquet")


def checked(name: str, report: str, **more: object) -> ProvQueryOperator:
    arguments = {"dataset": f"{FOLDER}/people", "where": [("consent", "=", False)], "to": report}
    return ProvQueryOperator(
        task_id=name,
        question="forward",
        arguments=arguments,
        expect="nothing",
        prov_conn_id="prov",
        trigger_rule=TriggerRule.ALL_DONE,
        **more,
    )


for name in ("silent", "declared"):
    adults, picked, report = places(name)
    declares = {"inlets": [Asset(f"file://{adults}")], "outlets": [Asset(f"file://{picked}")]}
    with DAG(name, schedule=None, catchup=False, default_args={"prov_store": f"{FOLDER}/prov"}) as dag:
        first = ProvSparkOperator(task_id="adults", application=JOB, application_args=[f"{FOLDER}/people", adults])
        last = ProvSparkOperator(task_id="report", application=JOB, application_args=[picked, report])
        pick = task(task_id="pick", **(declares if name == "declared" else {}))(hand_on)(adults, picked)
        first >> pick >> last >> [checked("consent", report), checked("trusted", report, trust=["pick"])]
    globals()[name] = dag
