"""Airflow's own api-server, in a process and a home of its own, with users of its simple auth manager."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import httpx


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    url: str
    home: Path
    passwords: Mapping[str, str]

    def token(self, user: str) -> str:
        answer = httpx.post(f"{self.url}/auth/token", json={"username": user, "password": self.passwords[user]})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["access_token"])

    def client(self, user: str | None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token(user)}"} if user else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)


TEAMS = tuple(map(int, version("apache-airflow").split(".")[:2])) >= (3, 2)
"""Whether Airflow's simple auth manager has teams: before, a role decides alone, and every viewer sees every DAG."""


@contextmanager
def api_server(
    home: Path, users: Mapping[str, str], teams: Mapping[str, Iterable[str]] | None = None, **settings: str
) -> Iterator[Server]:
    """Serve Airflow on a free port; `users` are roles (with teams, where there are) by name, `teams` have DAGs."""
    home.mkdir(exist_ok=True)
    passwords = {user: f"{user}-passes" for user in users}
    (home / "passwords.json").write_text(json.dumps(passwords))
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{u}:{role}" for u, role in users.items()),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        **settings,
    }
    airflow = [sys.executable, "-m", "airflow"]
    subprocess.run([*airflow, "db", "migrate"], env=env, capture_output=True, check=True)
    _add_dags(home, teams or {})
    with (home / "server.log").open("w") as log:
        command = [*airflow, "api-server", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT)
        try:
            server = Server(f"http://127.0.0.1:{port}", home, passwords)
            _wait(server, process)
            yield server
        finally:
            process.terminate()
            process.wait(30)


def _add_dags(home: Path, teams: Mapping[str, Iterable[str]]) -> None:
    """Make DAGs known to Airflow, each in the bundle of its team, where Airflow has teams."""
    with closing(sqlite3.connect(home / "airflow.db")) as db:
        columns = {name: kind for _, name, kind, needed, *_ in db.execute("pragma table_info(dag)") if needed}
        for team, dags in teams.items():
            db.execute("insert into dag_bundle (name, active) values (?, 1)", [f"bundle-{team}"])
            if TEAMS:
                db.execute("insert into team (name) values (?)", [team])
                db.execute("insert into dag_bundle_team values (?, ?)", [f"bundle-{team}", team])
            for dag in dags:
                if db.execute("update dag set bundle_name = ? where dag_id = ?", [f"bundle-{team}", dag]).rowcount:
                    continue
                empty = {
                    name: "{}" if "JSON" in kind else "" if "CHAR" in kind else 0 for name, kind in columns.items()
                }
                row = {**empty, "dag_id": dag, "bundle_name": f"bundle-{team}", "is_paused": 0, "is_stale": 0}
                row |= {"max_active_tasks": 16}
                marks = ", ".join("?" * len(row))
                db.execute(f"insert into dag ({', '.join(row)}) values ({marks})", list(row.values()))
        db.commit()


def _wait(server: Server, process: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        assert process.poll() is None, (server.home / "server.log").read_text()[-3000:]
        try:
            if httpx.get(f"{server.url}/api/v2/version").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.25)
    raise AssertionError((server.home / "server.log").read_text()[-3000:])
