"""Serves the demo's own Airflow, logged in, and opens it at a trace of the Census report."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provspark.model.datasets import Dataset

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".demo"
AIRFLOW = Path(sys.executable).parent / "airflow"
ROW = 13


def main() -> int:
    """Serve until Ctrl-C."""
    try:
        with serving() as (base, server):
            page = f"{base}/plugin/provspark?{question()}"
            print(f"Airflow, with you as its admin, at a trace of the report:\n  {page}\nCtrl-C ends it.", flush=True)
            webbrowser.open(page)
            server.wait()
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


@contextmanager
def serving() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start the api-server of the demo's Airflow on a free port; give its address and process."""
    if not (HOME / "store").is_dir():
        raise RuntimeError("run `make demo` first: it makes the lineage that the page shows")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    env = {
        **os.environ,
        "AIRFLOW_HOME": str(HOME / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags_examples"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__API__BASE_URL": base,
        "PROVSPARK_STORE": str(HOME / "store"),
    }
    command = [str(AIRFLOW), "api-server", "--host", "127.0.0.1", "--port", str(port)]
    with (
        (HOME / "server.log").open("w") as log,
        subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT) as server,
    ):
        try:
            if not ready(f"{base}/api/v2/version", server):
                raise RuntimeError(f"Airflow's api-server did not start; see {HOME / 'server.log'}")
            yield base, server
        finally:
            server.terminate()


def question() -> str:
    """Return the page's address of a trace of a row of the report."""
    from urllib.parse import urlencode

    from provspark.web.scope import dataset_id

    return urlencode({"ds": dataset_id(data("report")), "rows": ROW, "trace": "backward"})


def data(name: str) -> Dataset:
    """Return a data set that the demo wrote."""
    from provspark.model.datasets import Dataset

    return Dataset.parse(str(HOME / "data" / name))


def ready(url: str, server: subprocess.Popen[bytes]) -> bool:
    """Wait for an answer."""
    for _ in range(240):
        if server.poll() is not None:
            return False
        try:
            with urllib.request.urlopen(url) as answer:
                return bool(json.load(answer))
        except OSError:
            time.sleep(0.25)
    return False


if __name__ == "__main__":
    sys.exit(main())
