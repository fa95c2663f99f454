"""What reads on the driver cost, each beside plain Spark's, in turn, in one session.

A read of each kind is repeated plainly and within a step, in turn; what storing them takes at the step's end is divided
among them. A script of many small reads and writes, and one that brings many rows to pandas, are run plainly and
captured, in turn.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common import SCRATCH, machine, publish, session, table
from provspark.tracker import attach

FILES = 4
ROUNDS = 4
KINDS: dict[str, Callable[[Any], Any]] = {
    "one number: `count`": lambda d: d.count(),
    "one number: `agg(max).collect`": lambda d: d.agg({"id": "max"}).collect(),
    "coarse: `approxQuantile`": lambda d: d.approxQuantile("id", [0.5], 0.1),
    "rows: `take(5)`": lambda d: d.take(5),
    "rows: `collect` of 100": lambda d: d.filter("id < 100").collect(),
    "rows: `groupBy.count.collect`": lambda d: d.groupBy("k").count().collect(),
    "rows: `toPandas` of 100": lambda d: d.filter("id < 100").toPandas(),
}


def main() -> None:
    """Measure and rewrite the section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="reads of a kind in a step")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows that go to pandas")
    parser.add_argument("--calls", type=int, default=1000, help="reads and writes of a script")
    options = parser.parse_args()
    folder = SCRATCH / "driver_reads"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    spark = session(**{"spark.sql.execution.arrow.pyspark.enabled": "true"})
    small, large = str(folder / "small"), str(folder / "large")
    columns = "id", "id % 10 AS k", "id * 0.5 AS x"
    spark.range(10_000).selectExpr(*columns).repartition(FILES).write.parquet(small)
    spark.range(options.rows).selectExpr(*columns).write.parquet(large)
    frame = spark.read.parquet(small)
    lines = [[name, *each(folder, frame, read, options.repeats)] for name, read in KINDS.items()]
    scripts: dict[str, Callable[[], object]] = {
        f"`toPandas` of {options.rows:,} rows": lambda: spark.read.parquet(large).toPandas(),
        f"{options.calls:,} reads and writes": lambda: many(folder, frame, options.calls),
    }
    ratios = [[name, *whole(folder, run, options.runs)] for name, run in scripts.items()]
    about = f"{machine()}. Medians. The extra time includes the read's share of the work at the end of the step."
    reads = table(["read", "plain, ms", "extra, ms", "of which at the end of the step, ms"], lines)
    publish(
        "driver reads", "\n\n".join([about, reads, table(["script", "plain, s", "with capture, s", "ratio"], ratios)])
    )


def each(folder: Path, frame: Any, read: Callable[[Any], Any], repeats: int) -> list[str]:
    """Time one kind of read; the first round warms up."""
    plain, captured, ends = list[float](), list[float](), list[float]()
    for number in range(ROUNDS + 1):
        some = [_timed(lambda: read(frame)) for _ in range(repeats)]
        with attach(store=_store(folder), step="s"):
            read(frame)
            same = [_timed(lambda: read(frame)) for _ in range(repeats)]
            began = time.perf_counter()
        if number:
            plain += some
            captured += same
            ends.append((time.perf_counter() - began) / (repeats + 1))
    a, b, end = map(statistics.median, (plain, captured, ends))
    return [f"{1000 * seconds:.1f}" for seconds in (a, b - a + end, end)]


def whole(folder: Path, run: Callable[[], object], runs: int) -> list[str]:
    """Time a script, plain and captured in turn; the first pair warms up."""
    plain, captured = list[float](), list[float]()
    for _ in range(runs + 1):
        plain.append(_timed(run))
        began = time.perf_counter()
        with attach(store=_store(folder), step="s"):
            run()
        captured.append(time.perf_counter() - began)
    a, b = (statistics.median(seconds[1:]) for seconds in (plain, captured))
    return [f"{a:.2f}", f"{b:.2f}", f"{b / a:.2f}"]


def many(folder: Path, frame: Any, calls: int) -> None:
    """Run a script of many small actions: of ten calls two bring rows, one writes, and seven return a number."""
    for i in range(calls):
        if i % 10 == 0:
            frame.filter(f"id < {i}").write.mode("overwrite").parquet(str(folder / "out"))
        elif i % 10 in (3, 6):
            frame.take(3)
        else:
            frame.filter("k = 3").count()


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _store(folder: Path) -> str:
    shutil.rmtree(folder / "store", ignore_errors=True)
    return (folder / "store").as_uri()


if __name__ == "__main__":
    main()
