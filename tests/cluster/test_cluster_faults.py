"""Capture on a standalone cluster of two workers with stock Spark alone, undisturbed and when things go wrong."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import provspark
from provspark.index_store.store.repair import repair
from provspark.index_store.store.store import Store

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from cluster import cluster

pytestmark = [pytest.mark.long, pytest.mark.spark]

JOB = Path(__file__).parent / "jobs" / "spend.py"
ORDERS = [(i, i % 23, 77.0 if i == 7 else float(i * 37 % 41)) for i in range(400)]
CUSTOMERS = [(k, f"customer {k}") for k in range(0, 23, 2)]
SORT_MERGE = {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.shuffle.partitions": "4"}
KILLED_BEFORE_SEALING = """
import os, signal, sys
import provspark.tracker.seal.captured_write as write
write.TracedWrite.seal = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from provspark.tracker.runner import main
main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a cluster."""
    with cluster(tmp_path_factory.mktemp("cluster"), workers=2, cores=2) as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with orders in eight files and customers in two, in an order of their own."""
    shuffled = random.Random(5).sample(ORDERS, len(ORDERS))
    for number in range(8):
        _write(tmp_path / "orders" / f"{number}.parquet", ("id", "customer", "amount"), shuffled[number::8])
    for number in range(2):
        _write(tmp_path / "customers" / f"{number}.parquet", ("customer", "name"), CUSTOMERS[number::2])
    return tmp_path


class Job:
    """The script under way, as `provspark run` starts it."""

    def __init__(
        self,
        master: str,
        folder: Path,
        *,
        how: str = "",
        sleep: int = 2,
        start: str = "",
        attempt: int = 1,
        **conf: str,
    ) -> None:
        self.folder, self.store, self.out = folder, folder / "store", folder / "out"
        self.watch, self.log = folder / "watch.log", folder / "log"
        self.mark = f"-Djob={folder}"
        settings = {"spark.ui.enabled": "false", "spark.executor.memory": "512m"} | SORT_MERGE | conf
        settings["spark.executor.extraJavaOptions"] = self.mark
        given = " ".join(f"--conf {name}={value}" for name, value in settings.items())
        env = os.environ | {
            "PYSPARK_PYTHON": sys.executable if how == "flaky" else "/bin/false",
            "PYSPARK_SUBMIT_ARGS": f"--master {master} --conf spark.driver.host=127.0.0.1 {given} pyspark-shell",
        }
        head = ["-c", start] if start else ["-m", "provspark.tracker.runner"]
        options = ["--store", self.store.as_uri(), "--task-id", "spend", "--run-id", "run"]
        options += ["--try-number", str(attempt), "--"]
        script = [str(JOB), str(folder), str(self.out), str(sleep), str(self.watch), *([how] if how else [])]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *head, *options, *script], env=env, stdout=log, stderr=subprocess.STDOUT
            )

    def wait(self) -> int:
        """Return the exit code."""
        return self.process.wait(300)

    def until(self, reached: Callable[[list[tuple[int, int, int]]], bool]) -> None:
        """Wait for stages to be so far: (stage, tasks done, tasks) of each."""
        end = time.monotonic() + 120
        while time.monotonic() < end and self.process.poll() is None:
            lines = self.watch.read_text().splitlines() if self.watch.exists() else []
            if reached([(int(a), int(b), int(c)) for a, b, c in map(str.split, lines)]):
                return
            time.sleep(0.02)
        raise AssertionError(f"the job did not get there: {self.log.read_text()[-3000:]}")

    def executors(self) -> list[psutil.Process]:
        """Processes of its executors, the oldest first; those of other jobs may run beside it."""
        found = []
        for process in psutil.process_iter(["cmdline", "create_time"]):
            line = process.info["cmdline"] or ()
            if self.mark in line and any("CoarseGrainedExecutorBackend" in part for part in line):
                found.append(process)
        return sorted(found, key=lambda p: float(p.info["create_time"]))


