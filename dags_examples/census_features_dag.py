"""Census: a published data preparation for machine learning, with a join and an imputation by the mean."""

from __future__ import annotations

from pathlib import Path

from airflow.sdk import DAG, Param

from provspark.operators.spark import ProvSparkOperator

HERE = Path(__file__).resolve().parent
JOBS = HERE / "census"

with DAG(
    "census_features",
    description=__doc__,
    schedule=None,
    catchup=False,
    tags=["provspark"],
    params={
        "data": Param(str(HERE / "data"), type="string", description="folder of census.csv and regions.csv"),
        "out": Param("/tmp/provspark/census_features", type="string", description="folder for the datasets"),
        "store": Param("/tmp/provspark/store", type="string", description="folder for the lineage"),
    },
    default_args={"prov_store": "{{ params.store }}"},
) as dag:
    texts = ProvSparkOperator(
        task_id="texts",
        application=str(JOBS / "texts.py"),
        application_args=["{{ params.data }}/census.csv", "{{ params.out }}/texts"],
    )
    joined = ProvSparkOperator(
        task_id="joined",
        application=str(JOBS / "regions.py"),
        application_args=[
            "{{ params.out }}/texts",
            "{{ params.data }}/regions.csv",
            "{{ params.out }}/joined",
        ],
    )
    encode = ProvSparkOperator(
        task_id="encode",
        application=str(JOBS / "encode.py"),
        application_args=["{{ params.out }}/texts", "{{ params.out }}/census"],
    )
    impute = ProvSparkOperator(
        task_id="impute",
        application=str(JOBS / "impute.py"),
        application_args=["{{ params.out }}/census", "{{ params.out }}/imputed"],
        prov_profile=True,
    )
    texts >> [joined, encode]
    encode >> impute
