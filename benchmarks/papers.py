"""The set-ups of the papers: three pipelines, a left outer join of growing sides, selectivity of a filter, TPC-H."""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from collections.abc import Callable
from typing import Any

import provspark
from benchmarks.beside import COMPARISON
from benchmarks.common import ROOT, SCRATCH, machine, publish, session, table
from benchmarks.pairs import Case, folders, load, load_average, run, timed

sys.path.insert(0, str(ROOT / "tools"))
import pipelines

JOINS = {1: 362_342, 2: 724_684, 4: 1_449_368, 6.65: 2_409_574}
"""Rows of the left side by factor; the right side has 390,978 times the factor."""
KEPT = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 1.0)


def main() -> None:
    """Measure and rewrite the section of docs/comparison.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    spark = session()
    about = f"Medians of {options.runs} pairs; {machine()}, {load_average()}."
    text = [
        about,
        *_pipelines(options.runs),
        *_joins(spark, options.runs),
        *_selectivity(spark, options.runs),
        *_tpch(),
    ]
    spark.stop()
    publish("papers", "\n\n".join(text), COMPARISON)


def _pipelines(runs: int) -> list[str]:
    lines = []
    for name, tasks in (("German", pipelines.CREDIT), ("Compas", pipelines.COMPAS), ("Census", pipelines.CENSUS)):
        folder = SCRATCH / "papers" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        store = folder / "prov"
        plain, tracked = [], []
        for n in range(runs + 1):
            shutil.rmtree(store, ignore_errors=True)
            without = timed(lambda folder=folder, tasks=tasks: pipelines.run(folder, tasks, None))[0]  # type: ignore[misc]
            within = timed(lambda folder=folder, tasks=tasks, store=store: pipelines.run(folder, tasks, str(store)))[0]  # type: ignore[misc]
            if n:
                plain.append(without)
                tracked.append(within)
        prov = provspark.open(store.as_uri())
        size = sum(f.size for m in prov.graph.manifests for f in m.files)
        last = str(folder / tasks[1].output)
        asked = _asked(prov, last)
        seconds = [statistics.median(x) for x in (plain, tracked)]
        ratio = f"{seconds[1] / seconds[0]:.2f}"
        lines.append([name, str(len(tasks)), *(f"{s:.2f}" for s in seconds), ratio, f"{size / 1e6:.2f}", asked])
    head = ["pipeline", "steps", "plain s", "captured s", "ratio", "MB, all steps", "why-question, ms"]
    return [
        "**The three pipelines** (Chapman et al., TensProv), each step a script of its own, with an imputation:",
        table(head, lines),
    ]


def _joins(spark: Any, runs: int) -> list[str]:
    def case(factor: float, left: int) -> Case:
        right = int(390_978 * factor)
        holding, trade = SCRATCH / f"holding-{left}", SCRATCH / f"trade-{right}"
        if not (trade / "_SUCCESS").exists():
            made = spark.range(left).selectExpr(f"pmod(hash(id), {right}) AS t_id", "id AS hh_id", "rand(1) AS qty")
            made.write.mode("overwrite").parquet(holding.as_uri())
            made = spark.range(right).selectExpr(
                "id AS t_id", "rand(2) AS price", "hash(id) AS ca_id", "uuid() AS note"
            )
            made.orderBy("ca_id").write.mode("overwrite").parquet(trade.as_uri())

        def write(folder: str) -> None:
            frames = (spark.read.parquet(place.as_uri()) for place in (holding, trade))
            a, b = frames
            a.join(b, "t_id", "left_outer").write.mode("overwrite").parquet(folder)

        return Case(f"{left:,} with {right:,}", write)

    found = run("joins", [case(f, n) for f, n in JOINS.items()], runs)
    lines = []
    for m in found:
        asked = _asked(*_store("joins", m.name))
        lines.append([m.name, f"{m.ratio:.2f}", f"{m.used:.2f}", f"{m.size / 1e6:.2f}", f"{m.edges:,}", asked])
    head = ["records joined", "ratio", "ratio, processor", "MB", "data edges", "why-question, ms"]
    printed = "TensProv prints 3.02 MB for the first size and 14.58 MB for the last, and 40 ms a why-question."
    return [
        f"**A left outer join** of synthetic holdings with trades, of the sizes of TPC-DI's. {printed}",
        table(head, lines),
    ]


def _selectivity(spark: Any, runs: int) -> list[str]:
    source = SCRATCH / "selectivity"
    if not (source / "_SUCCESS").exists():
        spark.range(10_000_000).selectExpr("id", "rand(3) AS r").write.mode("overwrite").parquet(source.as_uri())

    def keep(part: float) -> Callable[[str], None]:
        return lambda folder: (
            spark.read.parquet(source.as_uri()).filter(f"r < {part}").write.mode("overwrite").parquet(folder)
        )

    found = run("selectivity", [Case(f"{part:.2%}", keep(part)) for part in KEPT], runs)
    lines = []
    for m in found:
        each = f"{m.size / m.edges:.2f}" if m.edges else "–"
        asked = _asked(*_store("selectivity", m.name))
        lines.append([m.name, f"{m.ratio:.2f}", f"{m.used:.2f}", f"{m.edges:,}", f"{m.size:,}", each, asked])
    head = ["kept", "ratio", "ratio, processor", "data edges", "bytes", "bytes an edge", "why-question, ms"]
    return ["**A filter of 10 million rows**, by what it keeps:", table(head, lines)]


def _tpch() -> list[str]:
    found = load("tpch-1")
    if not found:
        return ["**TPC-H**: run `python -m benchmarks.capture` first."]
    more = statistics.fmean(statistics.median(m.tracked) - statistics.median(m.plain) for m in found)
    size = statistics.fmean(m.size for m in found)
    asked = [float(a) for m in found if (a := _asked(*_store("tpch-1", m.name))) != "no row"]
    printed = "PredTrace prints 22 of 22 queries, 34.7 ms and 4.5 MB more a query, and 226.6 ms a question, on pandas."
    ours = f"Here {len(found)} of 22: {1000 * more:.0f} ms and {size / 1e6:.2f} MB more a query on Spark, everything "
    ours += f"written to disk, and {statistics.fmean(asked):.1f} ms a question (mean of the medians, warm)."
    return [f"**TPC-H at scale factor 1.** {printed} {ours}"]


def _store(suite: str, name: str) -> tuple[Any, str]:
    store, dataset = folders(suite, name)
    return provspark.open(store.as_uri()), str(dataset)


def _asked(prov: Any, dataset: str) -> str:
    """Median time, in ms, of asking for the sources of one row, over 20 rows."""
    rows = prov.select(dataset).at.version.rows
    if not rows:
        return "no row"
    picks = [i * rows // 20 for i in range(20)]
    prov.backward(dataset, picks[:1]).table()
    times = [timed(lambda row=row: prov.backward(dataset, [row]).table())[0] for row in picks]  # type: ignore[misc]
    return f"{1000 * statistics.median(times):.1f}"


if __name__ == "__main__":
    main()
