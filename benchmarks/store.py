"""Size of the store and time of its questions: ten steps of ten million rows each, beside plain edge lists in DuckDB.

The steps are written with the store's public writer, so neither Spark nor its data is needed.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import provspark
from benchmarks.common import SCRATCH, machine, publish, table
from provspark.index_store.boxes import from_pairs, from_ranges
from provspark.index_store.model import (
    Axis,
    Dataset,
    Files,
    Int64,
    Manifest,
    PendingTensor,
    PendingVersion,
    PendingWrite,
    StepKey,
)
from provspark.index_store.store import Store

ROOT = SCRATCH / "store"
FILES = 16
COLD = """
import time
import pyarrow
pyarrow.array([0])  # with its first array pyarrow imports pandas, where that is installed
import provspark.api
from provspark.index_store import store
began, used = time.perf_counter(), time.process_time()
provspark.open({store!r}).backward({dataset!r}, rows=[{row}], to="/0")
print(time.perf_counter() - began, time.process_time() - used)
"""
COLD_DUCK = """
import time
import duckdb
duckdb.sql("set enable_progress_bar = false")
began = time.perf_counter()
duckdb.sql({query!r}).fetchall()
print(time.perf_counter() - began)
"""
MEMORY = """
import pyarrow
pyarrow.array([0])
import provspark.api
from provspark.index_store import store
from provspark.index_store.query import whole
rss = lambda: int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
prov = provspark.open({store!r})
before = rss()
found = prov.trace({dataset!r}, {rows}, to="/0")
print(rss() - before, max(len(n.data.starts) for n in found.nodes))
"""


def version(name: str, rows: int, written: bool) -> PendingVersion:
    """A data set of files that nobody reads."""
    cuts = np.linspace(0, rows, FILES + 1).astype(int)
    files = [(f"part-{i:05d}.parquet", 100, 7, int(cuts[i + 1] - cuts[i]), written) for i in range(FILES)]
    return PendingVersion(Dataset.parse(name), Files.of(files), "parquet")


class Builder:
    """Writes steps into the store, and each as plain edge lists beside it."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.open(str(folder / "prov"), create=True)
        self.lists = folder / "edges"
        self.lists.mkdir(exist_ok=True)
        self.count = 0
        self.edges = 0
        self.bytes: dict[str, int] = {}
        self.plain: dict[str, int] = {}
        self.seconds: dict[str, float] = {}

    def step(self, name: str, source: tuple[str, int], output: tuple[str, int], made: Any, pairs: Any) -> None:
        """Publish a step of one input; `pairs` are what a plain list would hold of it."""
        src, out = version(*source, False), version(*output, True)
        axes = [
            Axis("output", output[1], out.files.identity(out.dataset)),
            Axis("input", source[1], src.files.identity(src.dataset), 0),
        ]
        pending, inner = made
        axes += [Axis("inner", n, label="group") for n in inner]
        write = PendingWrite(out, "exact", (src,), tuple(axes), pending)
        began = time.perf_counter()
        writer = self.store.writer(StepKey(name, "run", "bench"))
        writer.add(write)
        clock = f"2024-01-01T00:00:{self.count:02d}.000000+00:00"
        manifest: Manifest = writer.publish(status="succeeded", started=clock, ended=clock)
        self.seconds[name] = time.perf_counter() - began
        self.bytes[name] = sum(f.size for f in manifest.files)
        self.count += 1
        self.edges += len(pairs[0])
        path = self.lists / f"{name}.parquet"
        pq.write_table(pa.table({"out": pairs[0], "src": pairs[1]}), path, compression="zstd")
        self.plain[name] = path.stat().st_size


def direct(out: Int64, src: Int64) -> Any:
    """One tensor from the output to the input."""
    return (PendingTensor(0, 1, from_pairs(out, src)),), ()


