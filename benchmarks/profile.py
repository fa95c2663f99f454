"""Cost of profiles: steps with ``profile`` and without, one after the other in one session."""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, SCRATCH, machine, publish, session, table, tpch

sys.path.insert(0, str(ROOT / "tools"))
import pipelines

PIPELINES = {
    "German credit, terms: CSV to Parquet": "credit_terms",
    "German credit, encode: 21 columns to 60": "credit",
    "Census, texts: CSV to Parquet": "texts",
    "Census, encode: 15 columns to 104": "census",
}


def main() -> None:
    """Measure and rewrite the section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    folder = SCRATCH / "profile"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    spark = session()
    cases: dict[str, Callable[[int, bool], Any]] = {}
    for label, output in PIPELINES.items():
        task = next(t for t in pipelines.TASKS if t.output == output)
        cases[label] = lambda n, profile, task=task: pipelines.run(
            folder, (task,), str(folder / f"prov-{n}-{profile}"), *(["--profile"] if profile else [])
        )
    lines = tpch(options.scale) / "lineitem.parquet"
    cases[f"TPC-H lineitem at scale factor {options.scale}, a filter"] = lambda n, profile: _filter(
        spark, lines, folder, n, profile
    )
    told = []
    for label, run in cases.items():
        run(-1, False)
        run(-1, True)
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for n in range(options.runs):
            for profile in (False, True):
                began = time.perf_counter()
                run(n, profile)
                seconds[profile].append(time.perf_counter() - began)
        without, with_ = (statistics.median(seconds[p]) for p in (False, True))
        told.append([label, f"{without:.2f}", f"{with_:.2f}", f"{with_ / without:.2f}"])
    spark.stop()
    head = ["step", "with capture, s", "with capture and profile, s", "ratio"]
    about = f"{machine()}. Medians of {options.runs} alternating runs of both kinds, after one warm-up run of each."
    publish("profile", f"{about}\n\n" + table(head, told))


def _filter(spark: Any, lines: Path, folder: Path, n: int, profile: bool) -> None:
    from provspark.tracker import attach

    with attach(str(folder / f"prov-lines-{n}-{profile}"), "lines", profile=profile):
        rows = spark.read.parquet(str(lines)).filter("l_quantity > 25")
        rows.write.mode("overwrite").parquet(str(folder / "lines"))


if __name__ == "__main__":
    main()
