"""Sizes of the regular relations of array operations: a negation, a sum and a sort.

Nothing is timed, and neither Spark nor its data is needed: see `benchmarks.store`. The cells are rows here.
"""

from __future__ import annotations

import argparse
import shutil

import numpy as np

from benchmarks.beside import COMPARISON
from benchmarks.common import SCRATCH, publish, table
from benchmarks.store import Builder, direct
from provspark.model.boxes.pairs import from_ranges
from provspark.model.pending import PendingTensor

RAW = 16
"""Bytes of an edge without any encoding: two whole numbers."""


def main() -> None:
    """Write the relations, and rewrite the section of docs/comparison.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=1_000_000)
    cells = parser.parse_args().cells
    folder = SCRATCH / "arrays"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build = Builder(folder)
    every = np.arange(cells)
    negation = "each cell from one cell, such as a negation"
    build.step(negation, ("/s0", cells), ("/s1", cells), direct(every, every), (every, every))
    out = np.zeros(cells, dtype=np.int64)
    one = (PendingTensor(0, 1, from_ranges([0], [0], [cells])),)
    build.step("one cell from all cells, such as a sum", ("/s0", cells), ("/s2", 1), (one, ()), (out, every))
    moved = np.random.default_rng(4).permutation(cells)
    build.step("a sort of unordered cells", ("/s0", cells), ("/s3", cells), direct(every, moved), (every, moved))
    lines = [[name, f"{RAW * cells:,}", f"{build.plain[name]:,}", f"{size:,}"] for name, size in build.bytes.items()]
    head = [
        f"operation on {cells:,} cells",
        "edges uncompressed, bytes",
        "edges in Parquet, bytes",
        "ProvSpark, all files, bytes",
    ]
    publish("arrays", table(head, lines), COMPARISON)


if __name__ == "__main__":
    main()
