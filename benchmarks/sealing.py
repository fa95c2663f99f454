"""Sealing in the driver and by Spark's jobs: seconds, processor time, the driver's memory; each in its own process.

The write is of groups: as many keys are asked for as there are groups. Spark runs in local-cluster mode, so that the
driver's JVM does nothing of the executors'. Memory is what Python and the driver's JVM had at most while sealing,
beyond what they had when it began.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.common import SCRATCH, machine, publish, session, table
from benchmarks.pairs import Peak, load_average, processor

MILLION = 1_000_000
WAYS = ("driver", "spark")
FEW = 1_000
ROWS_A_GROUP = 4


def main() -> None:
    """Measure and rewrite the section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", default="1,10,100", help="derivations")
    parser.add_argument("--heap", default="2g")
    parser.add_argument("--job", nargs=3, metavar=("ROWS", "GROUPS", "WAY"), help="run one, print its figures as JSON")
    options = parser.parse_args()
    if options.job:
        rows, groups, way = options.job
        print(json.dumps(_alone(int(rows), int(groups), way, options.heap)))
        return
    lines = []
    for rows in (int(float(each) * MILLION) for each in options.millions.split(",")):
        for groups in (FEW, rows // ROWS_A_GROUP):
            for way in WAYS:
                command = [sys.executable, "-m", "benchmarks.sealing", "--heap", options.heap, "--job"]
                command += [str(rows), str(groups), way]
                said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                told = json.loads(said.splitlines()[-1])
                shown = [f"{told[what]:,.1f}" for what in ("seconds", "driver", "executors")]
                shown += [f"{told[what]:,.0f}" for what in ("python", "jvm")]
                lines.append([f"{rows:,}", f"{groups:,}", way, *shown])
                print(lines[-1], file=sys.stderr, flush=True)
    head = ["derivations", "groups", "sealed by", "time, s", "CPU time, driver, s", "CPU time, executors, s"]
    head += ["Python, extra MB", "JVM, extra MB"]
    publish(
        "sealing",
        f"One run each; the JVM's heap is at most {options.heap}; {machine()}, {load_average()}. "
        f"CPU time and memory are more reliable here than elapsed time.\n\n{table(head, lines)}",
    )


def _alone(rows: int, groups: int, way: str, heap: str) -> dict[str, Any]:
    """Run one job in this process, and watch its sealing."""
    from provspark.tracker import attach
    from provspark.tracker.session.write_capture import WriteCapture

    cores = len(os.sched_getaffinity(0))
    spark = session(
        **{
            "spark.master": f"local-cluster[{cores},1,2048]",
            "spark.driver.memory": heap,
            "spark.sql.shuffle.partitions": str(max(cores, rows // (2 * MILLION))),
            "spark.provspark.sealing": way,
        }
    )
    source = SCRATCH / f"derivations-{rows}-{groups}"
    if not (source / "_SUCCESS").exists():
        made = spark.range(rows, numPartitions=16).selectExpr(f"pmod(hash(id), {groups}) AS key")
        made.write.mode("overwrite").parquet(source.as_uri())
    store, out = (SCRATCH / "sealing" / what for what in ("prov", "out"))
    for folder in (store, out):
        shutil.rmtree(folder, ignore_errors=True)
    told: dict[str, float] = {}
    seal = WriteCapture._seal
    WriteCapture._seal = lambda self, *args: told.update(_watched(lambda: seal(self, *args)))  # type: ignore[method-assign]
    with attach(store=store.as_uri(), step=way, on_error="fail") as capture:
        frame = spark.read.parquet(source.as_uri())
        frame.groupBy("key").count().write.parquet(out.as_uri())
    spark.stop()
    assert not capture.untracked, capture.untracked
    return told


def _watched(call: Callable[[], None]) -> dict[str, float]:
    """What a call took: seconds, processor time, and memory in MB beyond what was there before."""
    with Peak(0.05) as peak:
        began, before = time.perf_counter(), _processors(peak)
        call()
        spent = [now - then for now, then in zip(_processors(peak), before, strict=True)]
        seconds = time.perf_counter() - began
    more = [most - first for most, first in zip(peak.most, peak.first, strict=True)]
    return dict(zip(("seconds", "driver", "executors", "python", "jvm"), (seconds, *spent, *more), strict=True))


def _processors(peak: Peak) -> tuple[float, float]:
    """Of the driver's processes, and of the executors that its JVM started."""
    return processor(peak.driver), processor(peak.jvm.children(recursive=True))


if __name__ == "__main__":
    main()
