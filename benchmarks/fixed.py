"""Fixed cost of a step: starting capture, rewriting, publishing, registering in the catalogue.

Each figure is of new processes, whose Spark has written once before, plainly; a step filters ten rows and writes them,
and another process does so plainly: both for the first time, so that Spark compiles the plan's code in either. The
catalogue has its tables, as it has from its first step on, and is told by another process, as by a worker of Airflow,
which imports what that takes while the job runs. A plan of 30 operators is rewritten, too, again and again.
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

PARTS = ("import and attach", "extra time of the write", "publish", "ingest", "total")
OPERATORS = 30
CATALOGUE = """
from provspark.index_store.catalogue import Catalogue
Catalogue.open("sqlite:///{folder}/catalogue.db").close()
"""


def main() -> None:
    """Measure and rewrite the section of docs/performance.md, or in a child say what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--child", choices=("plain", "tracked", "worker"))
    options = parser.parse_args()
    folder = SCRATCH / "fixed"
    if options.child:
        print(json.dumps({"plain": plain, "tracked": tracked, "worker": worker}[options.child](folder)))
        return
    found: dict[str, list[dict[str, float]]] = {"compiled before": [], "compiled now": []}
    for run in range(options.runs + 1):
        for label, runs in found.items():
            told: dict[str, dict[str, float]] = {}
            for how in ("plain", "tracked", "worker"):
                if how != "worker":
                    shutil.rmtree(folder, ignore_errors=True)
                    (folder / "tmp").mkdir(parents=True)
                    subprocess.run([sys.executable, "-c", CATALOGUE.format(folder=folder)], check=True)
                env = os.environ if label == "compiled before" else os.environ | {"TMPDIR": str(folder / "tmp")}
                command = [sys.executable, "-m", "benchmarks.fixed", "--child", how]
                done = subprocess.run(command, check=True, capture_output=True, text=True, env=env, cwd=ROOT)
                told[how] = json.loads(done.stdout.splitlines()[-1])
            if run:
                over = told["tracked"] | told["worker"]
                over["extra time of the write"] -= told["plain"]["write"]
                over["total"] = sum(over[part] for part in PARTS[:-1])
                runs.append(over)
    names = [*PARTS, *(name for name in found["compiled before"][0] if name not in PARTS)]
    lines = [
        [label, *(f"{statistics.median(run[name] for run in runs):.3f}" for name in names)]
        for label, runs in found.items()
    ]
    about = f"{machine()}. Medians of {options.runs} processes, in seconds."
    publish("fixed", about + "\n\n" + table(["ProvSpark's Java", *names], lines))


def plain(folder: Path) -> dict[str, float]:
    """Write without capture in this process."""
    spark = _spark(folder)
    seconds = _write(spark, folder, "plain")
    spark.stop()
    return {"write": seconds}


def _spark(folder: Path) -> Any:
    spark = session(**{"spark.sql.shuffle.partitions": "1"})
    spark.range(10).write.parquet(f"file://{folder}/in")
    return spark


def _write(spark: Any, folder: Path, name: str) -> float:
    began = time.perf_counter()
    spark.read.parquet(f"file://{folder}/in").filter("id > 2").write.parquet(f"file://{folder}/{name}")
    return time.perf_counter() - began


def tracked(folder: Path) -> dict[str, float]:
    """Measure a step in this process; the write's time is whole."""
    spark = _spark(folder)
    began = time.perf_counter()
    from provspark.tracker import attach

    with attach(store=f"file://{folder}/prov", step="step") as capture:
        attached = time.perf_counter()
        took = _write(spark, folder, "tracked")
        written = time.perf_counter()
    published = time.perf_counter()
    found = dict(zip(PARTS[:3], (attached - began, took, published - written), strict=True))
    found |= {"rewrite, part of the write": capture.costs[0].rewrite, "seal, part of the write": capture.costs[0].seal}
    for name in ("second", "third"):
        with attach(store=f"file://{folder}/prov", step=name) as capture:
            plan(spark, folder).write.parquet(f"file://{folder}/{name}")
        found[f"rewrite of {OPERATORS} operators, {name} write"] = capture.costs[0].rewrite
    spark.stop()
    return found


def worker(folder: Path) -> dict[str, float]:
    """Tell the catalogue of the step, as `provspark.operators.outcome.ingest` does."""
    from provspark.airflow.events import events_from_manifest
    from provspark.index_store.catalogue import Catalogue
    from provspark.index_store.store.store import Store

    began = time.perf_counter()
    store = f"file://{folder}/prov"
    opened = Store.open(store)
    manifest = opened.manifest(next(step for step in opened.steps() if step.startswith("step")))
    with Catalogue.open(f"sqlite:///{folder}/catalogue.db") as catalogue:
        for event in events_from_manifest(store, manifest):
            catalogue.ingest(event)
    return {"ingest": time.perf_counter() - began}


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
