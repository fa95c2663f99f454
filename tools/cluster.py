"""A Spark standalone cluster on this machine: one master, some workers, each a process of its own.

``python tools/cluster.py --workers 2 --cores 1`` starts one, says its address, and stops it on Ctrl-C. What runs on
executors finds stock Spark and no Python.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

_PATIENCE = 60


@contextmanager
def cluster(folder: Path, *, workers: int = 2, cores: int = 1, memory: str = "1g") -> Iterator[str]:
    """Run a cluster whose logs and scratch files are in `folder`; yield its ``spark://`` address."""
    with ExitStack() as running:
        port = _free_port()
        master = _daemon(folder, "master.Master", ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"])
        running.callback(_stop, master)
        _wait(lambda: _listens(port), f"the master, whose log is {folder}/Master.log")
        address = f"spark://127.0.0.1:{port}"
        for number in range(workers):
            options = ["--host", "127.0.0.1", "--webui-port", "0", "-c", str(cores), "-m", memory]
            place = folder / f"worker-{number}"
            worker = _daemon(place, "worker.Worker", [*options, "-d", str(place), address])
            running.callback(_stop, worker)
            _wait(lambda p=place: _said(p / "Worker.log", "Successfully registered"), f"a worker, {place}/Worker.log")
        yield address


def _daemon(folder: Path, name: str, options: list[str]) -> subprocess.Popen[bytes]:
    import pyspark

    folder.mkdir(parents=True, exist_ok=True)
    home = Path(pyspark.__file__).parent
    env = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_DIRS": str(folder), "SPARK_DAEMON_MEMORY": "256m"}
    env.pop("PYSPARK_PYTHON", None)
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *options]
    with (folder / f"{name.split('.')[1]}.log").open("wb") as log:
        return subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT, cwd=folder)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def _said(log: Path, words: str) -> bool:
    return log.exists() and words in log.read_text(errors="replace")


def _wait(ready: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + _PATIENCE
    while not ready():
        if time.monotonic() > until:
            raise SystemExit(f"{what}, did not start in {_PATIENCE} s")
        time.sleep(0.1)


def main() -> None:
    """Run a cluster until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1, help="of each worker")
    parser.add_argument("--memory", default="1g", help="of each worker")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        cluster(Path(folder), workers=options.workers, cores=options.cores, memory=options.memory) as address,
    ):
        print(f"{address} (logs in {folder}; Ctrl-C stops it)", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            sys.exit(0)


if __name__ == "__main__":
    main()