def check(job: Job) -> None:
    """The output is what plain Python makes of the inputs, and its lineage exact, both ways."""
    orders = [row for n in range(8) for row in _read(job.folder / "orders" / f"{n}.parquet")]
    customers = [row for n in range(2) for row in _read(job.folder / "customers" / f"{n}.parquet")]
    files = sorted(job.out.glob("part-*.parquet"))
    written = [row for path in files for row in _read(path)]
    mine = {
        c[0]: [i for i, (_, customer, amount) in enumerate(orders) if customer == c[0] and amount > 10]
        for c in customers
    }
    expected = [(k, name, sum(orders[i][2] for i in mine[k])) for k, name in sorted(customers) if mine[k]]
    assert written == expected
    prov = provspark.open(job.store.as_uri())
    assert prov.steps().table()["coverage"].to_pylist()[-1] == "exact", job.log.read_text()[-3000:]
    lines = prov.backward(job.out.as_uri()).table().to_pylist()
    found = {(line["row"], line["dataset"].rsplit("/", 1)[1], line["related_row"]) for line in lines}
    places = {c[0]: i for i, c in enumerate(customers)}
    wanted = {(r, "orders", i) for r, (k, _, _) in enumerate(written) for i in mine[k]}
    wanted |= {(r, "customers", places[k]) for r, (k, _, _) in enumerate(written)}
    assert found == wanted
    forward = prov.forward((job.folder / "orders").as_uri()).table().to_pylist()
    assert {(line["related_row"], line["row"]) for line in forward} == {(r, i) for r, d, i in wanted if d == "orders"}


def test_an_undisturbed_job(master: str, folder: Path) -> None:
    job = Job(master, folder, sleep=0)
    assert job.wait() == 0, job.log.read_text()[-3000:]
    check(job)


def test_an_executor_killed_amid_a_stage(master: str, folder: Path) -> None:
    job = Job(master, folder, sleep=5)
    job.until(lambda stages: any(0 < done < tasks for _, done, tasks in stages))
    job.executors()[0].send_signal(signal.SIGKILL)
    assert job.wait() == 0, job.log.read_text()[-3000:]
    assert "Lost executor" in job.log.read_text()
    check(job)


def test_shuffle_files_lost_and_a_stage_run_again(master: str, folder: Path) -> None:
    """Both executors go as soon as the orders are shuffled: the stages above have nothing to read."""
    job = Job(master, folder, sleep=5, **{"spark.sql.adaptive.enabled": "false"})
    job.until(lambda stages: sum(done == tasks for _, done, tasks in stages) >= 2)
    for process in job.executors():
        process.send_signal(signal.SIGKILL)
    assert job.wait() == 0, job.log.read_text()[-3000:]
    check(job)


def test_a_slow_task_run_twice(master: str, folder: Path) -> None:
    speculation = {"": "true", ".interval": "50ms", ".quantile": "0.5", ".multiplier": "1.1", ".minTaskRuntime": "50ms"}
    job = Job(master, folder, sleep=20, **{f"spark.speculation{k}": v for k, v in speculation.items()})
    assert job.wait() == 0, job.log.read_text()[-3000:]
    check(job)


def test_a_task_that_fails_twice(master: str, folder: Path) -> None:
    job = Job(master, folder, sleep=0, how="flaky")
    assert job.wait() == 0, job.log.read_text()[-3000:]
    assert job.watch.with_name("watch.log.tries").read_text() == "3"
    check(job)


def test_a_cancelled_job_leaves_no_lineage_and_can_be_run_again(master: str, folder: Path) -> None:
    job = Job(master, folder, sleep=5, how="cancel")
    assert job.wait() == 1
    manifest = Store.open(job.store.as_uri()).manifests()[0]
    of_spark = [w.output.dataset for w in manifest.writes if w.output.dataset.name != str(job.watch)]
    assert (manifest.status, of_spark) == ("failed", [])
    assert "cancelled" in manifest.error
    again = Job(master, folder, sleep=0, attempt=2)
    assert again.wait() == 0, again.log.read_text()[-3000:]
    check(again)


def test_executors_that_come_and_go(master: str, folder: Path) -> None:
    names = {"enabled": "true", "shuffleTracking.enabled": "true", "minExecutors": "0", "executorIdleTimeout": "1s"}
    job = Job(master, folder, sleep=5, **{f"spark.dynamicAllocation.{k}": v for k, v in names.items()})
    assert job.wait() == 0, job.log.read_text()[-3000:]
    check(job)


def test_a_driver_killed_between_write_and_seal(master: str, folder: Path) -> None:
    job = Job(master, folder, sleep=0, start=KILLED_BEFORE_SEALING)
    assert job.wait() == -signal.SIGKILL
    assert (job.out / "_SUCCESS").exists()
    store = Store.open(job.store.as_uri())
    assert store.steps() == []
    repair(store, idle=0)
    manifest = Store.open(job.store.as_uri()).manifests()[0]
    assert (manifest.status, manifest.writes) == ("failed", ())
    assert manifest.untracked


def _write(path: Path, names: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path, row_group_size=16)


def _read(path: Path) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in pq.read_table(path).to_pylist()]
