"""A Python task between two of Spark, run by Airflow's scheduler: checks name it, and what it declares links."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _scheduler import Scheduled, scheduler

import provspark

pytestmark = [pytest.mark.airflow, pytest.mark.long, pytest.mark.timeout(1500)]
DAGS = Path(__file__).resolve().parent / "scheduled"


def test_a_task_of_pandas_between_two_of_spark(tmp_path: Path) -> None:
    people = {"name": ["Ada", "Bo", "Cy"], "age": [36, 9, 20], "consent": [False, True, True]}
    (tmp_path / "people").mkdir()
    pq.write_table(pa.table(people), tmp_path / "people" / "part-0.parquet")
    settings = {
        "PROVSPARK_TEST_FOLDER": str(tmp_path),
        "AIRFLOW_CONN_PROV": json.dumps({"conn_type": "provspark", "extra": {"store": str(tmp_path / "prov")}}),
    }
    with scheduler(tmp_path / "airflow", DAGS, **settings) as airflow:
        for dag in ("silent", "declared"):
            (tmp_path / dag).mkdir()
            look(airflow, dag, tmp_path)


def look(airflow: Scheduled, dag: str, folder: Path) -> None:
    tasks = airflow.run(dag, {})
    states = {name: task["state"] for name, task in tasks.items()}
    linked = dag == "declared"
    expected = {"adults": "success", "pick": "success", "report": "success", "consent": "failed"}
    assert states == expected | {"trusted": "failed" if linked else "success"}, airflow.logs()
    said = airflow.log(tasks["consent"])
    report, source = str(folder / dag / "report"), str(folder / "people")
    assert pq.read_table(report)["name"].to_pylist() == ["Ada", "Cy"]
    prov = provspark.open(folder / "prov")
    if not linked:
        assert f"task pick (_PythonDecoratedOperator) of DAG {dag} may have read these rows and passed them on" in said
        told = airflow.xcom(tasks["trusted"])
        assert (told["lines"], told["stops"]) == (0, []) and {t["by"] for t in told["trusted"]} == {"pick"}
        assert [stop.what for stop in prov.trace(report, [0], "backward").stops] == ["outside"]
        return
    assert "should find nothing, but found 2 rows" in said  # Ada, in each row of the report
    lines = prov.backward(report, [0], to=source).table().to_pylist()
    assert [line["related_row"] for line in lines] == [0, 2]  # which of the two is not known
    stops = {stop.what: stop.why for stop in prov.trace(report, [0], "backward").stops}
    assert (
        set(stops) == {"declared"} and "task pick (_PythonDecoratedOperator) declares the outlet" in stops["declared"]
    )
