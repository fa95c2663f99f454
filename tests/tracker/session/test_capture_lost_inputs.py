"""What is not captured says which rows it read: no question about them ends in an empty answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as sf

import provspark
from provspark.api import stops_of
from provspark.errors import UntrackedError
from provspark.tracker import attach

pytestmark = pytest.mark.spark

Refused = Callable[[Any, str], Any]


@pytest.fixture
def people(spark: Any, tmp_path: Path) -> Iterator[str]:
    path = str(tmp_path / "people")
    spark.range(20).selectExpr("id", "id % 3 AS k").coalesce(1).write.parquet(path)
    (tmp_path / "more.csv").write_text("1\nx\n")
    yield path
    spark.catalog.clearCache()


def by_malformed_rows(spark: Any, path: str) -> Any:
    more = spark.read.schema("id INT").csv(str(Path(path).with_name("more.csv")), mode="DROPMALFORMED")
    return spark.read.parquet(path).join(more, "id")


def by_sessions(spark: Any, path: str) -> Any:
    rows = spark.read.parquet(path).select(sf.timestamp_seconds("id").alias("at"), "k")
    gap = sf.when(sf.col("k") == 1, "3 seconds").otherwise("9 seconds")
    return rows.groupBy(sf.session_window("at", gap)).agg(sf.count("*").alias("n")).select("n")


def of_a_cache(spark: Any, path: str) -> Any:
    return by_sessions(spark, path).cache()


@pytest.mark.parametrize("plan", [by_malformed_rows, by_sessions, of_a_cache])
def test_forward_stops_at_a_write_that_is_not_captured(plan: Refused, spark: Any, people: str, tmp_path: Path) -> None:
    store, out = str(tmp_path / "prov"), str(tmp_path / "out")
    with attach(store=store, step="s") as capture:
        plan(spark, people).write.parquet(out)
    assert capture.manifest is not None
    (write,) = capture.manifest.writes
    assert write.coverage == "untracked" and people in {v.dataset.name for v in write.inputs}
    assert write.complete == (plan is not by_malformed_rows)
    with pytest.raises(UntrackedError, match=str(write.reason.node) if write.reason else ""):
        provspark.open(store).forward(people, rows=[7]).table()


def test_a_read_on_the_driver_that_is_not_captured_ends_the_answer(spark: Any, people: str, tmp_path: Path) -> None:
    store = str(tmp_path / "prov")
    with attach(store=store, step="s") as capture:
        by_malformed_rows(spark, people).collect()
        spark.read.parquet(people).write.parquet(str(tmp_path / "copy"))
    assert capture.manifest is not None
    (read,) = capture.manifest.reads
    assert read.coverage == "untracked" and not read.complete
    answer = provspark.open(store).forward(people, rows=[7]).table()
    (stop,) = stops_of(answer)
    assert stop.what == "untracked" and "DROPMALFORMED" in stop.why


def test_rows_of_a_source_stay_rows_where_an_untracked_write_read_it_last(
    spark: Any, people: str, tmp_path: Path
) -> None:
    store = str(tmp_path / "prov")
    with attach(store=store, step="first"):
        spark.read.parquet(people).write.parquet(str(tmp_path / "copy"))
    with attach(store=store, step="second"):
        by_sessions(spark, people).write.parquet(str(tmp_path / "out"))
    prov = provspark.open(store)
    answer = prov.forward(people, rows=[7]).table()
    assert answer.column("related_row").to_pylist() == [7]
    assert {stop.what for stop in stops_of(answer)} == {"untracked"}
