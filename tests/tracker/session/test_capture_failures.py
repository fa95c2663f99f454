"""A write that fails with capture runs again without: it fails only where plain Spark does, and as that does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle import outputs
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as sf

from provspark.tracker import attach

pytestmark = pytest.mark.spark

THROWS = "1 / (id - 3)"


def text(query: str) -> Callable[[Any], Any]:
    def make(rows: Any) -> Any:
        rows.createOrReplaceTempView("n")
        return rows.sparkSession.sql(query)

    return make


PASSES: dict[str, Callable[[Any], Any]] = {
    "a left join that nothing reads": lambda n: (
        n.join(n.where(f"{THROWS} is not null").select("id"), "id", "left").select("k").distinct()
    ),
    "a left join with distinct rows": lambda n: n.join(
        n.where(f"{THROWS} is not null").select("id").distinct(), "id", "left"
    ).select("id"),
    "a key that nothing reads": lambda n: n.groupBy("k", sf.expr(f"{THROWS} e")).count().select("k").distinct(),
    "a Python function that nothing needs": lambda n: n.join(
        n.where(sf.udf(lambda x: 1 // (x - 3), "bigint")("id") > 0).select("id").distinct(), "id", "left"
    ).select("id"),
    "a filter below DISTINCT": lambda n: (
        n.where("id > 3").join(n.select("id", sf.expr(f"{THROWS} x")).distinct(), "id").select("id", "x")
    ),
    "EXISTS past the first row": text("SELECT id FROM n WHERE EXISTS (SELECT * FROM n WHERE 1 / (id - 30) < 0)"),
    "IN past a limit": text("SELECT id FROM n WHERE id IN (SELECT id FROM n WHERE 1 / (id - 30) < 0 LIMIT 4)"),
}
FAILS: dict[str, Callable[[Any], Any]] = {
    "a division": lambda n: n.select(sf.expr(f"{THROWS} x")),
    "a cast": lambda n: n.select(sf.expr("CAST(concat(id, 'x') AS INT) x")),
    "raise_error": lambda n: n.select("id", sf.expr("IF(id > 9, raise_error('no'), 1) x")),
    "a function": lambda n: n.select(sf.udf(lambda x: 1 // (x - 3), "bigint")("id").alias("x")),
    "a subquery of two rows": text("SELECT id, (SELECT id FROM n WHERE id < 2) x FROM n"),
    "an array's end": lambda n: n.select(sf.expr("array(1)[id] x")),
    "in an aggregate": lambda n: n.groupBy("k").agg(sf.expr(f"sum({THROWS}) x")),
    "in EXISTS": text(f"SELECT id FROM n WHERE EXISTS (SELECT 1 FROM n b WHERE {THROWS} > 9)"),
}


@pytest.fixture
def rows(spark: Any, tmp_path: Path) -> Any:
    spark.range(0, 40, 1, 1).selectExpr("id", "id % 5 AS k").write.parquet(str(tmp_path / "in"))
    return spark.read.parquet(str(tmp_path / "in"))


@pytest.mark.parametrize("mode", ["error", "append", "overwrite"])
@pytest.mark.parametrize("case", PASSES)
def test_passes(case: str, mode: str, rows: Any, tmp_path: Path) -> None:
    """Spark's optimiser leaves out what would fail, and capture keeps it: what is written is plain Spark's."""
    folders = [tmp_path / "plain", tmp_path / "captured"]
    for folder in folders if mode != "error" else ():
        PASSES[case](rows).write.parquet(str(folder))
    PASSES[case](rows).write.mode(mode).parquet(str(folders[0]))
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        PASSES[case](rows).write.mode(mode).parquet(str(folders[1]))
    plain, captured = (sorted(map(repr, outputs.read(folder).rows)) for folder in folders)
    assert plain == captured
    for untracked in capture.untracked:
        assert "the write failed with capture and succeeded without it" in str(untracked)
    (write,) = capture.manifest.writes
    assert (write.coverage == "untracked") == bool(capture.untracked)


@pytest.mark.parametrize("on_error", ["warn", "fail"])
@pytest.mark.parametrize("case", FAILS)
def test_fails(case: str, on_error: Any, rows: Any, tmp_path: Path) -> None:
    """The script sees plain Spark's error, and what was there stays."""
    for name in ("plain", "captured"):
        rows.limit(3).write.parquet(str(tmp_path / name))
    with pytest.raises((PySparkException, Py4JJavaError)) as plain:
        FAILS[case](rows).write.mode("append").parquet(str(tmp_path / "plain"))
    with (
        pytest.raises((PySparkException, Py4JJavaError)) as captured,
        attach(store=(tmp_path / "store").as_uri(), step="s", on_error=on_error) as capture,
    ):
        FAILS[case](rows).write.mode("append").parquet(str(tmp_path / "captured"))
    errors = [_named(e.value) for e in (plain, captured)]
    if on_error == "warn":
        assert errors[0] == errors[1]
        assert type(captured.value.__context__) is type(plain.value.__context__)
    assert capture.untracked == ()
    assert outputs.read(tmp_path / "plain").rows == outputs.read(tmp_path / "captured").rows


def test_fail_is_asked_for(rows: Any, tmp_path: Path) -> None:
    """With on_error="fail" a write that fails by capture is an error, and Spark's own error says so."""
    case = PASSES["EXISTS past the first row"]
    with (
        pytest.raises((PySparkException, Py4JJavaError), match="DIVIDE_BY_ZERO"),
        attach(store=(tmp_path / "store").as_uri(), step="s", on_error="fail"),
    ):
        case(rows).write.parquet(str(tmp_path / "out"))


def test_what_was_stopped_is_not_run_again(rows: Any, spark: Any, tmp_path: Path) -> None:
    slow = sf.udf(lambda x: (time.sleep(0.2), x)[1], "bigint")
    tag = "provspark-slow"
    stop = threading.Timer(4, lambda: spark.sparkContext.cancelJobsWithTag(tag))
    spark.sparkContext.addJobTag(tag)
    try:
        with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
            stop.start()
            began = time.monotonic()
            with pytest.raises((PySparkException, Py4JJavaError), match=r"(?i)cancel"):
                rows.repartition(1).select(slow("id").alias("x")).write.parquet(str(tmp_path / "out"))
    finally:
        spark.sparkContext.removeJobTag(tag)
        stop.cancel()
    assert time.monotonic() - began < 8
    assert capture.untracked == ()


def _named(error: BaseException) -> tuple[str, Any, str]:
    if isinstance(error, PySparkException):
        return type(error).__name__, error.getCondition(), str(error)
    return type(error).__name__, str(error.java_exception.getClass().getName()), ""  # type: ignore[attr-defined]
