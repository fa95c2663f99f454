"""Cost of capture on writes of one shape each: narrow, wide, skewed, many operators; and by rows and by cores."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from benchmarks.common import SCRATCH, machine, publish, session
from benchmarks.pairs import Case, Measured, load_average, measure, report, run, save

ROWS = 60_000_000
COLUMNS = 200


def main() -> None:
    """Measure and rewrite the sections of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the narrow job")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cores", type=int, help="measure TPC-H's Q1 on so many cores alone, and print it as JSON")
    options = parser.parse_args()
    if options.cores:
        print(json.dumps(asdict(_on(options.cores, options.runs))))
        return
    spark = session()
    found = run("shapes", _shapes(spark, options.rows), options.runs)
    rows = run("rows", _by_rows(spark), options.runs)
    spark.stop()
    text = f"Medians of {options.runs} pairs; {machine()}, {load_average()}.\n\n{report(found, 'write')}\n\n"
    text += "A filter and a GROUP BY with 1,000 distinct keys, for different numbers of input rows:\n\n"
    text += f"{report(rows, 'rows')}\n\n"
    by_cores = []
    for cores in _cores():
        command = [sys.executable, "-m", "benchmarks.shapes", "--cores", str(cores), "--runs", str(options.runs)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        by_cores.append(Measured(**(json.loads(said.splitlines()[-1]) | {"name": str(cores)})))
    save("cores", by_cores)
    publish("shapes", f"{text}TPC-H's Q1 at scale factor 1, by cores:\n\n{report(by_cores, 'cores')}")


def _shapes(spark: Any, rows: int) -> list[Case]:
    narrow = _source(spark, rows)
    columns = ", ".join(f"id + {i} AS c{i}" for i in range(COLUMNS))
    wide = SCRATCH / f"wide-{COLUMNS}"
    if not (wide / "_SUCCESS").exists():
        spark.sql(f"SELECT {columns} FROM range(500000)").write.mode("overwrite").parquet(wide.as_uri())
    skewed = "CASE WHEN id % 2 = 0 THEN 0 ELSE id % 100003 END"

    def write(make: Callable[[], Any]) -> Callable[[str], None]:
        return lambda folder: make().write.mode("overwrite").parquet(folder)

    def many() -> Any:
        frame = spark.read.parquet(narrow).limit(100_000)
        for i in range(28):
            frame = frame.filter(f"id <> {i}") if i % 2 else frame.withColumn(f"c{i}", frame["id"] + i)
        return frame

    def read() -> Any:
        return spark.read.parquet(narrow)

    millions = f"{rows / 1e6:,.0f} million rows"
    return [
        Case(f"filter and project, {millions}", write(lambda: read().filter("id % 3 <> 0").select("id", "key"))),
        Case(
            f"group by a key that half of {min(rows, 10_000_000) / 1e6:,.0f} million rows have",
            write(
                lambda: (
                    spark.read.parquet(_source(spark, min(rows, 10_000_000)))
                    .selectExpr(f"{skewed} AS key", "value")
                    .groupBy("key")
                    .sum("value")
                )
            ),
        ),
        Case(
            f"filter of {COLUMNS} columns, 500,000 rows",
            write(lambda: spark.read.parquet(wide.as_uri()).filter("c0 % 3 <> 0")),
        ),
        Case("30 operators, 100,000 rows", write(many)),
    ]


def _by_rows(spark: Any) -> list[Case]:
    def case(rows: int) -> Case:
        source = _source(spark, rows)

        def write(folder: str) -> None:
            frame = spark.read.parquet(source).filter("value > 0.25")
            frame.groupBy((frame["key"] % 1000).alias("key")).sum("value").write.mode("overwrite").parquet(folder)

        return Case(f"{rows:,}", write)

    return [case(rows) for rows in (100_000, 1_000_000, 10_000_000)]


def _source(spark: Any, rows: int) -> str:
    """Rows (id, key, value) in Parquet, made once."""
    folder = SCRATCH / f"rows-{rows}"
    if not (folder / "_SUCCESS").exists():
        frame = spark.range(rows).selectExpr("id", "hash(id) AS key", "rand(7) AS value")
        frame.repartition(16).write.mode("overwrite").parquet(folder.as_uri())
    return folder.as_uri()


def _cores() -> list[int]:
    most = os.cpu_count() or 1
    return sorted({1, *(n for n in (2, 4, 8) if n < most), most})


def _on(cores: int, runs: int) -> Measured:
    from benchmarks.capture import cases

    spark = session(**{"spark.master": f"local[{cores}]"})
    (case,) = cases(spark, "tpch", "1", [1])
    found = measure(f"cores-{cores}", case, runs)
    spark.stop()
    return found


if __name__ == "__main__":
    main()
