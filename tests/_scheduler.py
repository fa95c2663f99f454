"""Airflow's own scheduler with its LocalExecutor, in processes and a home of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _api_server import Server, api_server

_LONGEST = 1200


@dataclass(frozen=True)
class Scheduled:
    """A scheduler at work."""

    server: Server

    def run(self, dag: str, conf: dict[str, str]) -> dict[str, dict[str, Any]]:
        """Trigger a DAG as soon as Airflow knows it, and wait for its end; return its task instances, by task.

        Of a mapped task the last instance is there.
        """
        return {task["task_id"]: task for task in self.instances(dag, conf)}

    def instances(self, dag: str, conf: dict[str, str]) -> list[dict[str, Any]]:
        """Return all task instances of a new run that has ended."""
        end = time.monotonic() + _LONGEST
        with self.server.client("ann") as api:
            while time.monotonic() < end:
                if api.patch(f"/api/v2/dags/{dag}", json={"is_paused": False}).status_code == 200:
                    break
                time.sleep(1)
            answer = api.post(f"/api/v2/dags/{dag}/dagRuns", json={"logical_date": None, "conf": conf})
            assert answer.status_code == 200, answer.text
            place = f"/api/v2/dags/{dag}/dagRuns/{answer.json()['dag_run_id']}"
            while api.get(place).json()["state"] not in ("success", "failed"):
                assert time.monotonic() < end, self.logs()
                time.sleep(2)
            return list(api.get(f"{place}/taskInstances").json()["task_instances"])

    def xcom(self, task: dict[str, Any]) -> Any:
        """Return what a task instance returned."""
        place = f"/api/v2/dags/{task['dag_id']}/dagRuns/{task['dag_run_id']}/taskInstances/{task['task_id']}"
        with self.server.client("ann") as api:
            return api.get(f"{place}/xcomEntries/return_value").json()["value"]

    def log(self, task: dict[str, Any]) -> str:
        """Return the log of a task instance."""
        folder = self.server.home / "logs" / f"dag_id={task['dag_id']}" / f"run_id={task['dag_run_id']}"
        return "".join(p.read_text() for p in sorted(folder.glob(f"task_id={task['task_id']}/**/*.log")))

    def logs(self) -> str:
        """Return the ends of all logs."""
        return "".join(p.read_text()[-3000:] for p in sorted(self.server.home.rglob("*.log")))


@contextmanager
def scheduler(home: Path, dags: Path, **settings: str) -> Iterator[Scheduled]:
    """Run the DAGs of a folder."""
    settings = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__API_AUTH__JWT_SECRET": "of-this-test-alone-and-long-enough",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[1]"}),
        "SPARK_LOCAL_IP": "127.0.0.1",
        **settings,
    }
    with api_server(home, {"ann": "admin"}, **settings) as server, ExitStack() as beside:
        settings["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"] = f"{server.url}/execution/"
        for name in ("dag-processor", "scheduler"):
            beside.enter_context(_Daemon(name, home, settings))
        yield Scheduled(server)


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
