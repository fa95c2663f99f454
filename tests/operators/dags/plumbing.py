"""Jobs that are no plain captured script, each a task of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pyspark
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

from provspark.operators.spark import ProvSparkOperator

HERE = Path(__file__).resolve().parent
(HADOOP,) = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
RUN = f"{sys.executable} -m provspark.cli.main run --store {{{{ dag_run.conf.store }}}} {HERE / 'arguments.py'}"

with DAG("plumbing", schedule=None, catchup=False, default_args={"prov_store": "{{ dag_run.conf.store }}"}) as dag:
    ProvSparkOperator(
        task_id="jvm",
        application=str(HADOOP),
        java_class="org.apache.hadoop.util.VersionInfo",
        prov_catalogue="postgresql://user:tell-nobody@127.0.0.1:1/none",
    )
    ProvSparkOperator(
        task_id="off",
        application=str(HERE / "arguments.py"),
        application_args=["{{ dag_run.conf.word }}", "--", "-x"],
        prov_mode="off",
    )
    ProvSparkOperator(
        task_id="fails",
        application=str(HERE / "arguments.py"),
        application_args=["{{ dag_run.conf.word }}", "fail"],
    )
    ProvSparkOperator.partial(task_id="mapped", application=str(HERE / "arguments.py")).expand(
        application_args=[["first"], ["second", "--", "x"]]
    )
    ProvSparkOperator.partial(
        task_id="appends", application=str(HERE / "appends.py"), max_active_tis_per_dagrun=1
    ).expand(application_args=[["{{ dag_run.conf.store }}-made", rows] for rows in ("3", "5", "2", "7")])
    BashOperator.partial(task_id="shell", bash_command=f"{RUN} $WORD && {RUN} $WORD again", append_env=True).expand(
        env=[{"WORD": "one"}, {"WORD": "two"}]
    )
    ProvSparkOperator(
        task_id="starts",
        application=str(HERE / "starts.py"),
        application_args=["{{ dag_run.conf.store }}"],
        env_vars={"OWN": "1"},
    )
