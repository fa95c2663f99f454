"""Memory of the driver at 100 million edges: one job plain and tracked, each in processes of its own.

Spark runs in local-cluster mode, so that the driver's JVM does nothing of the executors'. Told is the most that the
driver's processes (Python, and the JVM, whose heap is held to `--heap`) had in memory at once.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

from benchmarks.common import SCRATCH, machine, publish, session, table
from benchmarks.pairs import Peak, load_average

JOBS = {
    "group": "SELECT key, sum(value) AS total FROM source GROUP BY key",
    "shuffled": "SELECT id, value FROM source ORDER BY value",
}


def main() -> None:
    """Measure and rewrite the section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--heap", default="3g")
    parser.add_argument("--job", choices=JOBS, help="run one job, alone, and print its figures as JSON")
    parser.add_argument("--tracked", action="store_true")
    options = parser.parse_args()
    if options.job:
        print(json.dumps(_alone(options.job, options.tracked, options.rows, options.heap)))
        return
    lines = []
    for job in JOBS:
        told = {}
        for tracked in (False, True):
            command = [sys.executable, "-m", "benchmarks.memory", "--job", job, "--rows", str(options.rows)]
            command += ["--heap", options.heap, *(["--tracked"] if tracked else [])]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            told[tracked] = json.loads(said.splitlines()[-1])
        parts = [f"{told[t][what]:,.0f}" for what in ("python", "jvm") for t in (False, True)]
        more = sum(told[True][what] - told[False][what] for what in ("python", "jvm"))
        seconds = [f"{told[t]['seconds']:.0f}" for t in (False, True)]
        lines.append([job, *parts, f"**{more:,.0f}**", *seconds, f"{told[True]['bytes'] / options.rows:.2f}"])
    head = [
        "job",
        "Python, plain, MB",
        "Python, with capture, MB",
        "JVM, plain, MB",
        "JVM, with capture, MB",
        "extra, MB",
    ]
    head += ["plain, s", "with capture, s", "bytes per edge"]
    about = f"Each line has {options.rows:,} data edges. The JVM's heap is at most {options.heap}; {machine()}, "
    about += f"{load_average()}."
    publish("memory", f"{about}\n\n{table(head, lines)}")


def _alone(job: str, tracked: bool, rows: int, heap: str) -> dict[str, float]:
    """Run a job in this process, and watch it and its JVM."""
    from provspark.tracker import attach

    source = SCRATCH / f"edges-{rows}"
    cores = os.cpu_count() or 2
    spark = session(**{"spark.master": f"local-cluster[{max(1, cores // 2)},2,3072]", "spark.driver.memory": heap})
    if not (source / "_SUCCESS").exists():
        made = spark.range(rows, numPartitions=16).selectExpr(
            "id", "pmod(hash(id), 1000000) AS key", "rand(5) AS value"
        )
        made.write.mode("overwrite").parquet(source.as_uri())
    spark.read.parquet(source.as_uri()).createOrReplaceTempView("source")
    store, out = (SCRATCH / "memory" / f"{what}-{job}" for what in ("prov", "out"))
    for folder in (store, out):
        shutil.rmtree(folder, ignore_errors=True)

    def write() -> None:
        spark.sql(JOBS[job]).write.parquet(out.as_uri())

    with Peak(0.2) as peak:
        began = time.perf_counter()
        if tracked:
            with attach(store=store.as_uri(), step=job, on_error="fail"):
                write()
        else:
            write()
        seconds = time.perf_counter() - began
    spark.stop()
    size = sum(f.stat().st_size for f in store.rglob("*") if f.is_file()) if tracked else 0
    return {"python": peak.most[0], "jvm": peak.most[1], "seconds": seconds, "bytes": size}


if __name__ == "__main__":
    main()
