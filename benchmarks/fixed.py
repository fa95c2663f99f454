"""What a step costs whatever its data: starting capture, rewriting, publishing, telling the catalogue.

Each figure is of new processes, whose Spark has written plainly three times before; a step writes ten rows. The
catalogue has its tables, as it has from its first step on. A plan of 30 operators is rewritten, too, first and again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, SCRATCH, machine, publish, session, table

PARTS = ("import and attach", "write, tracked, over plain", "publish", "ingest", "in all")
OPERATORS = 30
CATALOGUE = """
from provspark.index_store.catalogue import Catalogue
Catalogue.open("sqlite:///{folder}/catalogue.db").close()
"""


def main() -> None:
    """Measure and rewrite the section of docs/performance.md, or in a child say what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--child", default="")
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(Path(options.child))))
        return
    found: dict[str, list[dict[str, float]]] = {"compiled before": [], "first on a machine": []}
    folder = SCRATCH / "fixed"
    for run in range(options.runs + 1):
        for label, runs in found.items():
            shutil.rmtree(folder, ignore_errors=True)
            (folder / "tmp").mkdir(parents=True)
            subprocess.run([sys.executable, "-c", CATALOGUE.format(folder=folder)], check=True)
            env = os.environ if label == "compiled before" else os.environ | {"TMPDIR": str(folder / "tmp")}
            command = [sys.executable, "-m", "benchmarks.fixed", "--child", str(folder)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=env, cwd=ROOT)
            if run:
                runs.append(json.loads(done.stdout.splitlines()[-1]))
    names = list(next(iter(found.values()))[0])
    lines = [
        [label, *(f"{statistics.median(run[name] for run in runs):.3f}" for name in names)]
        for label, runs in found.items()
    ]
    about = f"{machine()}. Medians of {options.runs} processes, in seconds."
    publish("fixed", about + "\n\n" + table(["our Java", *names], lines))


def child(folder: Path) -> dict[str, float]:
    """Measure in this process."""
    spark = session(**{"spark.sql.shuffle.partitions": "1"})
    spark.range(10).write.parquet(f"file://{folder}/in")

    def write(name: str) -> float:
        began = time.perf_counter()
        spark.read.parquet(f"file://{folder}/in").filter("id > 2").write.parquet(f"file://{folder}/{name}")
        return time.perf_counter() - began

    write("plain-1")
    write("plain-2")
    plain = write("plain-3")
    began = time.perf_counter()
    from provspark.tracker import attach

    with attach(store=f"file://{folder}/prov", step="step") as capture:
        attached = time.perf_counter()
        tracked = write("tracked")
        written = time.perf_counter()
    published = time.perf_counter()
    assert capture.manifest is not None
    import sqlalchemy  # noqa: F401 - a worker of Airflow's has it

    ingesting = time.perf_counter()
    from provspark.events import events_from_manifest
    from provspark.index_store.catalogue import Catalogue

    with Catalogue.open(f"sqlite:///{folder}/catalogue.db") as catalogue:
        for event in events_from_manifest(f"file://{folder}/prov", capture.manifest):
            catalogue.ingest(event)
    ended = time.perf_counter()
    times = (attached - began, tracked - plain, published - written, ended - ingesting)
    found = dict(zip(PARTS, (*times, sum(times)), strict=True))
    found |= {"of the write, rewrite": capture.costs[0].rewrite, "seal": capture.costs[0].seal}
    for name in ("again", "third"):
        with attach(store=f"file://{folder}/prov", step=name) as capture:
            plan(spark, folder).write.parquet(f"file://{folder}/{name}")
        found[f"rewrite of {OPERATORS} operators, {name}"] = capture.costs[0].rewrite
    spark.stop()
    return found


def plan(spark: Any, folder: Path) -> Any:
    """Return a frame of 30 operators: joins, filters, projections, aggregates."""
    frame = spark.read.parquet(f"file://{folder}/in")
    for i in range(OPERATORS // 6):
        other = spark.read.parquet(f"file://{folder}/in").withColumnRenamed("id", f"other{i}")
        frame = frame.join(other, frame["id"] == other[f"other{i}"]).filter(f"other{i} >= 0")
        frame = frame.withColumn(f"sum{i}", frame["id"] + frame[f"other{i}"]).groupBy("id").count().drop("count")
    return frame


if __name__ == "__main__":
    main()
