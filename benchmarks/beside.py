"""Others beside us, in one run on one machine: SmokedDuck, and what people do by hand on Spark.

SmokedDuck comes from PyPI into an environment of its own (.bench/smokedduck; it needs an older numpy), and runs one
thread. By hand means: ids carried as columns into a table beside the output, and `collect_list` of ids for each group.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import provspark
from benchmarks.common import ROOT, SCRATCH, machine, publish, session, table, tpch
from benchmarks.pairs import folders, frames, geometric, load, load_average, timed
from provspark.tracker import attach

COMPARISON = ROOT / "docs" / "comparison.md"
SMOKE = ("Q1", "Q3", "Q10", "Q12")
"""The queries of Smoke's paper."""


def main() -> None:
    """Measure and rewrite the sections of docs/comparison.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    data = tpch(options.scale)
    publish("smokedduck", smokedduck(data, options.scale, options.runs), COMPARISON)
    publish("by-hand", by_hand(data, options.scale, options.runs), COMPARISON)


def smokedduck(data: Path, scale: str, runs: int) -> str:
    """Capture ratio and time of a question on TPC-H, beside what `benchmarks.capture` measured of ours."""
    python = _smokedduck()
    ours = {m.name: m for m in load(f"tpch-{scale}")}
    lines: list[list[str]] = []
    theirs: dict[str, float] = {}
    for number in range(1, 23):
        query = ROOT / "benchmarks" / "tpch" / f"q{number}.sql"
        command = [python, ROOT / "benchmarks" / "smoked.py", data, query, str(runs)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        mine = ours.get(f"Q{number}")
        own = [f"{mine.ratio:.2f}", _question(scale, number)] if mine else ["–", "–"]
        if not told:
            lines.append([f"Q{number}", "–", "failed", "–", "–", *own])
            continue
        plain, captured, asked, rows = told[-1]
        theirs[f"Q{number}"] = captured / plain
        question = ["failed", "–"] if asked is None else [f"{1000 * asked:.1f}", f"{rows:,}"]
        lines.append([f"Q{number}", f"{plain:.3f}", f"{captured / plain:.2f}", *question, *own])
    for what, names in (("queries of Smoke's paper", SMOKE), ("all queries", tuple(f"Q{n}" for n in range(1, 23)))):
        both = [[theirs[n] for n in names if n in theirs], [ours[n].ratio for n in names if n in ours]]
        means = [f"**{geometric(ratios):.2f}**" if ratios else "" for ratios in both]
        lines.append([f"**geometric mean, {what}**", "", means[0], "", "", means[1], ""])
    head = ["query", "SmokedDuck without capture, s", "SmokedDuck, ratio", "SmokedDuck, `backward`, ms"]
    head += ["SmokedDuck, rows returned", "ProvSpark, ratio", "ProvSpark, `backward`, ms"]
    return f"TPC-H at scale factor {scale}, medians of {runs}; {machine()}, {load_average()}.\n\n{table(head, lines)}"


def _question(scale: str, number: int) -> str:
    """Median of asking for the sources of the first row, warm."""
    store, dataset = folders(f"tpch-{scale}", f"Q{number}")
    prov = provspark.open(store.as_uri())
    if not prov.backward(dataset.as_uri()).parts:
        return "no row"
    times = [timed(lambda: prov.backward(dataset.as_uri(), [0]).table())[0] for _ in range(9)]
    return f"{1000 * statistics.median(times):.1f}"


def _smokedduck() -> Path:
    folder = SCRATCH / "smokedduck"
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "smokedduck", "numpy<2", "pandas<2.3"], check=True)
        (folder / "done").touch()
    return python


def by_hand(data: Path, scale: str, runs: int) -> str:
    """A join with a group by key, its rows traced in three ways: ratio, bytes, and one row's sources asked for."""
    spark = session()
    frames(spark, data, ("orders", "lineitem"))
    query = "SELECT {} FROM {} JOIN {} ON o_orderkey = l_orderkey WHERE l_shipdate > DATE '1995-03-15' {}"
    numbered = [f"(SELECT *, monotonically_increasing_id() AS {n}_id FROM {n})" for n in ("lineitem", "orders")]
    grouped = "GROUP BY o_custkey, o_orderpriority"
    values = "o_custkey, o_orderpriority, sum(l_extendedprice) AS price, count(*) AS n"
    lists = "collect_list(lineitem_id) AS lineitems, collect_list(orders_id) AS orders"
    root = SCRATCH / "by-hand"

    def write(text: str, to: str) -> None:
        spark.sql(text).write.mode("overwrite").parquet((root / to).as_uri())

    def plain() -> None:
        write(query.format(values, "lineitem", "orders", grouped), "plain")

    def listed() -> None:
        write(query.format(f"{values}, {lists}", *numbered, grouped), "listed")

    def carried() -> None:
        plain()
        write(query.format("o_custkey, o_orderpriority, lineitem_id, orders_id", *numbered, ""), "edges")

    def tracked() -> None:
        with attach(store=(root / "prov").as_uri(), step="by-hand"):
            write(query.format(values, "lineitem", "orders", grouped), "tracked")

    ways: dict[str, Callable[[], None]] = {
        "plain": plain,
        "ids as columns, in a second table": carried,
        "`collect_list` of ids in each row": listed,
        "ProvSpark": tracked,
    }
    shutil.rmtree(root, ignore_errors=True)
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for run in range(runs + 1):
        for way, work in ways.items():
            took = timed(work)[0]
            if run:
                seconds[way].append(took)
    spark.stop()
    size = {
        name: sum(f.stat().st_size for f in (root / name).rglob("*.parquet")) for name in ("plain", "edges", "listed")
    }
    prov = provspark.open((root / "prov").as_uri())
    store = sum(f.size for f in prov.graph.manifests[-1].files)
    asked = _asked(root, prov)
    extra = {"plain": 0, "ids as columns, in a second table": size["edges"], "ProvSpark": store}
    extra["`collect_list` of ids in each row"] = size["listed"] - size["plain"]
    base = statistics.median(seconds["plain"])
    lines = [
        [
            way,
            f"{statistics.median(t):.2f}",
            f"{statistics.median(t) / base:.2f}",
            f"{extra[way]:,}",
            asked.get(way, "–"),
        ]
        for way, t in seconds.items()
    ]
    head = ["method", "time, s", "ratio", "extra bytes", "sources of one row, ms"]
    what = "TPC-H's lineitem joined with orders, filtered, and grouped by customer and priority"
    return f"{what}; scale factor {scale}, medians of {runs}; {machine()}, {load_average()}.\n\n{table(head, lines)}"


def _asked(root: Path, prov: Any) -> dict[str, str]:
    """Time to find the ids of one row: by hand with DuckDB over the Parquet files."""
    import duckdb

    key, priority = duckdb.sql(f"SELECT o_custkey, o_orderpriority FROM '{root}/plain/*.parquet' LIMIT 1").fetchall()[0]
    where = f"o_custkey = {key} AND o_orderpriority = '{priority}'"
    questions: dict[str, Callable[[], Any]] = {
        "ids as columns, in a second table": lambda: duckdb.sql(
            f"SELECT lineitem_id, orders_id FROM '{root}/edges/*.parquet' WHERE {where}"
        ).fetchall(),
        "`collect_list` of ids in each row": lambda: duckdb.sql(
            f"SELECT lineitems, orders FROM '{root}/listed/*.parquet' WHERE {where}"
        ).fetchall(),
        "ProvSpark": lambda: prov.backward((root / "tracked").as_uri(), [0]).table(),
    }
    found = {}
    for way, ask in questions.items():
        ask()
        began = time.perf_counter()
        for _ in range(9):
            ask()
        found[way] = f"{1000 * (time.perf_counter() - began) / 9:.1f}"
    return found


if __name__ == "__main__":
    sys.exit(main())
