"""Checks that no row of a person without consent is handed on, where pandas stands on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow.sdk import DAG, TriggerRule, task

from provspark.operators.query import ProvQueryOperator
from provspark.operators.spark import ProvSparkOperator

HERE = Path(__file__).resolve().parent
PEOPLE, FILE, ADULTS, PICKED, REPORT = (
    f"{{{{ dag_run.conf.folder }}}}/{name}" for name in ("people", "adults.csv", "adults", "picked", "report")
)
DEFAULTS = {"prov_store": "{{ dag_run.conf.folder }}/prov", "trigger_rule": TriggerRule.ALL_DONE}


def check(name: str, to: str = ADULTS, **more: Any) -> ProvQueryOperator:
    """No row of a person without consent is among the adults."""
    where = [("consent", "=", False)]
    arguments = {"dataset": PEOPLE, "where": where, "to": to}
    return ProvQueryOperator(
        task_id=name, question="forward", arguments=arguments, expect="nothing", prov_conn_id="prov", **more
    )


with DAG("consent_within", schedule=None, catchup=False, default_args=DEFAULTS) as within:
    made = ProvSparkOperator(task_id="adults", application=str(HERE / "adults.py"), application_args=[PEOPLE, ADULTS])
    made >> [check("consent"), check("trusted", trust=["adults.py:9"])]

with DAG("consent_handed", schedule=None, catchup=False, default_args=DEFAULTS) as handed:
    left = ProvSparkOperator(task_id="left", application=str(HERE / "to_file.py"), application_args=[PEOPLE, FILE])
    came = ProvSparkOperator(task_id="came", application=str(HERE / "from_file.py"), application_args=[FILE, ADULTS])
    left >> came >> check("consent")

with DAG("consent_between", schedule=None, catchup=False, default_args=DEFAULTS) as between:

    @task
    def pick(source: str, target: str) -> None:
        """Hand rows on by pandas, without Spark."""
        import pandas as pd

        Path(target).mkdir()
        pd.read_parquet(source).to_parquet(f"{target}/part-0.parquet")

    adults = ProvSparkOperator(
        task_id="adults", application=str(HERE / "adults_of.py"), application_args=[PEOPLE, ADULTS]
    )
    report = ProvSparkOperator(
        task_id="report", application=str(HERE / "adults_of.py"), application_args=[PICKED, REPORT]
    )
    checks = [check("consent", REPORT), check("trusted", REPORT, trust=["pick"])]
    adults >> pick.override(trigger_rule=TriggerRule.ALL_SUCCESS)(ADULTS, PICKED) >> report >> checks
