"""Runs the benchmarks one after the other, each in a process of its own.

With `--quick` it runs a part of them in some ten minutes and prints the tables instead of putting them into the docs.

A benchmark that fails is told at the end, and the others run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

FULL = (
    "capture",
    "capture --scale 10",
    "capture --suite tpcds",
    "shapes",
    "fixed",
    "driver_reads",
    "memory",
    "heap",
    "sealing",
    "questions",
    "replay",
    "fair",
    "profile",
    "store",
    "versions",
    "growth",
    "papers",
    "arrays",
    "beside",
    "plots",
)
QUICK = (
    "capture --runs 3 --queries 1,3,6,9,18",
    "shapes --runs 1 --rows 6000000",
    "fixed",
    "questions --queries 1,3,9,18",
    "store --rows 1000000",
)


def main() -> int:
    """Run them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    env = os.environ | ({"PROVSPARK_BENCH_PRINT": "1"} if options.quick else {})
    failed = []
    for call in QUICK if options.quick else FULL:
        began = time.monotonic()
        print(f"== {call}", flush=True)
        name, *rest = call.split()
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *rest], env=env, check=False).returncode:
            failed.append(call)
        print(f"== {call}: {time.monotonic() - began:.0f} s", flush=True)
    if failed:
        print(f"failed: {'; '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