def through(starts: Int64, lengths: Int64, src: Int64) -> Any:
    """Groups as ranges of an inner axis, whose derivations came from rows of the input."""
    groups = from_ranges(np.arange(len(starts)), starts, lengths)
    legs = from_pairs(np.arange(len(src)), src)
    return (PendingTensor(0, 2, groups), PendingTensor(2, 1, legs)), (len(src),)


def chain(build: Builder, rows: int) -> tuple[str, int]:
    """Ten steps: identity, filters of one half, joins that fan out, groups."""
    random = np.random.default_rng(1)
    at, n = "/0", rows
    for number, what in enumerate(2 * ("map", "filter", "join2", "group4", "join4")):
        to, name = f"/{number + 1}", f"{number}-{what}"
        size = int(what[-1]) if what[-1].isdigit() else 1
        if what.startswith("group"):
            groups = n // size
            src = np.sort(random.permutation(n)[: groups * size].reshape(groups, size), axis=1).ravel()
            out = np.repeat(np.arange(groups), size)
            made = through(np.arange(groups) * size, np.full(groups, size), src)
        else:
            if what == "map":
                src = np.arange(n)
            elif what == "filter":
                src = np.flatnonzero(random.random(n) < 0.5)
            else:
                src = np.repeat(random.permutation(n), size)
            out = np.arange(len(src))
            made = direct(out, src)
        after = int(out[-1]) + 1
        build.step(name, (at, n), (to, after), made, (out, src))
        at, n = to, after
    return at, n


