"""Census: from a CSV of 32,561 people to a report by region and age, with every row's lineage."""

from __future__ import annotations

from pathlib import Path

from airflow.sdk import DAG, Param

from provspark.operators.spark import ProvSparkOperator

HERE = Path(__file__).resolve().parent
JOBS = HERE / "census"

with DAG(
    "census",
    description=__doc__,
    schedule=None,
    catchup=False,
    tags=["provspark"],
    params={
        "data": Param(str(HERE / "data"), type="string", description="folder of census.csv and regions.csv"),
        "out": Param("/tmp/provspark/census", type="string", description="folder for the datasets"),
        "store": Param("/tmp/provspark/store", type="string", description="folder for the lineage"),
    },
    default_args={"prov_store": "{{ params.store }}"},
) as dag:
    read = ProvSparkOperator(
        task_id="read",
        application=str(JOBS / "read.py"),
        application_args=["{{ params.data }}/census.csv", "{{ params.out }}/people"],
    )
    clean = ProvSparkOperator(
        task_id="clean",
        application=str(JOBS / "clean.py"),
        application_args=["{{ params.out }}/people", "{{ params.out }}/clean"],
    )
    regions = ProvSparkOperator(
        task_id="regions",
        application=str(JOBS / "regions.py"),
        application_args=[
            "{{ params.out }}/clean",
            "{{ params.data }}/regions.csv",
            "{{ params.out }}/regions",
        ],
    )
    report = ProvSparkOperator(
        task_id="report",
        application=str(JOBS / "report.py"),
        application_args=["{{ params.out }}/regions", "{{ params.out }}/report"],
    )
    read >> clean >> regions >> report
