"""A DAG as users of the last release wrote it by its docs: tasks of Spark, questions as tasks, the hook in a task."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from airflow.sdk import DAG, task

from provspark.hooks.prov import ProvHook
from provspark.operators.query import ProvQueryOperator
from provspark.operators.spark import ProvSparkOperator

DATA = os.environ["SHOP_DATA"]
JOBS = Path(__file__).resolve().parents[1] / "jobs"


def spark(name: str, *arguments: str, **more: object) -> ProvSparkOperator:
    """A task of Spark by the name of its script."""
    return ProvSparkOperator(
        task_id=name,
        application=str(JOBS / f"{name}.py"),
        application_args=[f"{DATA}/{argument}" for argument in arguments],
        prov_store=f"file://{DATA}/prov",  # or PROVSPARK_STORE, or [provspark] store in airflow.cfg
        **more,
    )


def from_few(table: pa.Table) -> bool:
    """Whether an answer names few people, and no one beyond those that there are."""
    people = {line["source_row"] for line in table.to_pylist()}
    return table.num_rows < 100 and len(people) < 50 and pc.max(table["source_row"]).as_py() < 240


with DAG("shop", schedule=None, catchup=False) as dag:
    people = spark("people", "people.csv", "people", prov_profile=True)
    clean = spark("clean", "people", "clean")
    sides = spark("sides", "clean", "left", "right")
    joined = spark("joined", "orders", "lines", "joined")
    report = spark("report", "left", "right", "joined", "report")
    consent = ProvQueryOperator(
        task_id="consent",
        question="forward",
        arguments={"dataset": f"{DATA}/people", "where": [("consent", "=", False)], "to": f"{DATA}/report"},
        expect="nothing",
        prov_conn_id="provspark_default",
        trigger_rule="all_done",
    )
    aged = ProvQueryOperator(
        task_id="aged",
        question="forward",
        arguments={"dataset": f"{DATA}/people", "where": [("age", "is null", None)], "to": f"{DATA}/report"},
        expect="nothing",
    )
    why = ProvQueryOperator(
        task_id="why",
        question="backward",
        arguments={"dataset": f"{DATA}/report", "rows": [17], "to": f"{DATA}/people.csv"},
        expect="something",
        check=from_few,
        write_to=f"{DATA}/why.csv",
        limit=2,
    )
    first = ProvQueryOperator(
        task_id="first",
        question="forward",
        arguments={
            "dataset": f"{DATA}/people.csv",
            "where": [("id", "=", "{{ ti.xcom_pull('why')['answer'][0]['source_row'] }}")],
            "to": f"{DATA}/report",
        },
        write_to=f"{DATA}/first.parquet",
    )
    columns = ProvQueryOperator(
        task_id="columns",
        question="columns",
        arguments={"dataset": f"{DATA}/report", "column": "total"},
        check=lambda table: {"amount"} <= set(table.column("source_column").to_pylist()),
    )
    cells = ProvQueryOperator(
        task_id="cells", question="cells", arguments={"dataset": f"{DATA}/report", "rows": [17], "columns": "total"}
    )
    how = ProvQueryOperator(task_id="how", question="how", arguments={"dataset": f"{DATA}/report", "rows": [17]})
    operations = ProvQueryOperator(task_id="operations", question="operations", arguments={"what": f"{DATA}/report"})
    dropped = ProvQueryOperator(task_id="dropped", question="dropped", arguments={"dataset": f"{DATA}/people.csv"})
    siblings = ProvQueryOperator(
        task_id="siblings",
        question="co_dependency",
        arguments={"dataset": f"{DATA}/people", "rows": [3], "to": f"{DATA}/clean", "via": f"{DATA}/people.csv"},
    )
    used = ProvQueryOperator(
        task_id="used",
        question="co_contributory",
        arguments={"dataset": f"{DATA}/orders", "rows": [7], "to": f"{DATA}/lines", "via": f"{DATA}/report"},
        check=lambda table: table["source_row"].to_pylist() == [14, 15],
    )
    whole = ProvQueryOperator(
        task_id="whole", question="correspondence", arguments={"dataset": f"{DATA}/report", "to": f"{DATA}/people.csv"}
    )
    before = ProvQueryOperator(
        task_id="before", question="before_after", arguments={"dataset": f"{DATA}/report", "rows": [17]}
    )

    @task
    def asked() -> list[int]:
        """The hook's answers, as tables of Arrow."""
        hook = ProvHook()
        lines = hook.backward(f"{DATA}/report", [17], to=f"{DATA}/people.csv")
        composition = hook.composition(f"{DATA}/report", source=f"{DATA}/people.csv", column="sex")
        assert hook.get_conn().ask.backward(f"{DATA}/report", [17]).table().num_rows
        return [*lines["source_row"].to_pylist(), composition.num_rows, hook.values(f"{DATA}/report", [17]).num_rows]

    questions = [consent, aged, columns, cells, how, operations, dropped, siblings, used, whole, asked()]
    people >> clean >> sides >> report >> [*questions, why, before]
    joined >> report
    why >> first
