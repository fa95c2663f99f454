"""Time of a trace: one row of TPC-H Q9's result back to its sources, warm in one process and cold in a new one.

Needs what `benchmarks.capture` left in .bench/.
"""

from __future__ import annotations

import argparse
import statistics
import time

import provspark
from benchmarks.common import machine, process, publish, table
from benchmarks.pairs import folders

COLD = """
import time
import provspark.api
from provspark.index_store.store import store
began = time.perf_counter()
provspark.open({store!r}).backward({dataset!r}, rows=[0]).table()
print(time.perf_counter() - began)
"""


def main() -> None:
    """Measure and rewrite the section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", default="1,3,9,18")
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    lines = []
    for query in options.queries.split(","):
        store, dataset = (folder.as_uri() for folder in folders("tpch-1", f"Q{query}"))
        prov = provspark.open(store)
        answer = prov.backward(dataset, rows=[0]).table()
        warm = []
        for _ in range(options.runs):
            began = time.perf_counter()
            prov.backward(dataset, rows=[0]).table()
            warm.append(time.perf_counter() - began)
        text = COLD.format(store=store, dataset=dataset)
        cold = [process(text)[0] for _ in range(5)]
        p95 = statistics.quantiles(warm, n=20)[-1]
        figures = [f"{1000 * f:.1f}" for f in (statistics.median(warm), p95, statistics.median(cold))]
        lines.append([f"Q{query}", f"{answer.num_rows:,}", *figures])
    head = ["one row of", "source rows", "warm, median, ms", "warm, 95th percentile, ms", "cold, median, ms"]
    publish(
        "questions", f"{machine()}. Cold: the first answer of a new process, after imports.\n\n" + table(head, lines)
    )


if __name__ == "__main__":
    main()
