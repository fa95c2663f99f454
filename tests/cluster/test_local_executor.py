"""Eight tasks at once in Airflow's own scheduler and LocalExecutor, on one store and a catalogue in PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _api_server import Server, api_server

import provspark

pytest_plugins = ("_postgres",)
pytestmark = [pytest.mark.long, pytest.mark.airflow, pytest.mark.postgres, pytest.mark.timeout(1500)]

DAGS = Path(__file__).parent / "dags"
SHARES, ROWS = 8, 400


def test_eight_tasks_at_once(tmp_path: Path, postgres: Any) -> None:
    pq.write_table(pa.table({"n": list(range(ROWS))}), _made(tmp_path / "numbers") / "0.parquet")
    conf = {"folder": str(tmp_path), "store": (tmp_path / "prov").as_uri(), "catalogue": postgres.database()}
    settings = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": "9",
        "AIRFLOW__API_AUTH__JWT_SECRET": "of-this-test-alone-and-long-enough",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[1]"}),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    home = tmp_path / "airflow"
    with api_server(home, {"ann": "admin"}, **settings) as server, ExitStack() as beside:
        settings["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"] = f"{server.url}/execution/"
        for name in ("dag-processor", "scheduler"):
            beside.enter_context(_Daemon(name, home, settings))
        tasks = _run(server, conf, home)
    assert {t["state"] for t in tasks} == {"success"}
    shares = [t for t in tasks if t["task_id"] == "share"]
    assert len(shares) == SHARES
    assert max(t["start_date"] for t in shares) < min(t["end_date"] for t in shares)  # all at once

    prov = provspark.open(conf["catalogue"])
    assert prov.steps()["coverage"].to_pylist() == ["exact"] * (SHARES + 1)
    written = [
        row for path in sorted((tmp_path / "total").glob("*.parquet")) for row in pq.read_table(path).to_pylist()
    ]
    sums = {digit: sum(range(digit, ROWS, 10)) for digit in range(10)}
    assert {row["digit"]: row["sum(n)"] for row in written} == sums
    numbers = (tmp_path / "numbers").as_uri()
    lines = prov.backward((tmp_path / "total").as_uri(), to=numbers).to_pylist()
    assert {(line["row"], line["source_row"]) for line in lines} == {
        (i, n) for i, row in enumerate(written) for n in range(row["digit"], ROWS, 10)
    }


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


class _Daemon:
    """A process of Airflow, its log in its home."""

    def __init__(self, name: str, home: Path, settings: dict[str, str]) -> None:
        self.command = [sys.executable, "-m", "airflow", name]
        self.env = {**os.environ, "AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False", **settings}
        self.log = home / f"{name}.log"

    def __enter__(self) -> None:
        with self.log.open("w") as log:
            self.process = subprocess.Popen(self.command, env=self.env, stdout=log, stderr=subprocess.STDOUT)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _run(server: Server, conf: dict[str, str], home: Path) -> list[dict[str, str]]:
    """Trigger the DAG as soon as Airflow knows it, and wait for its end; return its task instances."""
    with server.client("ann") as api:
        run = {"logical_date": None, "conf": conf}
        end = time.monotonic() + 1200
        while time.monotonic() < end:
            if api.patch("/api/v2/dags/shares", json={"is_paused": False}).status_code == 200:
                break
            time.sleep(1)
        answer = api.post("/api/v2/dags/shares/dagRuns", json=run)
        assert answer.status_code == 200, answer.text
        place = f"/api/v2/dags/shares/dagRuns/{answer.json()['dag_run_id']}"
        while (state := api.get(place).json()["state"]) not in ("success", "failed") and time.monotonic() < end:
            time.sleep(2)
        tasks = list(api.get(f"{place}/taskInstances").json()["task_instances"])
    assert state == "success", "".join(p.read_text()[-3000:] for p in sorted(home.rglob("*.log")))
    return tasks
