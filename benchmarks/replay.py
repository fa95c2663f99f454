"""Time of a replay: one record through a step of 20 operations, warm in one process and cold, with Spark's start.

The machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

import provspark
from benchmarks.common import ROOT, SCRATCH, machine, process, publish, session, table
from benchmarks.pairs import processor
from provspark.model.steps import StepKey
from provspark.tracker import attach

FOLDER = SCRATCH / "replay"
COLD = """
import time
began = time.perf_counter()
import provspark
told = provspark.open({store!r}).replay({dataset!r}, [{row}])
assert told.verified, told.why
told = time.perf_counter() - began
from benchmarks.pairs import processor
print(told, processor())
"""


def prepare(folder: Path, rows: int, key: StepKey) -> None:
    """Capture a step of 20 operations in an empty folder: projections and filters, a join and a window."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    spark = session()
    spark.range(rows).selectExpr("id", "id % 1000 AS k", "cast(id * 7 % 101 AS double) AS v").write.parquet(
        str(folder / "in")
    )
    spark.range(1000).selectExpr("id AS k", "id * 2 AS w").write.parquet(str(folder / "keys"))
    with attach(store=str(folder / "store"), key=key):
        frame = spark.read.parquet(str(folder / "in"))
        for n in range(8):
            frame = frame.withColumn(f"c{n}", frame["v"] + n).filter(f"c{n} <> {n}.5")
        frame = frame.join(spark.read.parquet(str(folder / "keys")), "k")
        frame = frame.selectExpr("*", "avg(v) OVER (PARTITION BY k) AS m")
        frame.coalesce(1).write.parquet(str(folder / "out"))
    spark.stop()


def main() -> None:
    """Measure and rewrite the section of docs/replay.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    prepare(FOLDER, options.rows, StepKey("twenty", "r1"))
    store, lines = str(FOLDER / "store"), []
    for what, dataset, row in (("the output", "out", 17), ("the input", "in", 17)):
        path = str(FOLDER / dataset)
        cold = [process(COLD.format(store=store, dataset=path, row=row)) for _ in range(3)]
        prov = provspark.open(store)
        told = prov.replay(path, [row])
        warm, busy = [], []
        for _ in range(options.runs):
            began, before = time.perf_counter(), processor()
            prov.replay(path, [row])
            warm.append(time.perf_counter() - began)
            busy.append(processor() - before)
        figures = [f"{f:.2f}" for f in (min(warm), min(busy), *(min(c) for c in zip(*cold, strict=True)))]
        lines.append([what, str(len(told.operations)), *figures])
    start = "with Spark's start"
    columns = [f"{how}, {time} (s)" for how in ("warm", start) for time in ("time", "CPU time")]
    head = ["one row from", "operations", *columns]
    told_of = (
        f"{machine()}; {options.rows:,} rows; best of {options.runs} warm runs, and best of 3 runs that include "
        f"Spark's start."
    )
    publish("replay", f"{told_of}\n\n{table(head, lines)}", ROOT / "docs" / "replay.md")


if __name__ == "__main__":
    main()
