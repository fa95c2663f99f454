"""The history of a data set of a million rows: told in part, and said so, or page by page; in bounded memory."""

from __future__ import annotations

import json
import tracemalloc
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import provspark
from provspark.api import Provenance
from provspark.cli.main import main
from provspark.errors import ReplayCancelledError
from provspark.tracker import attach

pytestmark = [pytest.mark.spark, pytest.mark.long]

ROWS = 1_000_000
MEMORY = 64 * 2**20
"""Bytes that Python may hold meanwhile; a line for each row, with its values, would take several times that."""


@pytest.fixture(scope="module")
def root(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows → kept, every third row left out and a column added."""
    root = tmp_path_factory.mktemp("million")
    spark.range(0, ROWS, 1, 1).selectExpr("id", "id * 7 % 101 AS v").write.parquet(str(root / "rows"))
    with attach(store=str(root / "store"), step="kept"):
        rows = spark.read.parquet(str(root / "rows")).filter("id % 3 <> 0")
        rows.withColumn("w", rows["v"] + 1).write.parquet(str(root / "kept"))
    return root


@pytest.fixture
def prov(root: Path) -> Provenance:
    return provspark.open(str(root / "store"))


@pytest.mark.parametrize(("name", "direction", "rows"), [("rows", "forward", ROWS), ("kept", "backward", 666_666)])
def test_all_at_once_tells_the_first_and_says_so(
    name: str, direction: str, rows: int, prov: Provenance, root: Path
) -> None:
    tracemalloc.start()
    try:
        told = prov.history(str(root / name), direction=direction)  # type: ignore[arg-type]
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held < MEMORY
    (passage,) = told.passages
    assert told.rows.count == rows and passage.rows[0][1].count == rows
    assert passage.replayed is not None and passage.replayed.verified is None
    assert passage.replayed.why == "there are more than 1,000 rows, so not all of them were replayed"
    assert max(len(s.lines) for s in passage.replayed.stages) == 1000


def test_pages_tell_every_row_as_they_are_asked_for(prov: Provenance, root: Path) -> None:
    """The first pages and the last ones, each checked against the store."""
    tracemalloc.start()
    try:
        first = list(islice(prov.history_pages(str(root / "rows")), 2))
        tail = prov.select(str(root / "rows"), range(ROWS - 1500, ROWS))
        last = list(prov.history_pages(tail))
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held < MEMORY
    assert [p.rows.count for p in (*first, *last)] == [1000, 1000, 1000, 500]
    for page, start, end in zip((*first, *last), (0, 1000, 998_500, 999_500), (1000, 2000, 999_500, ROWS), strict=True):
        assert page.passages[0].replayed is not None and page.passages[0].replayed.verified is True
        assert sorted(page.ended()["row"].to_pylist()) == [i for i in range(start, end) if i % 3 == 0]


def test_the_command_stops_where_it_is_told_to(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines come page by page: what was written before the keys cancel stands."""
    pages = 0

    def press(done: int, of: int, text: str) -> None:
        nonlocal pages
        pages += done == 0
        if pages == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("provspark.cli.question_options.show_progress", press)
    at = ["--direction", "forward", "--json-lines", "--store", str(root / "store")]
    said = CliRunner().invoke(main, ["history", str(root / "rows"), *at])
    assert said.exit_code == 2 and "cancelled" in said.output
    lines = [json.loads(line) for line in said.stdout.splitlines() if line.startswith("{")]
    assert [line["row"] for line in lines] == list(range(0, 2000, 3))


def test_a_cancelled_history(prov: Provenance, root: Path) -> None:
    with pytest.raises(ReplayCancelledError):
        prov.history(str(root / "rows"), direction="forward", progress=lambda *told: prov.replayer.cancel())
