"""Eight tasks at once in Airflow's own scheduler and LocalExecutor, on one store and a catalogue in PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _scheduler import scheduler

import provspark

pytest_plugins = ("_postgres",)
pytestmark = [pytest.mark.long, pytest.mark.airflow, pytest.mark.postgres, pytest.mark.timeout(1500)]

DAGS = Path(__file__).parent / "dags"
SHARES, ROWS = 8, 400


def test_eight_tasks_at_once(tmp_path: Path, postgres: Any) -> None:
    pq.write_table(pa.table({"n": list(range(ROWS))}), _made(tmp_path / "numbers") / "0.parquet")
    conf = {"folder": str(tmp_path), "store": (tmp_path / "prov").as_uri(), "catalogue": postgres.database()}
    with scheduler(tmp_path / "airflow", DAGS, AIRFLOW__CORE__PARALLELISM="9") as airflow:
        tasks = airflow.instances("shares", conf)
        assert {t["state"] for t in tasks} == {"success"}, airflow.logs()
    shares = [t for t in tasks if t["task_id"] == "share"]
    assert len(shares) == SHARES
    assert max(t["start_date"] for t in shares) < min(t["end_date"] for t in shares)  # all at once

    prov = provspark.open(conf["catalogue"])
    assert prov.steps().table()["coverage"].to_pylist() == ["exact"] * (SHARES + 1)
    written = [
        row for path in sorted((tmp_path / "total").glob("*.parquet")) for row in pq.read_table(path).to_pylist()
    ]
    sums = {digit: sum(range(digit, ROWS, 10)) for digit in range(10)}
    assert {row["digit"]: row["sum(n)"] for row in written} == sums
    numbers = (tmp_path / "numbers").as_uri()
    lines = prov.backward((tmp_path / "total").as_uri(), to=numbers).table().to_pylist()
    assert {(line["row"], line["related_row"]) for line in lines} == {
        (i, n) for i, row in enumerate(written) for n in range(row["digit"], ROWS, 10)
    }


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
