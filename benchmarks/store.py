"""Size of the store and time of its questions: ten steps of ten million rows each, beside plain edge lists in DuckDB.

The steps are written with the store's public writer, so neither Spark nor its data is needed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import provspark
from benchmarks.common import SCRATCH, machine, process, publish, table
from provspark.index_store.store.store import Store
from provspark.model.arrays import Int64
from provspark.model.boxes.pairs import from_pairs, from_ranges
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import Manifest, StepKey
from provspark.model.writes import Axis

ROOT = SCRATCH / "store"
FILES = 16
COLD = """
import time
import pyarrow
pyarrow.array([0])  # with its first array pyarrow imports pandas, where that is installed
import provspark.api
from provspark.index_store.store import store
began, used = time.perf_counter(), time.process_time()
provspark.open({store!r}).backward({dataset!r}, rows=[{row}], to="/0").table()
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
PEAK = """
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
"""
MEMORY = (
    PEAK
    + """
import pyarrow
pyarrow.array([0])
import provspark.api
from provspark.index_store.store import store
from provspark.index_store.query import dataset_relation as whole
prov = provspark.open({store!r})
before = peak()
found = prov.trace({dataset!r}, {rows}, to="/0")
print(peak() - before, max(len(n.data.starts) for n in found.nodes))
"""
)
MEMORY_DUCK = (
    PEAK
    + """
import duckdb
duckdb.sql("set enable_progress_bar = false")
before = peak()
duckdb.sql("create temp table t0 as select unnest(range({rows})) as src")
for i, path in enumerate({lists!r}):
    there = f"select distinct src from '{{path}}' where out in (select src from t{{i}})"
    duckdb.sql(f"create temp table t{{i + 1}} as {{there}}")
print(peak() - before)
"""
)


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


def back(lists: list[Path], rows: str) -> str:
    """What rows came from, through edge lists one after another, as SQL."""
    query = rows
    for path in reversed(lists):
        query = f"select distinct src from '{path}' where out in ({query})"
    return query


def back_each(lists: list[Path], rows: Iterable[int]) -> str:
    """The same told for each row, kept in a table as our answers are kept as runs."""
    query = "select unnest([" + ", ".join(map(str, rows)) + "]) as row, row as src"
    for path in reversed(lists):
        query = f"select distinct f.row, e.src from '{path}' e join ({query}) f on e.out = f.src"
    return f"create or replace temp table found as {query}"


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


