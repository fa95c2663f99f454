"""German credit and COMPAS: two published data preparations for machine learning."""

from __future__ import annotations

from pathlib import Path

from airflow.sdk import DAG, Param

from provspark.operators.spark import ProvSparkOperator

HERE = Path(__file__).resolve().parent

with DAG(
    "credit_compas",
    description=__doc__,
    schedule=None,
    catchup=False,
    tags=["provspark"],
    params={
        "data": Param(str(HERE / "data"), type="string", description="folder of german.csv and compas.csv"),
        "out": Param("/tmp/provspark/credit_compas", type="string", description="folder for the datasets"),
        "store": Param("/tmp/provspark/store", type="string", description="folder for the lineage"),
    },
    default_args={"prov_store": "{{ params.store }}"},
) as dag:
    terms = ProvSparkOperator(
        task_id="credit_terms",
        application=str(HERE / "credit" / "terms.py"),
        application_args=["{{ params.data }}/german.csv", "{{ params.out }}/credit_terms"],
    )
    encode = ProvSparkOperator(
        task_id="credit_encode",
        application=str(HERE / "credit" / "encode.py"),
        application_args=["{{ params.out }}/credit_terms", "{{ params.out }}/credit"],
    )
    complete = ProvSparkOperator(
        task_id="compas_complete",
        application=str(HERE / "compas" / "complete.py"),
        application_args=["{{ params.data }}/compas.csv", "{{ params.out }}/compas_complete"],
    )
    label = ProvSparkOperator(
        task_id="compas_label",
        application=str(HERE / "compas" / "label.py"),
        application_args=["{{ params.out }}/compas_complete", "{{ params.out }}/compas"],
    )
    credit_impute = ProvSparkOperator(
        task_id="credit_impute",
        application=str(HERE / "credit" / "impute.py"),
        application_args=["{{ params.out }}/credit", "{{ params.out }}/credit_imputed"],
    )
    compas_impute = ProvSparkOperator(
        task_id="compas_impute",
        application=str(HERE / "compas" / "impute.py"),
        application_args=["{{ params.data }}/compas.csv", "{{ params.out }}/compas_imputed"],
    )
    terms >> encode >> credit_impute
    complete >> label
