"""Cost of capture on TPC-H's 22 queries and TPC-DS's 99, each written to Parquet."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, SCRATCH, machine, publish, session, tpch
from benchmarks.pairs import Case, frames, load_average, report, run


def main() -> None:
    """Measure and rewrite the suite's section of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=("tpch", "tpcds"), default="tpch")
    parser.add_argument("--scale", default="1")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--queries", help="numbers, as 1,3,5; all where not given")
    parser.add_argument("--resume", action="store_true", help="keep what an earlier run of as many pairs measured")
    options = parser.parse_args()
    spark = session()
    name = f"{options.suite}-{options.scale}"
    numbers = [int(n) for n in options.queries.split(",")] if options.queries else []
    found = run(name, cases(spark, options.suite, options.scale, numbers), options.runs, options.resume)
    spark.stop()
    what = f"{options.suite.upper().replace('TPC', 'TPC-')} at scale factor {options.scale}, medians of {options.runs} "
    publish(name, f"{what}pairs; {machine()}, {load_average()}.\n\n{report(found, 'query')}")


def cases(spark: Any, suite: str, scale: str, numbers: Sequence[int] = ()) -> list[Case]:
    """Queries of these numbers, or all, over views of the suite's tables."""
    texts, folder = (_tpch if suite == "tpch" else _tpcds)(scale)
    spark.conf.set("spark.sql.ansi.doubleQuotedIdentifiers", "true")  # TPC-DS's texts quote aliases so
    frames(spark, folder, sorted(path.stem for path in folder.glob("*.parquet")))
    return [_case(spark, n, texts[n]) for n in numbers or texts]


def _case(spark: Any, number: int, text: str) -> Case:
    """Some queries name two columns alike, which Parquet does not take: they are numbered then."""

    def write(folder: str) -> None:
        frame = spark.sql(text)
        if len({c.lower() for c in frame.columns}) < len(frame.columns):
            frame = frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))
        frame.write.mode("overwrite").parquet(folder)

    return Case(f"Q{number}", write)


def _tpch(scale: str) -> tuple[dict[int, str], Path]:
    folder = ROOT / "benchmarks" / "tpch"
    return {n: (folder / f"q{n}.sql").read_text(encoding="utf-8") for n in range(1, 23)}, tpch(scale)


def _tpcds(scale: str) -> tuple[dict[int, str], Path]:
    """Data and queries from DuckDB's extension; the data is made once."""
    import duckdb
    import duckdb_extension_tpcds

    extension = next((Path(duckdb_extension_tpcds.__file__).parent / "extensions").rglob("tpcds.duckdb_extension"))
    db = duckdb.connect()
    db.execute(f"LOAD '{extension}'")
    folder = SCRATCH / f"tpcds-{scale}"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        db.execute(f"CALL dsdgen(sf={scale})")
        for (name,) in db.execute("SHOW TABLES").fetchall():
            db.execute(f"COPY {name} TO '{folder}/{name}.parquet' (FORMAT parquet)")
        (folder / "done").touch()
    texts = dict(db.execute("SELECT query_nr, query FROM tpcds_queries()").fetchall())
    db.close()
    return {n: texts[n].rstrip().rstrip(";") for n in sorted(texts)}, folder


if __name__ == "__main__":
    main()
