"""What grows: files in a data set, and steps and runs in a catalogue.

The catalogue's steps are written with the store's public writer and taken in from their events, on SQLite and, where
PROVSPARK_TEST_POSTGRES names one, on PostgreSQL. The chain asked about is of 50 steps in the last run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fastapi.testclient import TestClient

import provspark
from benchmarks.common import SCRATCH, machine, process, publish, session, table
from benchmarks.pairs import RESULTS, Case, folders, load_average, run
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_ranges
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis
from provspark.rebuild import rebuild_from_stores
from provspark.web.local import local_app
from provspark.web.policy import Policy
from provspark.web.source import AnswerSource

CHAIN = 50
THROUGH = (1, 5, 10, 20, CHAIN)
COLD = """
import time
import pyarrow
pyarrow.array([0])  # with its first array pyarrow imports pandas, where that is installed
import provspark.api
from provspark.index_store.store import store
began = time.perf_counter()
prov = provspark.open({url!r})
opened = time.perf_counter()
prov.backward({dataset!r}, rows=[3], to={to!r}).table()
print(opened - began, time.perf_counter() - opened)
"""


def main() -> None:
    """Measure and rewrite the section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("files", "steps"), help="only this one, instead of both")
    parser.add_argument("--files", default="1000,10000,100000", help="numbers of files in a data set")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--of", type=int, default=100, help="runs of these steps")
    parser.add_argument("--runs", type=int, default=3, help="pairs for the cost of capture over many files")
    parser.add_argument("--resume", action="store_true", help="ask the catalogues that an earlier run filled")
    options = parser.parse_args()
    if options.part != "steps":
        about = f"Medians of {options.runs} pairs; {machine()}, {load_average()}."
        publish("growth-files", about + "\n\n" + _files([int(n) for n in options.files.split(",")], options.runs))
    if options.part != "files":
        about = (
            f"{options.steps:,} steps in each of {options.of} runs (targets: 100 ms for the trace, 50 ms for a page);"
        )
        about = f"{about} {machine()}, {load_average()}."
        publish("growth-steps", about + "\n\n" + _catalogue(options.steps, options.of, options.resume))


def _files(counts: list[int], runs: int) -> str:
    spark = session()
    cases = []
    for count in counts:
        folder = SCRATCH / f"files-{count}"
        if not (folder / "_SUCCESS").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for i in range(count):
                some = np.arange(10 * i, 10 * i + 10)
                pq.write_table(pa.table({"id": some, "value": some % 7}), folder / f"part-{i:06d}.parquet")
            (folder / "_SUCCESS").touch()

        def write(to: str, folder: Path = folder) -> None:
            frame = spark.read.schema("id long, value long").parquet(folder.as_uri())
            frame.filter("value > 2").write.mode("overwrite").parquet(to)

        cases.append(Case(f"{count:,}", write))
    found = run("files", cases, runs)
    spark.stop()
    lines = []
    for m in found:
        store, dataset = folders("files", m.name)
        asked = process(COLD.format(url=store.as_uri(), dataset=dataset.as_uri(), to=None))
        seconds = [f"{statistics.median(x):.2f}" for x in (m.plain, m.tracked, m.rewrite, m.seal)]
        lines.append([m.name, *seconds, f"{m.ratio:.2f}", f"{m.size:,}", f"{1000 * sum(asked):.0f}"])
    head = ["files of 10 rows", "plain, s", "with capture, s", "rewrite, s", "seal, s", "ratio", "bytes, all files"]
    head.append("open and trace a row, new process, ms")
    return table(head, lines)


def _catalogue(steps: int, runs: int, resume: bool) -> str:
    folder = SCRATCH / f"steps-{steps}-{runs}"
    store = folder / "prov"
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        Store.open(str(store), create=True)
        with ProcessPoolExecutor() as pool:
            for number, _ in enumerate(pool.map(partial(_fill, str(store), steps), range(runs)), 1):
                print(f"run {number} of {runs}", file=sys.stderr)
        (folder / "done").touch()
    urls = {"SQLite": f"sqlite:///{folder / 'catalogue.db'}"}
    if server := os.environ.get("PROVSPARK_TEST_POSTGRES"):
        urls["PostgreSQL"] = server
    last, first = f"/{CHAIN}", "/0"
    lines = []
    by_steps = {}
    for name, url in urls.items():
        kept = folder / f"taken-{name}"
        if not (resume and kept.exists()):
            kept.unlink(missing_ok=True)
            began = time.perf_counter()
            with Catalogue.open(url) as catalogue:
                rebuild_from_stores(catalogue, [store.as_uri()])
            kept.write_text(str(time.perf_counter() - began), encoding="utf-8")
        taken = float(kept.read_text(encoding="utf-8"))
        opened, cold = process(COLD.format(url=url, dataset=last, to=first))
        prov = provspark.open(url)
        warm = [_median(partial(prov.backward, last, [3], to=f"/{CHAIN - steps}")) for steps in THROUGH]
        by_steps[name] = {"steps": THROUGH, "seconds": warm}
        token = "t" * 32
        app = local_app(AnswerSource(lambda url=url: url, Policy()), token, "127.0.0.1", 8000)
        client = TestClient(app, base_url="http://127.0.0.1:8000", headers={"Authorization": f"Bearer {token}"})
        pages = []
        for path in ("datasets?limit=100", "steps?limit=100"):
            pages.append(_median(partial(_page, client, path)))
        seconds = [f"{x:.1f}" for x in (taken, opened)]
        lines.append([name, *seconds, *(f"{1000 * x:.1f}" for x in (cold, warm[-1], *pages))])
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "steps.json").write_text(json.dumps(by_steps), encoding="utf-8")
    head = ["catalogue", "filled from manifests, s", "opened, s", f"trace through {CHAIN} steps, first, ms"]
    head += ["warm, ms", "a page of datasets, ms", "a page of steps, ms"]
    return table(head, lines)


def _fill(url: str, steps: int, run_number: int) -> None:
    """Write a run: chains of 50 steps, as many as there must be; each data set is written anew by each run."""
    store, rows = Store.open(url), 100
    every = np.arange(rows)
    tensor = from_ranges(every, every[::-1].copy(), np.ones(rows, dtype=np.int64))
    for number in range(steps):
        chain, at = divmod(number, CHAIN)
        names = [f"/{chain * (CHAIN + 1) + at + i}" for i in (0, 1)]
        src, out = (
            PendingVersion(Dataset.parse(name), Files.of([("part-0.parquet", 100, 1 + run_number, rows, w)]), "parquet")
            for name, w in zip(names, (False, True), strict=True)
        )
        axes = [
            Axis("output", rows, out.files.identity(out.dataset)),
            Axis("input", rows, src.files.identity(src.dataset), 0),
        ]
        writer = store.writer(StepKey(f"step{at}", f"run{run_number}", f"chain{chain}"))
        writer.add(PendingWrite(out, "exact", (src,), tuple(axes), [PendingTensor(0, 1, tensor)]))
        clock = f"2024-01-{1 + run_number // 24 % 28:02d}T{run_number % 24:02d}:00:00.{number:06d}+00:00"
        writer.publish(status="succeeded", started=clock, ended=clock)


def _page(client: TestClient, path: str) -> None:
    client.get(f"/provspark/api/v1/{path}").raise_for_status()


def _median(ask: Callable[[], Any]) -> float:
    ask()
    found = []
    for _ in range(9):
        began = time.perf_counter()
        ask()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


if __name__ == "__main__":
    main()
