"""Append and partition overwrite: rows of files that stay are the rows that they were, only new ones are derived."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle import lineage, outputs
from oracle.cases import Frames, configured
from oracle.sources import parquet
from oracle.tables import INT

import provspark
from provspark.tracker import attach

pytestmark = pytest.mark.spark

A = parquet("mode_a", {"i": INT, "p": INT}, [(i, i % 3) for i in range(9)])
B = parquet("mode_b", {"i": INT, "p": INT}, [(100 + i, i % 2) for i in range(4)], [(110, 7)])
DYNAMIC = "spark.sql.sources.partitionOverwriteMode"


def plainly(writer: Any, path: str) -> None:
    writer.parquet(path)


def by_option(writer: Any, path: str) -> None:
    writer.option("partitionOverwriteMode", "dynamic").parquet(path)


def write(frame: Any, mode: str, how: Callable[[Any, str], None], path: Path) -> None:
    how(frame.write.mode(mode).partitionBy("p"), str(path))


def staying(mode: str, dynamic: bool) -> list[tuple[int, int]]:
    """The rows of A that a write of B leaves, by what Spark says of modes."""
    taken = {p for _, p in B.rows}
    return [r for r in A.rows if mode == "append" or (dynamic and r[1] not in taken)]


CASES = {
    "append": ("append", plainly, {}),
    "overwrite": ("overwrite", plainly, {}),
    "dynamic by the session": ("overwrite", plainly, {DYNAMIC: "dynamic"}),
    "dynamic by option": ("overwrite", by_option, {}),
    "append under dynamic": ("append", plainly, {DYNAMIC: "dynamic"}),
    "in capitals": ("overwrite", plainly, {DYNAMIC: "DYNAMIC"}),
}


@pytest.mark.parametrize("in_one_step", [True, False], ids=["one step", "two steps"])
@pytest.mark.parametrize("case", CASES)
def test_rows_that_stay(case: str, in_one_step: bool, spark: Any, sources: Path, tmp_path: Path) -> None:
    mode, how, conf = CASES[case]
    t, out, store = Frames(spark, [A, B], sources), tmp_path / "out", (tmp_path / "store").as_uri()
    writes = [lambda: write(t.mode_a, mode, how, out), lambda: write(t.mode_b.repartition(2), mode, how, out)]
    with configured(spark, conf):
        for name, steps in (("both", writes),) if in_one_step else (("one", writes[:1]), ("two", writes[1:])):
            with attach(store=store, step=name) as capture:
                for step in steps:
                    step()
            assert capture.untracked == ()
        write(t.mode_a, mode, how, tmp_path / "plain")
        write(t.mode_b, mode, how, tmp_path / "plain")
    assert sorted(outputs.read(tmp_path / "plain").rows) == sorted(outputs.read(out).rows)
    expected = {r[0]: (A, i) for i, r in enumerate(A.rows) if r in staying(mode, bool(conf) or how is by_option)}
    expected |= {r[0]: (B, i) for i, r in enumerate(B.rows)}
    found = edges(store, t, out)
    assert {v: [(s.name, i)] for v, (s, i) in expected.items()} == found
    assert capture.manifest.writes[-1].output.rows == len(found)


def edges(store: str, t: Frames, out: Path) -> dict[int, list[tuple[str, int]]]:
    """Sources of each row, by its first value."""
    rows, names = outputs.read(out).rows, lineage.names(t.paths)
    found: dict[int, list[tuple[str, int]]] = {row[0]: [] for row in rows}
    for line in lineage.lines(provspark.open(store).backward(str(out), rows=range(len(rows))).table()):
        found[rows[line["row"]][0]].append((names[line["dataset"]], line["related_row"]))
    return found


def test_append_to_what_is_read(spark: Any, sources: Path, tmp_path: Path) -> None:
    """A data set that grows from itself: the new rows come from the state before."""
    t, out, store = Frames(spark, [A], sources), tmp_path / "out", (tmp_path / "store").as_uri()
    with attach(store=store, step="s") as capture:
        t.mode_a.coalesce(1).write.parquet(str(out))
        spark.read.parquet(str(out)).filter("i > 5").selectExpr("i + 50 AS i", "p").write.mode("append").parquet(
            str(out)
        )
    assert capture.untracked == ()
    first, second = capture.manifest.writes
    assert (second.inputs[0].id, second.output.rows) == (first.output.id, 12)
    assert edges(store, t, out) == {
        **{i: [("mode_a", i)] for i in range(9)},
        **{i + 50: [("mode_a", i)] for i in range(6, 9)},
    }


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_overwrite_of_partitions_that_are_read(mode: str, spark: Any, sources: Path, tmp_path: Path) -> None:
    """Spark's own error where it deletes what it reads; dynamically it reads first, and rows are followed."""
    t, store = Frames(spark, [A], sources), (tmp_path / "store").as_uri()

    def attempt(name: str) -> tuple[str, list[tuple[Any, ...]]]:
        out = str(tmp_path / name)
        try:
            again = spark.read.parquet(out).filter("p = 1").selectExpr("i + 50 AS i", "p")
            again.write.mode("overwrite").partitionBy("p").parquet(out)
        except Exception as e:
            return type(e).__name__, []
        return "", sorted(outputs.read(tmp_path / name).rows)

    with configured(spark, {DYNAMIC: mode}):
        for name in ("plain", "out"):
            write(t.mode_a, "append", plainly, tmp_path / name)
        plain = attempt("plain")
        with attach(store=store, step="s") as capture:
            assert attempt("out") == plain
    assert capture.untracked == () and bool(plain[0]) == (mode == "static")
    if mode == "dynamic":
        assert [w.output.rows for w in capture.manifest.writes] == [9]
