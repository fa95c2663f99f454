"""The set-ups of the papers: three pipelines, a left outer join of growing sides, selectivity of a filter, TPC-H.

Each is a section of docs/comparison.md, and `--only` runs some of them. With `--runs 0` nothing is timed: the sections
that have sizes are written with those alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import provspark
from benchmarks.beside import COMPARISON
from benchmarks.common import ROOT, SCRATCH, machine, publish, session, table
from benchmarks.pairs import Case, Measured, folders, load, load_average, run, timed

sys.path.insert(0, str(ROOT / "tools"))
import pipelines

PIPELINES = {"German": pipelines.CREDIT, "Compas": pipelines.COMPAS, "Census": pipelines.CENSUS}
PUBLISHED_SIZES = {
    "German": ("0.023", "187.38"),
    "Compas": ("0.001", "218.98"),
    "Census": ("0.036", "4,012.38"),
}
"""MB for TensProv and for Chapman et al.: `results/original_pipelines_comparison.csv` of TensProv's repository."""
JOINS = {362_342: 390_978, 602_956: 650_608, 1_085_239: 1_171_006, 2_411_006: 2_601_549}
"""Holdings and trades. The papers' are all holdings and the first trades; the other trades are in proportion."""
PUBLISHED_JOINS = {362_342: "3.02", 2_411_006: "14.58"}
"""MB for TensProv, by holdings."""
KEPT = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 1.0)
NONE = "–"
SIZED = ("sizes", "joins")
"""Sections that also have figures without a clock."""


def main() -> None:
    """Measure and rewrite the sections of docs/comparison.md."""
    sections: dict[str, Callable[[int], list[str]]] = {
        "pipelines": _pipelines,
        "processes": _processes,
        "sizes": _sizes,
        "joins": _joins,
        "selectivity": _selectivity,
        "predtrace": _predtrace,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help=f"some of {', '.join(sections)}, between commas")
    options = parser.parse_args()
    for name in options.only.split(",") if options.only else sections:
        if options.runs or name in SIZED:
            text = sections[name](options.runs)
            publish(name, "\n\n".join([_about(name, options.runs), *text]), COMPARISON)


def _about(name: str, runs: int) -> str:
    if name == "sizes":
        return f"{machine()}."
    if not runs:
        return f"Sizes and counts only (times are not measured yet); {machine()}."
    pairs = "" if name == "predtrace" else f"Medians of {runs} pairs of runs; "
    return f"{pairs}{machine()}, {load_average()}."


def _emptied(name: str) -> Path:
    folder = SCRATCH / "papers" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _pipelines(runs: int) -> list[str]:
    """All steps in one session: what capture adds to the work itself."""
    session()
    lines = []
    for name, tasks in PIPELINES.items():
        folder = _emptied(name)
        store = folder / "prov"
        plain: list[float] = []
        tracked: list[float] = []
        for n in range(runs + 1):
            shutil.rmtree(store, ignore_errors=True)
            without = timed(lambda folder=folder, tasks=tasks: pipelines.run(folder, tasks, None))[0]  # type: ignore[misc]
            within = timed(lambda folder=folder, tasks=tasks, store=store: pipelines.run(folder, tasks, str(store)))[0]  # type: ignore[misc]
            if n:
                plain.append(without)
                tracked.append(within)
        asked = _asked(provspark.open(store.as_uri()), str(folder / tasks[1].output))
        lines.append([name, str(len(tasks)), *_ratio(plain, tracked), asked])
    return [table(["pipeline", "steps", "without capture, s", "with capture, s", "ratio", "`backward`, ms"], lines)]


def _processes(runs: int) -> list[str]:
    """Each step in a process of its own, as Airflow runs it: with the fixed cost of a step."""
    lines = []
    for name, tasks in PIPELINES.items():
        plain: list[float] = []
        tracked: list[float] = []
        for n in range(runs + 1):
            folder = _emptied(f"{name}-processes")
            without = sum(timed(lambda t=t, f=folder: _process(t, f, captured=False))[0] for t in tasks)  # type: ignore[misc]
            folder = _emptied(f"{name}-processes")
            within = sum(timed(lambda t=t, f=folder: _process(t, f, captured=True))[0] for t in tasks)  # type: ignore[misc]
            if n:
                plain.append(without)
                tracked.append(within)
        more = (statistics.median(tracked) - statistics.median(plain)) / len(tasks)
        lines.append([name, str(len(tasks)), *_ratio(plain, tracked), f"{more:.2f}"])
    return [table(["pipeline", "steps", "without capture, s", "with capture, s", "ratio", "extra s per step"], lines)]


def _process(task: pipelines.Task, folder: Path, *, captured: bool) -> None:
    arguments = [*(pipelines.place(folder, name) for name in task.inputs), pipelines.place(folder, task.output)]
    command = [sys.executable]
    if captured:
        command += ["-m", "provspark.tracker.runner", "--store", str(folder / "prov"), "--task-id", task.output, "--"]
    env = os.environ | {"PYSPARK_PYTHON": sys.executable}
    script = str(pipelines.EXAMPLES / task.script)
    subprocess.run([*command, script, *arguments], check=True, capture_output=True, env=env)


def _ratio(plain: list[float], tracked: list[float]) -> list[str]:
    seconds = [statistics.median(plain), statistics.median(tracked)]
    return [*(f"{s:.2f}" for s in seconds), f"{seconds[1] / seconds[0]:.2f}"]


