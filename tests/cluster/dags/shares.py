"""Eight tasks at once, each writing its share of the numbers, and one that sums them up."""

from __future__ import annotations

from pathlib import Path

from airflow.sdk import DAG

from provspark.operators.spark import ProvSparkOperator

JOBS = Path(__file__).resolve().parents[1] / "jobs"
SHARES = 8

with DAG("shares", schedule=None, catchup=False, max_active_tasks=SHARES + 1) as dag:
    folder = "{{ dag_run.conf.folder }}"
    common = {
        "conf": {"spark.driver.memory": "512m", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"},
        "prov_store": "{{ dag_run.conf.store }}",
        "prov_catalogue": "{{ dag_run.conf.catalogue }}",
    }
    share = ProvSparkOperator.partial(task_id="share", application=str(JOBS / "share.py"), **common).expand(
        application_args=[[folder, str(n), str(SHARES)] for n in range(SHARES)]
    )
    total = ProvSparkOperator(
        task_id="total", application=str(JOBS / "total.py"), application_args=[folder, str(SHARES)], **common
    )
    share >> total
