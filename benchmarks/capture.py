"""Cost of capture: TPC-H queries written to Parquet, plain and tracked in turn, in one session.

Plain runs are unwrapped: no capture is attached while they run. Ratios are of medians over `--runs` pairs.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import provspark
from benchmarks.common import ROOT, SCRATCH, machine, publish, session, table, tpch
from provspark.tracker import attach

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


@dataclass(slots=True)
class Measured:
    """All runs of one query, in seconds."""

    query: int
    plain: list[float] = field(default_factory=list)
    tracked: list[float] = field(default_factory=list)
    rewrite: list[float] = field(default_factory=list)
    seal: list[float] = field(default_factory=list)
    edges: int = 0
    size: int = 0

    @property
    def ratio(self) -> float:
        """Tracked over plain, sealing included."""
        return statistics.median(self.tracked) / statistics.median(self.plain)

    @property
    def unsealed(self) -> float:
        """The same, sealing apart."""
        return statistics.median(t - s for t, s in zip(self.tracked, self.seal, strict=True)) / statistics.median(
            self.plain
        )


def timed(work: Callable[[], None]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(spark: object, query: int, runs: int) -> Measured:
    """Run one query in turn, plain and tracked; the first pair warms up and is not counted."""
    text = (ROOT / "benchmarks" / "tpch" / f"q{query}.sql").read_text(encoding="utf-8")
    store, plain, tracked = (SCRATCH / name for name in (f"prov-q{query}", f"plain-q{query}", f"tracked-q{query}"))
    shutil.rmtree(store, ignore_errors=True)
    found = Measured(query)

    def write(folder: object) -> None:
        spark.sql(text).write.mode("overwrite").parquet(f"file://{folder}")  # type: ignore[attr-defined]

    for run in range(runs + 1):
        without = timed(lambda: write(plain))
        with attach(store=store.as_uri(), step=f"q{query}") as capture:
            within = timed(lambda: write(tracked))
        if capture.untracked:
            raise SystemExit(f"Q{query} is not tracked: {capture.untracked}")
        if run:
            found.plain.append(without)
            found.tracked.append(within)
            found.rewrite.append(capture.costs[0].rewrite)
            found.seal.append(capture.costs[0].seal)
    assert capture.manifest is not None
    found.size = sum(f.size for f in capture.manifest.files)
    answer = provspark.open(store.as_uri()).backward(tracked.as_uri())
    found.edges = answer.num_rows
    return found


def main() -> None:
    """Measure and rewrite the section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--queries", default="1,3,5,9,18")
    options = parser.parse_args()
    data = tpch(options.scale)
    spark = session()
    for name in TABLES:
        spark.read.parquet(f"file://{data}/{name}.parquet").createOrReplaceTempView(name)
    found = []
    for query in map(int, options.queries.split(",")):
        found.append(measure(spark, query, options.runs))
        print(f"Q{query}: {found[-1].ratio:.2f}", flush=True)
    spark.stop()
    publish("capture", report(found, options.scale, options.runs))


def report(found: list[Measured], scale: str, runs: int) -> str:
    """Return the section."""
    head = ["query", "plain s", "tracked s", "ratio", "ratio, sealing apart", "rewrite s", "seal s"]
    head += ["data edges", "bytes, all files", "bytes an edge"]
    lines = []
    for m in found:
        seconds = [f"{statistics.median(x):.2f}" for x in (m.plain, m.tracked)]
        costs = [f"{statistics.median(x):.3f}" for x in (m.rewrite, m.seal)]
        per_edge = f"{m.size / m.edges:.2f}" if m.edges else "–"
        ratios = [f"{m.ratio:.2f}", f"{m.unsealed:.2f}"]
        lines.append([f"Q{m.query}", *seconds, *ratios, *costs, f"{m.edges:,}", f"{m.size:,}", per_edge])
    edges, size = sum(m.edges for m in found), sum(m.size for m in found)
    geometric = [math.exp(statistics.fmean(math.log(getattr(m, n)) for m in found)) for n in ("ratio", "unsealed")]
    lines.append(["**all**", "", "", *(f"**{g:.2f}**" for g in geometric), "", "", f"{edges:,}", f"{size:,}"])
    lines[-1].append(f"{size / edges:.2f}")
    what = f"TPC-H at scale factor {scale}, medians of {runs} interleaved runs; {machine()}. Last: geometric means."
    return what + "\n\n" + table(head, lines)


if __name__ == "__main__":
    main()