def _sizes(_: int) -> list[str]:
    session()
    lines = []
    for name, tasks in PIPELINES.items():
        folder = _emptied(f"{name}-sizes")
        pipelines.run(folder, tasks, str(folder / "prov"))
        sizes = {path: path.stat().st_size for path in (folder / "prov").rglob("*") if path.is_file()}
        edges = sum(size for path, size in sizes.items() if path.parent.name == "tensors")
        lines.append([name, f"{sum(sizes.values()) / 1e6:.3f}", f"{edges / 1e6:.3f}", *PUBLISHED_SIZES[name]])
    head = ["pipeline", "ProvSpark, all files, MB", "of which edges, MB", "TensProv, MB", "Chapman et al., MB"]
    return [table(head, lines)]


def _joins(runs: int) -> list[str]:
    spark = session()

    def case(holdings: int, trades: int) -> Case:
        holding, trade = SCRATCH / f"holding-{holdings}", SCRATCH / f"trade-{trades}"
        if not (trade / "_SUCCESS").exists():
            made = spark.range(holdings).selectExpr(
                f"pmod(hash(id), {trades}) AS t_id", "id AS hh_id", "rand(1) AS qty"
            )
            made.write.mode("overwrite").parquet(holding.as_uri())
            made = spark.range(trades).selectExpr(
                "id AS t_id", "rand(2) AS price", "hash(id) AS ca_id", "uuid() AS note"
            )
            made.orderBy("ca_id").write.mode("overwrite").parquet(trade.as_uri())

        def write(folder: str) -> None:
            left, right = (spark.read.parquet(place.as_uri()) for place in (trade, holding))
            left.join(right, "t_id", "left_outer").write.mode("overwrite").parquet(folder)

        return Case(f"{trades:,} with {holdings:,}", write)

    measured = run("joins", [case(*sides) for sides in JOINS.items()], runs)
    lines = []
    for m, holdings in zip(measured, JOINS, strict=True):
        asked = _asked(*_store("joins", m.name)) if runs else NONE
        size = [f"{m.size / 1e6:.2f}", PUBLISHED_JOINS.get(holdings, NONE)]
        lines.append([m.name, *_ratios(m), *size, f"{m.edges:,}", asked])
    sizes = ["ProvSpark, MB", "TensProv, MB", "data edges"]
    head = ["trades with holdings", "ratio", "CPU time ratio", *sizes, "`backward`, ms"]
    return [table(head, lines)]


def _ratios(m: Measured) -> list[str]:
    return [f"{m.ratio:.2f}", f"{m.used:.2f}"] if m.plain else [NONE, NONE]


def _selectivity(runs: int) -> list[str]:
    spark = session()
    source = SCRATCH / "selectivity"
    if not (source / "_SUCCESS").exists():
        spark.range(10_000_000).selectExpr("id", "rand(3) AS r").write.mode("overwrite").parquet(source.as_uri())

    def keep(part: float) -> Callable[[str], None]:
        return lambda folder: (
            spark.read.parquet(source.as_uri()).filter(f"r < {part}").write.mode("overwrite").parquet(folder)
        )

    measured = run("selectivity", [Case(f"{part:.2%}", keep(part)) for part in KEPT], runs)
    lines = []
    for m in measured:
        each = f"{m.size / m.edges:.2f}" if m.edges else NONE
        asked = _asked(*_store("selectivity", m.name))
        lines.append([m.name, *_ratios(m), f"{m.edges:,}", f"{m.size:,}", each, asked])
    head = ["rows kept", "ratio", "CPU time ratio", "data edges", "stored bytes", "bytes per edge", "`backward`, ms"]
    return [table(head, lines)]


def _predtrace(_: int) -> list[str]:
    measured = load("tpch-1")
    if not measured:
        raise SystemExit("Run `python -m benchmarks.capture` first.")
    more = statistics.fmean(statistics.median(m.tracked) - statistics.median(m.plain) for m in measured)
    size = statistics.fmean(m.size for m in measured)
    stores = [_store("tpch-1", m.name) for m in measured]
    asked = [[a for store in stores if (a := _asked(*store, values=v)) != "no row"] for v in (False, True)]
    means = [f"{statistics.fmean(map(float, a)):,.1f}" for a in asked]
    ours = [f"{1000 * more:.0f}", f"{size / 1e6:.2f}"]
    head = ["system", "returns", "queries", "time to find sources, ms", "extra ms per query", "extra MB per query"]
    lines = [
        ["PredTrace, from the query alone", "rows, possibly too many", "22", "3,852", NONE, NONE],
        ["PredTrace, with intermediate results of 18 queries", "rows, exact", "22", "226.6", "34.7", "4.5"],
        ["ProvSpark", "row ids, exact", str(len(measured)), means[0], *ours],
        ["ProvSpark, with `values()`", "rows, exact", str(len(measured)), means[1], *ours],
    ]
    return [table(head, lines)]


def _store(suite: str, name: str) -> tuple[Any, str]:
    store, dataset = folders(suite, name)
    return provspark.open(store.as_uri()), str(dataset)


def _asked(prov: Any, dataset: str, *, values: bool = False) -> str:
    """Median time, in ms, of asking for the sources of one row, over 20 rows; as ids, or with the rows' values."""

    def ask(row: int) -> None:
        answer = prov.backward(dataset, [row])
        _ = answer.values().tables if values else answer.table()

    rows = prov.select(dataset).at.version.rows
    if not rows:
        return "no row"
    picks = [i * rows // 20 for i in range(20)]
    ask(picks[0])
    times = [timed(lambda row=row: ask(row))[0] for row in picks]  # type: ignore[misc]
    return f"{1000 * statistics.median(times):.1f}"


if __name__ == "__main__":
    main()