def sizes(build: Builder, rows: int) -> None:
    """One step of each kind that has a bound of its own."""
    random = np.random.default_rng(2)
    every = np.arange(rows)
    build.step("identity", ("/s0", rows), ("/s1", rows), direct(every, every), (every, every))
    kept = np.flatnonzero(random.random(rows) < 0.5)
    out = np.arange(len(kept))
    build.step("half", ("/s0", rows), ("/s2", len(kept)), direct(out, kept), (out, kept))
    lengths = random.geometric(0.1, rows // 8)
    lengths = lengths[np.cumsum(lengths) <= rows]
    starts = np.cumsum(lengths) - lengths
    out, n = np.repeat(np.arange(len(lengths)), lengths), int(lengths.sum())
    build.step("sorted", ("/s0", n), ("/s3", len(lengths)), through(starts, lengths, every[:n]), (out, every[:n]))
    a, b = random.permutation(rows), random.permutation(rows)
    build.step("shuffled", ("/s0", rows), ("/s4", rows), direct(every, a), (every, a))
    build.step("shuffled again", ("/s4", rows), ("/s5", rows), direct(every, b), (every, b))


def back(lists: Path, names: list[str], rows: str) -> str:
    """The chain's question over edge lists, as SQL."""
    query = rows
    for name in reversed(names):
        query = f"select distinct src from '{lists / name}.parquet' where out in ({query})"
    return query


Times = list[tuple[float, float]]
"""Seconds, and seconds of the processor, of each run."""


def timed(ask: Callable[[], Any], runs: int) -> Times:
    """Time some runs, after one that is not counted."""
    ask()
    found = []
    for _ in range(runs):
        began, used = time.perf_counter(), time.process_time()
        ask()
        found.append((time.perf_counter() - began, time.process_time() - used))
    return found


def p95(found: Times) -> tuple[float, float]:
    """The 95th percentile of both."""
    if len(found) < 2:
        return found[0]
    wall, used = (statistics.quantiles(column, n=20)[-1] for column in zip(*found, strict=True))
    return wall, used


def median(found: Times) -> tuple[float, float]:
    """The median of both."""
    wall, used = (statistics.median(column) for column in zip(*found, strict=True))
    return wall, used


def built(folder: Path, rows: int) -> tuple[Builder, str, int, list[str], int]:
    """The store and the edge lists, made where the folder does not hold them yet."""
    notes = folder / "notes.json"
    if notes.exists() and (known := json.loads(notes.read_text()))["rows"] == rows:
        build = Builder(folder)
        build.bytes, build.plain, build.seconds = known["bytes"], known["plain"], known["seconds"]
        return build, known["last"], known["n"], known["names"], known["edges"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build = Builder(folder)
    last, n = chain(build, rows)
    names, edges = list(build.bytes), build.edges
    sizes(build, rows)
    told = {"rows": rows, "last": last, "n": n, "names": names, "edges": edges}
    told |= {"bytes": build.bytes, "plain": build.plain, "seconds": build.seconds}
    notes.write_text(json.dumps(told))
    return build, last, n, names, edges


def process(text: str) -> list[float]:
    """Numbers that a new process prints."""
    said = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout
    return [float(word) for word in said.split()]


def operators(rows: int, folder: Path) -> list[list[str]]:
    """One write of one, five, ten joins and aggregates upon one another: bytes and seconds to write and to ask."""
    random = np.random.default_rng(3)
    lines = []
    for depth in (1, 2, 5, 10):
        shutil.rmtree(folder / f"depth-{depth}", ignore_errors=True)
        store = Store.open(str(folder / f"depth-{depth}"), create=True)
        sizes = [rows, *[rows] * depth, rows]
        src, out = version("/deep", rows, False), version("/out", rows, True)
        axes = [
            Axis("output", rows, out.files.identity(out.dataset)),
            Axis("input", rows, src.files.identity(src.dataset), 0),
            *(Axis("inner", n, label="group") for n in sizes[1:-1]),
        ]
        every = np.arange(rows)
        tensors = []
        for level in range(depth + 1):
            above, below = (0 if level == 0 else level + 1), (1 if level == depth else level + 2)
            tensors.append(PendingTensor(above, below, from_pairs(every, random.permutation(rows))))
        began = time.perf_counter()
        writer = store.writer(StepKey("deep", "run"))
        writer.add(PendingWrite(out, "exact", (src,), tuple(axes), tensors))
        manifest = writer.publish(status="succeeded", started="2024-01-01", ended="2024-01-01")
        wrote = time.perf_counter() - began
        prov = provspark.open(str(folder / f"depth-{depth}"))
        asked, used = median(timed(lambda prov=prov: prov.ask.backward("/out", range(1000)), 5))  # type: ignore[misc]
        size = sum(f.size for f in manifest.files)
        each = [f"{size:,}", f"{size / depth / rows:.2f}", f"{wrote:.2f}", f"{1000 * asked:.1f}", f"{1000 * used:.1f}"]
        lines.append([str(depth), *each])
    return lines


def main() -> None:
    """Build, measure and rewrite the section of docs/performance.md."""
    import duckdb

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=ROOT, help="where the store is, or is made and kept")
    options = parser.parse_args()
    duckdb.sql("set enable_progress_bar = false")
    build, last, n, names, chained = built(options.folder, options.rows)
    url = str(options.folder / "prov")
    prov = provspark.open(url)
    random = np.random.default_rng(4)
    picks = iter(random.integers(0, n, 10_000).tolist())
    some = np.unique(random.integers(0, n, 10_000))

    def ours() -> Any:
        return prov.backward(last, [next(picks)], to="/0")

    def theirs() -> Any:
        return duckdb.sql(back(build.lists, names, str(next(picks)))).fetchall()

    listed = ", ".join(map(str, some.tolist()))
    pairs_of = (
        f"'{build.lists / 'shuffled again'}.parquet' a join '{build.lists / 'shuffled'}.parquet' b on a.src = b.out"
    )
    whole = f"create or replace temp table found as select distinct a.out, b.src from {pairs_of}"
    cold: Times = []
    for _ in range(5):
        wall, used = process(COLD.format(store=url, dataset=last, row=7))
        cold.append((wall, used))
    cold_duck = [process(COLD_DUCK.format(query=back(build.lists, names, "7")))[0] for _ in range(3)]
    memory = [process(MEMORY.format(store=url, dataset=last, rows=rows)) for rows in (f"range({n // 200})", None)]
    few = max(3, options.runs // 20)
    times = [
        (
            "one row back through 10 steps, warm, 95th percentile",
            "ms",
            5,
            p95(timed(ours, options.runs)),
            p95(timed(theirs, few))[0],
        ),
        ("the same, cold process, first answer", "ms", 150, median(cold), statistics.median(cold_duck)),
        (
            "10,000 rows back through the same",
            "s",
            1,
            median(timed(lambda: prov.ask.backward(last, some, to="/0"), 3)),
            median(timed(lambda: duckdb.sql(back(build.lists, names, listed)).fetchall(), 3))[0],
        ),
        (
            f"whole correspondence, {options.rows:,} edges, two steps",
            "s",
            2,
            median(timed(lambda: prov.correspondence("/s5", to="/s0"), 3)),
            median(timed(lambda: duckdb.sql(whole), 3))[0],
        ),
    ]
    lines = []
    for what, unit, least, (wall, used), other in times:
        scale = 1000 if unit == "ms" else 1
        shown = [f"{scale * t:.{1 if scale * t < 100 else 0}f} {unit}" for t in (wall, used, other)]
        met = "yes" if scale * wall <= least else "**no**"
        lines.append([what, f"{least} {unit}", *shown, f"{other / wall:.1f}", met])
    head = ["question", "at most", "ProvSpark", "its processor time", "DuckDB on edge lists", "times faster", "met"]
    text = f"{machine()}; load {os.getloadavg()[0]:.1f}. Ten steps of {options.rows:,} rows (map, filter of one half, "
    text += f"joins that fan out, groups), {chained:,} edges.\n\n" + table(head, lines)
    bounds = {"identity": None, "half": 0.4, "sorted": 0.6, "shuffled": 4.0}
    lines = []
    for name, most in bounds.items():
        edges = pq.ParquetFile(build.lists / f"{name}.parquet").metadata.num_rows
        mine, other = build.bytes[name], build.plain[name]
        each = mine / edges
        met = "yes" if (mine < 65_536 if most is None else each <= most) else "**no**"
        size = [f"{mine:,}", f"{each:.4f}" if each < 0.01 else f"{each:.2f}", f"{other / edges:.2f}"]
        lines.append(
            [name, f"{edges:,}", *size, "O(files)" if most is None else str(most), f"{build.seconds[name]:.1f}", met]
        )
    mine, other = (sum(x[n] for n in names) for x in (build.bytes, build.plain))
    size = [f"{mine:,}", f"{mine / chained:.2f}", f"{other / chained:.2f}"]
    lines.append(["the ten steps", f"{chained:,}", *size, "", f"{sum(build.seconds[n] for n in names):.1f}", ""])
    head = [
        "tensor",
        "edges",
        "bytes, all files",
        "bytes an edge",
        "edge list, one copy",
        "at most",
        "written in s",
        "met",
    ]
    text += "\n\n" + table(head, lines)
    text += f"\n\nMemory that a question adds to its process, over {chained:,} edges (at most 300 MB):\n\n"
    asked = f"trace of {n // 200:,} rows", f"trace of all {n:,} rows"
    lines = [
        [what, f"{int(runs):,}", f"{mb:,.0f}", "yes" if mb < 300 else "**no**"]
        for what, (mb, runs) in zip(asked, memory, strict=True)
    ]
    text += table(["question", "runs, at most in a version", "MB", "met"], lines) + "\n\n"
    head = [
        "joins and aggregates upon one another",
        "bytes",
        "bytes a row and operator",
        "written in s",
        "1,000 rows back, ms",
        "processor, ms",
    ]
    text += table(head, operators(max(1, options.rows // 10), options.folder))
    publish("store", text)


if __name__ == "__main__":
    main()
