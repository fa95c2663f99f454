"""A check of consent in real Airflow, where a task uses pandas between its reads and its writes, or between tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _dags import Run, run_dag

import provspark

pytestmark = [pytest.mark.airflow, pytest.mark.long]
DAGS = Path(__file__).resolve().parent / "dags"


def run(folder: Path, dag: str) -> Run:
    people = {"name": ["Ada", "Bo", "Cy"], "age": [36, 9, 20], "consent": [False, True, True]}
    (folder / "people").mkdir()
    pq.write_table(pa.table(people), folder / "people" / "part-0.parquet")
    prov = json.dumps({"conn_type": "provspark", "extra": {"store": str(folder / "prov")}})
    return run_dag(DAGS, dag, folder / "airflow", {"folder": str(folder)}, AIRFLOW_CONN_PROV=prov)


def test_pandas_within_a_task(tmp_path: Path) -> None:
    done = run(tmp_path, "consent_within")
    assert done.states() == {"adults": "success", "consent": "failed", "trusted": "success"}
    assert "can't confirm 'nothing': 2 possible edges" in done.log
    told = done.xcom("trusted")
    assert (told["lines"], told["possible"]) == (0, 0)
    assert [stop["what"] for stop in told["stops"]] == ["coarse"]  # which fails no check for nothing
    assert {(t["by"], t["what"]) for t in told["trusted"]} == {("adults.py:9", what) for what in ("possible", "end")}
    assert pq.read_table(tmp_path / "adults")["name"].to_pylist() == ["Ada", "Cy"]


def test_a_file_that_pandas_hands_to_the_next_task(tmp_path: Path) -> None:
    done = run(tmp_path, "consent_handed")
    assert done.states() == {"left": "success", "came": "success", "consent": "failed"}
    assert f"file://{tmp_path}/adults" in done.log
    assert "should find nothing, but found 2 rows" in done.log
    drawn = provspark.open(tmp_path / "prov").trace(
        str(tmp_path / "people"), [0], "forward", to=str(tmp_path / "adults")
    )
    assert f"file://{tmp_path}/adults.csv" in {node.dataset for node in drawn.nodes}


def test_pandas_in_a_task_between_two_of_spark(tmp_path: Path) -> None:
    done = run(tmp_path, "consent_between")
    states = {"adults": "success", "pick": "success", "report": "success", "consent": "failed", "trusted": "success"}
    assert done.states() == states, done.log[-5000:]
    assert (
        "task pick (_PythonDecoratedOperator) of DAG consent_between may have read these rows and passed them on"
        in done.log
    )
    told = done.xcom("trusted")
    assert (told["lines"], told["stops"]) == (0, []) and {t["by"] for t in told["trusted"]} == {"pick"}
    assert pq.read_table(tmp_path / "report")["name"].to_pylist() == ["Ada", "Cy"]
    backward = provspark.open(tmp_path / "prov").trace(str(tmp_path / "report"), [0], "backward")
    assert [(stop.what, "written during run" in stop.why) for stop in backward.stops] == [("outside", True)]
