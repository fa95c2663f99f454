"""Random programs that write in all ways: each write is captured once, exactly, and the script sees plain Spark.

`PROVSPARK_PROGRAMS` is the number of long programs, `PROVSPARK_SEED` the first seed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _programs import ROWS, Run, draw, fresh

import provspark
from provspark.tracker import attach

pytestmark = pytest.mark.spark

PROGRAMS = int(os.environ.get("PROVSPARK_PROGRAMS", "300"))
SEED = int(os.environ.get("PROVSPARK_SEED", "0"))
BATCH = 10


@pytest.fixture(autouse=True)
def quiet(spark: Any) -> Iterator[None]:
    """Some writes are to fail; Spark's log would tell each at length."""
    spark.sparkContext.setLogLevel("OFF")
    yield
    spark.sql("DROP DATABASE IF EXISTS programs_0027 CASCADE")
    spark.sparkContext.setLogLevel("ERROR")


@pytest.mark.long
@pytest.mark.parametrize("first", range(SEED, SEED + PROGRAMS, BATCH))
def test_random_programs(first: int, spark: Any, tmp_path: Path) -> None:
    for seed in range(first, min(first + BATCH, SEED + PROGRAMS)):
        check(seed, spark, tmp_path)


@pytest.mark.parametrize("seed", range(10**6, 10**6 + 5))
def test_some_random_programs(seed: int, spark: Any, tmp_path: Path) -> None:
    check(seed, spark, tmp_path)


def check(seed: int, spark: Any, work: Path) -> None:
    """Run a program without and with capture, and compare; then compare the lineage with the numbers in the rows."""
    program = draw(seed)
    base = str(work / "base")
    frame = spark.range(ROWS).selectExpr("int(id) AS b", "int(id * 7 % 31) AS v", "int(id % 3) AS k")
    frame.coalesce(1).write.mode("overwrite").parquet(base)
    plain = Run(spark, fresh(work / "plain"))
    plain.all(program, base)
    there = plain.rows()
    traced = Run(spark, fresh(work / "traced"))
    store = fresh(work / "store").as_uri()
    with attach(store=store, step="program") as capture:
        traced.all(program, base)
    told = f"seed {seed}: {program}"
    assert (traced.log, traced.expected, traced.rows()) == (plain.log, plain.expected, there), told
    streams = sum(name == "batch" for name, *_ in program)  # that there are streams is recorded, and nothing else
    assert [u.node for u in capture.untracked] == ["DataStreamWriter.start"] * streams, told
    writes = [(w.output.dataset.name.rsplit("/", 1)[-1], w.coverage) for w in capture.manifest.writes]
    assert sorted(writes) == sorted((name, "exact") for name in plain.expected), told
    prov = provspark.open(store)
    for write in {w.output.dataset.uri: w for w in capture.manifest.writes}.values():
        check_lineage(prov, write.output.dataset.uri, base, told)


def check_lineage(prov: Any, dataset: str, base: str, told: str) -> None:
    """Each row is made of the base row whose number it carries."""
    rows = prov.values(dataset).table()
    numbers = dict(zip(rows["row"].to_pylist(), map(int, rows["b"].to_pylist()), strict=True))
    if not numbers:
        return
    found = prov.backward(dataset, list(numbers), to=base).table()
    edges = {
        (row, source)
        for row, source, kind in zip(
            found["row"].to_pylist(), found["related_row"].to_pylist(), found["kind"].to_pylist(), strict=True
        )
        if kind == "data"
    }
    assert edges == set(numbers.items()), (dataset, told)
