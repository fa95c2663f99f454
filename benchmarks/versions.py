"""Time of questions about a dataset of many versions of many files, of which each step replaced or added one.

The store is made by hand: its files are real, their content is not asked for.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import provspark
from benchmarks.common import SCRATCH, machine, publish, table
from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis

AT_MOST = 50
"""Milliseconds that a warm question may take."""
ROWS = 10
"""In each file."""


def main() -> None:
    """Measure and rewrite the section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", type=int, default=1000)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    root = SCRATCH / "versions"
    shutil.rmtree(root, ignore_errors=True)
    made = _made(root, options.versions, options.files)
    source, middle = str(root / "in"), options.versions // 2
    prov = provspark.open(str(root / "prov"))
    was = prov.select(str(root / "out"), range(ROWS), version=made[middle])
    asked: dict[str, Callable[[], Any]] = {
        "sources of one row, no version given": lambda: prov.backward(str(root / "out"), [0]).table(),
        "rows derived from one row, in the current version": lambda: prov.forward(
            source, [middle * ROWS], to=str(root / "out")
        ).table(),
        "ten rows of an older version, located in the current one": lambda: prov.locate(was),
        "the list of datasets": prov.datasets,
    }
    lines = [_line(name, ask, options.runs) for name, ask in asked.items()]
    (root / "out" / "part-00000").unlink()
    for name, ask in list(asked.items())[:3]:
        lines.append(_line(f"{name}, after a file was deleted by hand", ask, options.runs))
    head = ["query", "first, ms", "warm, median, ms", "target, ms", "met"]
    said = f"{options.versions:,} versions of {options.files:,} files; each step replaced one of them."
    publish("versions", f"{machine()}. {said}\n\n" + table(head, lines))
    shutil.rmtree(root)


def _made(root: Path, versions: int, files: int) -> list[str]:
    """Make the store and the last version's files, and return the versions' ids."""
    source = _version(root / "in", {f"part-{i:05d}": 1 for i in range(versions)}, set())
    store = Store.open(str(root / "prov"), create=True)
    times = {f"part-{i:05d}": 1 for i in range(files)}
    made = []
    for step in range(versions):
        name = f"part-{step % files:05d}"
        times[name] = step + 2
        out = _version(root / "out", times, {name})
        first = int(out.files.bases[out.files.paths.index(name)])
        pairs = np.arange(ROWS)
        tensor = PendingTensor(0, 1, from_pairs(first + pairs, step * ROWS + pairs))
        made.append(out.files.identity(out.dataset))
        axes = (
            Axis("output", out.files.total, made[-1]),
            Axis("input", source.files.total, source.files.identity(source.dataset), 0),
        )
        writer = store.writer(StepKey("replace", f"run{step}", "daily"))
        writer.add(PendingWrite(out, "exact", (source,), axes, (tensor,)))
        clock = f"2024-01-01T{step // 3600:02d}:{step // 60 % 60:02d}:{step % 60:02d}.000000+00:00"
        writer.publish(status="succeeded", started=clock, ended=clock)
    for folder, entries in (("in", dict.fromkeys(source.files.paths, 1)), ("out", times)):
        (root / folder).mkdir()
        for name, mtime in entries.items():
            path = root / folder / name
            path.write_bytes(b"x" * ROWS)
            os.utime(path, ns=(mtime * 1_000_000, mtime * 1_000_000))
    return made


def _version(path: Path, times: dict[str, int], written: set[str]) -> PendingVersion:
    files = Files.of([(name, ROWS, mtime, ROWS, name in written) for name, mtime in times.items()])
    return PendingVersion(Dataset.parse(str(path)), files, "text")


def _line(name: str, ask: Callable[[], Any], runs: int) -> list[str]:
    began = time.perf_counter()
    ask()
    first = 1000 * (time.perf_counter() - began)
    warm = []
    for _ in range(runs):
        began = time.perf_counter()
        ask()
        warm.append(1000 * (time.perf_counter() - began))
    median = statistics.median(warm)
    return [name, f"{first:,.0f}", f"{median:.1f}", str(AT_MOST), "yes" if median <= AT_MOST else "no"]


if __name__ == "__main__":
    main()
