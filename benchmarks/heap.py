"""Memory of an executor: the smallest heap in which one task ends that reads, groups and writes, plain and tracked.

The executor is a process of its own (local-cluster mode) of one core, so that its heap holds one task. The task's
rows have keys and addresses in no order, which nothing packs, and more keys than a tap holds at once.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys

from benchmarks.common import SCRATCH, machine, publish, session, table

ROWS, KEYS = 3_000_000, 1_000_000
LOW, HIGH, STEP = 32, 256, 2
"""Heaps tried, in MB: between the first two, to within the last."""
PATIENCE = 120
"""Seconds: an executor that can't even start is started for ever."""


def main() -> None:
    """Measure and rewrite the section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heap", type=int, help="run the job once, alone, in so many MB; fails where they do not do")
    parser.add_argument("--tracked", action="store_true")
    options = parser.parse_args()
    if options.heap:
        _alone(options.heap, options.tracked)
        return
    _alone(0, False)
    plain, tracked = (_smallest(tracked) for tracked in (False, True))
    head = ["rows", "keys", "plain, MB", "with capture, MB", "extra, MB"]
    line = [f"{ROWS:,}", f"{KEYS:,}", str(plain), str(tracked), f"**{tracked - plain}**"]
    publish("heap", f"Accurate to {STEP} MB; {machine()}.\n\n{table(head, [line])}")


def _smallest(tracked: bool) -> int:
    """The smallest heap that does, by halving."""
    low, high = LOW, HIGH
    while high - low > STEP:
        heap = (low + high) // 2
        command = [sys.executable, "-m", "benchmarks.heap", "--heap", str(heap), *["--tracked"] * tracked]
        try:
            does = subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE).returncode == 0
        except subprocess.TimeoutExpired:
            does = False
        print(f"{'tracked' if tracked else 'plain'}: {heap} MB {'do' if does else 'do not'}", flush=True)
        low, high = (low, heap) if does else (heap, high)
    return high


def _alone(heap: int, tracked: bool) -> None:
    """Make the source where it is not there; with a heap, run the job."""
    from provspark.tracker import attach

    settings = {
        "spark.master": "local-cluster[1,1,1024]",
        "spark.executor.memory": f"{heap or HIGH}m",
        "spark.testing.reservedMemory": "0",  # Spark refuses heaps under 450 MB otherwise
        # Direct memory is as small as the heap otherwise, and Spark refuses less than 200 MB of it.
        "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:MaxDirectMemorySize=512m",
        "spark.task.maxFailures": "1",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.files.minPartitionNum": "1",
        "spark.sql.files.maxPartitionBytes": "1g",
    }
    spark = session(**settings)
    source, store, out = (SCRATCH / "heap" / name for name in ("source", "prov", "out"))
    if not (source / "_SUCCESS").exists():
        made = spark.range(ROWS, numPartitions=1).selectExpr(f"pmod(hash(id), {KEYS}) AS key", "id AS value")
        made.write.mode("overwrite").parquet(source.as_uri())
    if heap:
        for folder in (store, out):
            shutil.rmtree(folder, ignore_errors=True)
        spark.read.parquet(source.as_uri()).createOrReplaceTempView("source")
        grouped = spark.sql("SELECT key, sum(value) AS total FROM source GROUP BY key")
        if tracked:
            with attach(store=store.as_uri(), step="heap", on_error="fail"):
                grouped.write.parquet(out.as_uri())
        else:
            grouped.write.parquet(out.as_uri())
    spark.stop()


if __name__ == "__main__":
    main()
