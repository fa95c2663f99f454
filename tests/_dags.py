"""Runs a DAG in real Airflow, in a process and a home of its own, and reads back what Airflow kept of it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Run:
    """What is left of a run: the exit code, the log, and Airflow's database."""

    code: int
    log: str
    home: Path

    def states(self) -> dict[str, str]:
        return dict(self._rows("select task_id, state from task_instance"))

    def xcom(self, task: str) -> Any:
        rows = self._rows("select value from xcom where task_id = ? and key = 'return_value'", task)
        return json.loads(rows[0][0]) if rows else None

    def xcoms(self, task: str) -> list[Any]:
        """What the instances of a mapped task returned, in order."""
        query = "select value from xcom where task_id = ? and key = 'return_value' order by map_index"
        return [json.loads(value) for (value,) in self._rows(query, task)]

    def rendered(self, task: str) -> dict[str, Any]:
        query = "select rendered_fields from rendered_task_instance_fields where task_id = ?"
        ((fields,),) = self._rows(query, task)
        return dict(json.loads(fields))

    def warnings(self) -> list[str]:
        return [line for line in self.log.splitlines() if "[warning  ] ProvSpark:" in line]

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(self.home / "airflow.db")
        try:
            return connection.execute(query, values).fetchall()
        finally:
            connection.close()


def run_dag(folder: Path, dag: str, home: Path, conf: dict[str, str], **settings: str) -> Run:
    """``airflow dags test`` on a fresh SQLite database, Spark on two cores."""
    env = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
        "SPARK_LOCAL_IP": "127.0.0.1",
        **settings,
    }
    airflow = [sys.executable, "-m", "airflow"]
    subprocess.run([*airflow, "db", "migrate"], env=env, capture_output=True, check=True)
    done = subprocess.run(
        [*airflow, "dags", "test", dag, "--conf", json.dumps(conf)],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Run(done.returncode, done.stdout, home)
