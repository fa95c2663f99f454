"""Sealing by Spark's jobs makes what sealing in the driver makes: axes, tensors, boxes; and falls back on it."""

from __future__ import annotations

import itertools
import logging
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from families.aggregate.test_capture_groups import AGGREGATES, CHAINS, KEYS
from families.batch_functions.test_capture_maps import ITERATORS
from families.cached.test_capture_transpose import CASES as TRANSPOSED
from families.window.test_capture_windows import CASES as WINDOWS
from oracle import batches
from oracle.cases import Case, check, configured
from oracle.tables import TABLES
from plan.test_capture_reuse import CASES as REUSED
from plan.test_capture_scalars import CASES as SCALARS
from plan.test_capture_subqueries import CASES as SUBQUERIES
from session.test_caches import CASES as CACHED
from session.test_caches import fresh

from provspark.errors import CaptureError, SettingsError
from provspark.model.boxes.pairs import concat, pairs
from provspark.model.pending import PendingTensor, PendingWrite
from provspark.tracker import attach
from provspark.tracker.seal import (
    boxes_in_parts as gathered,
)
from provspark.tracker.seal import (
    by_jobs as sealing_jobs,
)
from provspark.tracker.seal import (
    captured_write as write,
)
from provspark.tracker.seal import (
    in_driver as seal,
)
from provspark.tracker.seal import (
    place as sealing,
)
from provspark.tracker.seal import (
    staging,
)
from provspark.tracker.seal.notes import Noted

NAMES = {
    *("key k", "HAVING", "global over nothing", "grouped over nothing", "of an aggregate", "of exploded words"),
    *("groups of two sources in one group", "a CTE united with itself, grouped again", "the same twice"),
    *("no partition", "a rank filtered", "dropDuplicates, filtered by its key and grouped"),
    *("EXISTS with a residue, of rows that repeat", "NOT EXISTS within IN", "INTERSECT ALL, with repeats"),
    *("used twice, filtered", "applyInArrow of a group in parts"),
    *("aggregate, piece by piece", "aggregate of an aggregate", "unpersist of what a cache reads"),
}
EVERY = (*KEYS, *AGGREGATES, *CHAINS, *REUSED, *SCALARS, *SUBQUERIES, *WINDOWS, *ITERATORS, *TRANSPOSED)
ALONE = {"spark.provspark.driverReads": "false"}
CASES = [case for case in EVERY if str(case) in NAMES]
CASES += [Case(case.name, fresh(case.plan), case.meaning, ALONE) for case in CACHED if str(case) in NAMES]
SPARK = {"spark.provspark.sealing": "spark"}


def shown(tensor: PendingTensor, *, cut: bool) -> Any:
    """All of a tensor: its boxes; where they are cut otherwise, its pairs."""
    found = concat(list(tensor.boxes.parts()))
    columns = pairs(found) if cut else (found.out, found.n_out, found.src, found.n_src, found.diagonal)
    return tensor.out, tensor.src, tensor.kind, [column.tolist() for column in columns]


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> list[PendingWrite]:
    """Seal each write both ways, and compare; say what was sealed."""
    made = []
    cut = getattr(request, "param", False)

    def sealed(jvm: Any, noted: Noted, how: str, site: str = "") -> PendingWrite:
        one, other = seal.seal(noted, site), sealing_jobs.seal_by_jobs(jvm, noted, site)
        assert (one.axes, one.coverage, one.inputs) == (other.axes, other.coverage, other.inputs)
        assert len(one.tensors) == len(other.tensors)
        for tensor, again in zip(one.tensors, other.tensors, strict=True):
            assert shown(tensor, cut=cut) == shown(again, cut=cut)
        made.append(other)
        return other

    monkeypatch.setattr(write, "sealed", sealed)
    return made


def test_cases_are_there() -> None:
    assert {str(case) for case in CASES} == NAMES


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_ways_make_the_same(case: Case, spark: Any, sources: Path, tmp_path: Path, twice: Any) -> None:
    check(case, spark, TABLES, sources, tmp_path)
    assert twice


@pytest.mark.long
@pytest.mark.spark
def test_random_plans_both_ways(spark: Any, tmp_path: Path, twice: Any) -> None:
    drawn = [each for each in map(batches.draw, range(3 * 10**6, 3 * 10**6 + 12)) if each is not None]
    batches.check(drawn, spark, tmp_path, tmp_path / "work")
    assert len(twice) == len([*tmp_path.glob("work/[0-9]*/_SUCCESS")])  # plans that plain Spark refuses leave none
    assert any(axis.role == "inner" for made in twice for axis in made.axes)