def operators(rows: int, folder: Path) -> list[list[str]]:
    """One write of one, five, ten joins and aggregates upon one another: bytes and seconds to write and to ask."""
    import duckdb

    random = np.random.default_rng(3)
    every, lines = np.arange(rows), []
    for depth in (1, 2, 5, 10):
        here = folder / f"depth-{depth}"
        shutil.rmtree(here, ignore_errors=True)
        store = Store.open(str(here), create=True)
        src, out = version("/deep", rows, False), version("/out", rows, True)
        axes = [
            Axis("output", rows, out.files.identity(out.dataset)),
            Axis("input", rows, src.files.identity(src.dataset), 0),
            *(Axis("inner", rows, label="group") for _ in range(depth)),
        ]
        below = [random.permutation(rows) for _ in range(depth + 1)]
        ends = [0, *range(2, depth + 2), 1]
        tensors = [PendingTensor(ends[i], ends[i + 1], from_pairs(every, level)) for i, level in enumerate(below)]
        began = time.perf_counter()
        writer = store.writer(StepKey("deep", "run"))
        writer.add(PendingWrite(out, "exact", (src,), tuple(axes), tensors))
        manifest = writer.publish(status="succeeded", started="2024-01-01", ended="2024-01-01")
        wrote = time.perf_counter() - began
        (here / "edges").mkdir()
        lists = [here / "edges" / f"{i}.parquet" for i in range(depth + 1)]
        began = time.perf_counter()
        for path, level in zip(lists, below, strict=True):
            pq.write_table(pa.table({"out": every, "src": level}), path, compression="zstd")
        listed = time.perf_counter() - began
        prov = provspark.open(str(here))
        asked, used = median(timed(lambda prov=prov: prov.backward("/out", range(1000)), 5))  # type: ignore[misc]
        query = back_each(lists[::-1], range(1000))
        theirs = median(timed(lambda query=query: duckdb.sql(query), 3))[0]  # type: ignore[misc]
        mine, other = sum(f.size for f in manifest.files), sum(path.stat().st_size for path in lists)
        size = [f"{n:,}" for n in (mine, other)]
        seconds = [f"{wrote:.2f}", f"{listed:.2f}"]
        each = [f"{1000 * t:.1f}" for t in (asked, used, theirs)]
        lines.append([str(depth), size[0], f"{mine / depth / rows:.2f}", size[1], *seconds, *each])
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

    lists = [build.lists / f"{name}.parquet" for name in names]

    def ours() -> Any:
        return prov.backward(last, [next(picks)], to="/0").table()

    def theirs() -> Any:
        return duckdb.sql(back(lists, str(next(picks)))).fetchall()

    pairs_of = (
        f"'{build.lists / 'shuffled again'}.parquet' a join '{build.lists / 'shuffled'}.parquet' b on a.src = b.out"
    )
    whole = f"create or replace temp table found as select distinct a.out, b.src from {pairs_of}"
    cold: Times = []
    for _ in range(5):
        wall, used = process(COLD.format(store=url, dataset=last, row=7))
        cold.append((wall, used))
    cold_duck = [process(COLD_DUCK.format(query=back(lists, "7")))[0] for _ in range(3)]
    back_through = [str(path) for path in reversed(lists)]
    memory = []
    for asked, count in ((f"range({n // 200})", n // 200), (None, n)):
        theirs_mb = process(MEMORY_DUCK.format(lists=back_through, rows=count))
        memory.append([*process(MEMORY.format(store=url, dataset=last, rows=asked)), *theirs_mb])
    few = max(3, options.runs // 20)
    times = [
        (
            "sources of one row through 10 steps, warm, 95th percentile",
            "ms",
            5,
            p95(timed(ours, options.runs)),
            p95(timed(theirs, few))[0],
        ),
        ("the same, first answer of a new process", "ms", 150, median(cold), statistics.median(cold_duck)),
        (
            "sources of 10,000 rows through 10 steps",
            "s",
            1,
            median(timed(lambda: prov.backward(last, some, to="/0"), 3)),
            median(timed(lambda: duckdb.sql(back_each(lists, some.tolist())), 3))[0],
        ),
        (
            f"all pairs of related rows (`correspondence`), {options.rows:,} edges, two steps",
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
    head = ["query", "target", "ProvSpark", "ProvSpark, CPU time", "DuckDB on edge lists", "times faster", "met"]
    text = f"{machine()}; load {os.getloadavg()[0]:.1f}. Ten steps of {options.rows:,} rows (maps, filters that keep "
    text += f"half of the rows, one-to-many joins, groups), {chained:,} edges.\n\n" + table(head, lines)
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
        "bytes per edge",
        "edge list, bytes per edge",
        "target, bytes per edge",
        "written in, s",
        "met",
    ]
    text += "\n\n" + table(head, lines)
    text += "\n\nMemory of a query: the peak of a new process (VmHWM), minus its peak "
    text += f"after imports and opening the store; over {chained:,} edges; target: at most 300 MB:\n\n"
    traces = f"trace of {n // 200:,} rows", f"trace of all {n:,} rows"
    lines = [
        [what, f"{int(runs):,}", f"{mb:,.0f}", f"{other:,.0f}", "yes" if mb < 300 else "**no**"]
        for what, (mb, runs, other) in zip(traces, memory, strict=True)
    ]
    head = ["query", "ranges of row ids, at most in a version", "MB", "DuckDB on edge lists, MB", "met"]
    text += table(head, lines) + "\n\n"
    head = [
        "nested joins and aggregates",
        "bytes",
        "bytes per row and operator",
        "edge lists, bytes",
        "written in, s",
        "edge lists, s",
        "sources of 1,000 rows, ms",
        "CPU time, ms",
        "DuckDB, ms",
    ]
    text += table(head, operators(max(1, options.rows // 10), options.folder))
    publish("store", text)


if __name__ == "__main__":
    main()