SOURCE = "SELECT id, id % 700 AS k, id % 11 AS j FROM range(0, 9000, 1, 6)"
SHAPES = {
    "group": "SELECT k, count(*) AS n FROM source GROUP BY k",
    "group of groups": "SELECT n, sum(k) AS s FROM (SELECT k, count(*) AS n FROM source WHERE id > 77 GROUP BY k) "
    "GROUP BY n",
    "join of groups": "SELECT a.k, a.n, b.id FROM (SELECT k, count(*) AS n FROM source GROUP BY k HAVING k % 3 = 1) a "
    "JOIN source b ON a.n = b.k",
    "outer join of groups": "SELECT b.id, a.n FROM source b LEFT JOIN (SELECT k, count(*) AS n FROM source "
    "WHERE k % 5 < 2 GROUP BY k) a USING (k)",
    "window": "SELECT id, sum(id) OVER (PARTITION BY k) AS s FROM source WHERE id % 2 = 0",
    "first of each": "SELECT id, k FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY id) AS r FROM source) "
    "WHERE r = 1",
    "scalar": "SELECT id FROM source WHERE id > (SELECT avg(id) FROM source WHERE k > 600)",
    "semi-join": "SELECT * FROM source WHERE k IN (SELECT id FROM source WHERE j = 4)",
}


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("twice", [True], indirect=True, ids=["cut"])
@pytest.mark.parametrize(("shape", "folders"), [*((shape, False) for shape in SHAPES), ("window", True)])
def test_several_blocks_batches_and_buckets(
    shape: str, folders: bool, spark: Any, tmp_path: Path, twice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of small ones; where rows go to folders, their ids are not in the order in which they were noted."""
    monkeypatch.setattr(sealing_jobs, "BUCKET_ROWS", 500)
    monkeypatch.setattr(sealing_jobs, "_SHUFFLE_ROWS", 3000)
    source = str(tmp_path / "source")
    spark.sql(SOURCE).write.parquet(source)
    spark.read.parquet(source).createOrReplaceTempView("source")
    with attach(store=(tmp_path / "store").as_uri(), step="s", on_error="fail"):
        frame = spark.sql(SHAPES[shape])
        frame = frame.selectExpr("*", f"{frame.columns[0]} % 3 AS folder") if folders else frame
        (frame.write.partitionBy("folder") if folders else frame.write).parquet(str(tmp_path / "out"))
    (made,) = twice
    assert any(axis.role == "inner" and axis.size for axis in made.axes)


@pytest.fixture
def grouped(spark: Any, tmp_path: Path) -> Callable[[], Any]:
    """A write of groups, tracked, sealed by Spark."""
    source = str(tmp_path / "in")
    spark.range(300).selectExpr("id AS a", "id % 7 AS b").write.parquet(source)

    def run(on_error: Any = "warn", way: str = "spark") -> Any:
        with (
            configured(spark, {"spark.provspark.sealing": way}),
            attach(store=(tmp_path / "store").as_uri(), step="s", on_error=on_error) as capture,
        ):
            spark.read.parquet(source).groupBy("b").count().write.mode("overwrite").parquet(str(tmp_path / "out"))
        return capture

    return run


@pytest.mark.spark
def test_a_value_that_the_setting_has_not(grouped: Any, spark: Any, tmp_path: Path) -> None:
    (reason,) = grouped(way="jobs").untracked
    assert "spark.provspark.sealing is 'jobs'; set it to one of auto, driver, spark" in reason.why
    assert spark.read.parquet(str(tmp_path / "out")).count() == 7
    with pytest.raises(SettingsError, match=r"spark\.provspark\.sealing"):
        grouped("fail", "jobs")


@pytest.mark.long
@pytest.mark.spark
def test_the_driver_holds_no_keys(grouped: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("keys came to the driver")

    for name in ("RequestedKeys", "GroupRanges", "_Asker", "_ask"):
        monkeypatch.setattr(seal, name, never)
    capture = grouped("fail")
    assert capture.untracked == () and len(capture.manifest.writes[0].tensors) == 2
    with pytest.raises(CaptureError, match="keys came to the driver"):
        grouped("fail", "driver")


@pytest.mark.long
@pytest.mark.spark
def test_jobs_that_fail_leave_it_to_the_driver(
    grouped: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    seen = []
    monkeypatch.setattr(staging.Staging, "counts", lambda *_: seen.append(1) or 1 / 0)
    with caplog.at_level(logging.WARNING):
        capture = grouped()
    assert seen and capture.untracked == () and len(capture.manifest.writes[0].tensors) == 2
    assert "it is sealed in the driver: division by zero" in caplog.text
    assert not list((tmp_path / "store").rglob("seal-*"))


@pytest.mark.long
@pytest.mark.spark
def test_notes_that_are_gone(
    grouped: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, spark: Any, tmp_path: Path
) -> None:
    """Neither way finds them: the rows are there, the step says that their lineage is lost."""
    real = sealing.seal_by_jobs

    def lost(jvm: Any, noted: Noted, site: str) -> Any:
        for receipts in noted.receipts.values():
            receipts[:] = [replace(receipt, place="file no.tap") for receipt in receipts]
        return real(jvm, noted, site)

    monkeypatch.setattr(sealing, "seal_by_jobs", lost)
    with caplog.at_level(logging.WARNING):
        (reason,) = grouped().untracked
    assert reason.node == "seal" and "no.tap can't be read by the driver" in reason.why
    assert "Spark's jobs could not seal this write" in caplog.text
    assert spark.read.parquet(str(tmp_path / "out")).count() == 7


@pytest.mark.long
@pytest.mark.spark
def test_a_whole_reading_of_receipts_without_rows(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tap leaves such; if one did, neither way may take its key for one that has a group."""
    source = str(tmp_path / "in")
    spark.range(3).selectExpr("id AS a", "id * 2 AS b").coalesce(1).write.parquet(source)
    tried = []

    def sealed(jvm: Any, noted: Noted, how: str, site: str = "") -> PendingWrite:
        (tap,) = (tap for tap in noted.taps if tap.whole)
        none = [replace(receipt, rows=0, place="inline ") for receipt in noted.of(tap)]
        assert none
        empty = replace(noted, receipts=noted.receipts | {tap.place: none})
        for way in (seal.seal, lambda noted: sealing_jobs.seal_by_jobs(jvm, noted)):
            with pytest.raises(CaptureError, match=r"no rows for 1 group keys of the transpose \(tap \d+\)"):
                way(empty)
            tried.append(way)
        return seal.seal(noted, site)

    monkeypatch.setattr(write, "sealed", sealed)
    with attach(store=(tmp_path / "store").as_uri(), step="s", on_error="fail"):
        spark.read.parquet(source).transpose("a").write.parquet(str(tmp_path / "out"))
    assert len(tried) == 2


@pytest.mark.long
@pytest.mark.spark
def test_jobs_are_none_of_the_script(grouped: Any, spark: Any) -> None:
    """No session, setting, view or description of it changes."""
    spark.sparkContext.setLocalProperty("spark.job.description", "the script's")
    before = spark.catalog.listTables(), sorted(spark.sparkContext.getConf().getAll())
    assert grouped("fail").untracked == ()
    assert (spark.catalog.listTables(), sorted(spark.sparkContext.getConf().getAll())) == before
    assert spark.sparkContext.getLocalProperty("spark.job.description") == "the script's"
    spark.sparkContext.setLocalProperty("spark.job.description", None)


@pytest.mark.long
@pytest.mark.spark
def test_the_drivers_memory_does_not_grow_with_rows(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's, at four times the rows in tasks of the same size."""
    for module, name in ((staging, "_BATCH_ROWS"), (gathered, "MOST"), (sealing_jobs, "BUCKET_ROWS")):
        monkeypatch.setattr(module, name, 4096)
    most: dict[str, list[int]] = {"spark": [], "driver": []}
    real = write.sealed

    def traced(jvm: Any, noted: Noted, how: str, site: str = "") -> PendingWrite:
        tracemalloc.start()
        try:
            return real(jvm, noted, how, site)  # type: ignore[arg-type]
        finally:
            most[how].append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

    monkeypatch.setattr(write, "sealed", traced)
    for tasks in (4, 16):
        source = str(tmp_path / f"source{tasks}")
        spark.range(0, tasks * 15_000, 1, tasks).selectExpr("id", "id DIV 2 AS k").write.parquet(source)
        for way in most:
            conf = {
                "spark.provspark.sealing": way,
                "spark.sql.shuffle.partitions": tasks,
                "spark.sql.adaptive.enabled": False,
                "spark.sql.files.maxPartitionBytes": 1 << 17,
            }
            out = str(tmp_path / f"out{tasks}{way}")
            with configured(spark, conf), attach(store=str(tmp_path / "store"), step=out, on_error="fail"):
                spark.read.parquet(source).groupBy("k").count().write.parquet(out)
    assert most["spark"][1] < 1.5 * most["spark"][0], most
    assert most["driver"][1] > 2 * most["driver"][0], most


def test_ranges_of_a_row_stay_together() -> None:
    rng = np.random.default_rng(3)
    rows = np.sort(rng.integers(0, 40, 300))
    starts = rng.integers(0, 500, 300)
    counts = rng.integers(1, 5, 300)
    for sizes in ([300], [100, 0, 1, 1, 198], [1] * 300):
        ends = np.cumsum([0, *sizes]).tolist()
        some = [
            pa.record_batch([pa.array(column[a:b]) for column in (rows, starts, counts)], names=["row", "start", "n"])
            for a, b in itertools.pairwise(ends)
        ]
        parts = list(sealing_jobs._gathered(some).parts())
        out, src = pairs(concat(parts))
        wanted = {(r, s + i) for r, s, n in zip(rows, starts, counts, strict=True) for i in range(n)}
        assert set(zip(out.tolist(), src.tolist(), strict=True)) == wanted and len(out) == len(wanted)
    assert not len(sealing_jobs._gathered([]))


def test_groups_block_by_block() -> None:
    rng = np.random.default_rng(8)
    rows = sorted({tuple(row) for row in rng.integers(0, 5, (200, 3)).tolist()})
    wanted: dict[tuple[int, int], list[int]] = {}
    for task, block, group in rows:
        wanted.setdefault((task, block), []).append(group)
    places = [(task << 40) + ((block + 1) << 20) + group for task, block, group in rows]
    for size in (1, 7, 1000):
        some = [pa.record_batch([pa.array(places[a : a + size])], names=["place"]) for a in range(0, len(rows), size)]
        found = {(task, block): groups.tolist() for task, block, groups in sealing_jobs._by_block(some)}
        assert found == wanted


def test_first_ids_by_task() -> None:
    blocks = np.array([(0 << 20) + 2, (0 << 20) + 4, (2 << 20) + 1])
    made = sealing_jobs._Blocks(blocks, np.array([0, 5, 9]), 12)
    assert [ids.tolist() for ids in made.ids(4)] == [[0, 0, 0, 5], [], [9], []]


@pytest.mark.spark
def test_labels_go_where_spark_puts_them(spark: Any) -> None:
    for partitions in (2, 3, 40):
        named = staging.labels(partitions).tolist()
        (row,) = spark.sql(
            f"SELECT transform(array({str(named)[1:-1]}), x -> pmod(hash(x), {partitions})) AS p"
        ).collect()
        assert row.p == list(range(partitions))


def test_beyond_a_size_spark_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(sealing, "seal", lambda *_: asked.append("driver"))
    monkeypatch.setattr(sealing, "seal_by_jobs", lambda *_: asked.append("spark"))
    provenance_column = SimpleNamespace(grouped=True, origin=1)
    other = SimpleNamespace(grouped=False, origin=1)
    taps = [
        SimpleNamespace(provenance=(provenance_column, provenance_column, other), place=0),
        SimpleNamespace(provenance=(other,), place=1),
    ]
    for rows in (sealing.MOST_KEYS // 2, sealing.MOST_KEYS // 2 + 1):
        for how in ("auto", "driver", "spark"):
            sealing.sealed(None, noted(taps, rows), how)  # type: ignore[arg-type]
    assert asked == ["driver", "driver", "spark", "spark", "driver", "spark"]


def test_keys_of_one_tap_count_whole_and_those_that_wait_a_sixth() -> None:
    """As much of them is in the driver at once."""
    provenance = [SimpleNamespace(grouped=True, origin=origin) for origin in (0, 1, 1)]
    taps = [
        SimpleNamespace(provenance=some, place=place) for place, some in enumerate((provenance[:1], provenance, ()))
    ]
    assert sealing.keys(noted(taps, 600)) == 1200 + 1200 // 6
    assert sealing.keys(noted(taps[2:], 600)) == 0


def noted(taps: Any, rows: int) -> Any:
    """So many rows at each tap."""
    return SimpleNamespace(taps=taps, receipts={tap.place: [SimpleNamespace(rows=rows)] for tap in taps})
