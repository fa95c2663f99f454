"""Others who write to the same folder, and files that do not fit what the tap saw."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _sinks_trial import Trial

from provspark.errors import CaptureError, ConcurrentWriteError
from provspark.tracker.sinks import TapRuns, WriteMetrics
from provspark.tracker.sinks.names import OutputPlace, PartName, parse
from provspark.tracker.sinks.pieces import pieces_of

JOB = "7f1f8a0c-5d4a-4f0e-9a55-0123456789ab"


@pytest.fixture(scope="module")
def trial(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial(spark, tmp_path_factory.mktemp("jar"))


def rows(spark: Any, n: int = 20) -> Any:
    return spark.range(0, n, 1, 2)


def metrics_of(root: Path, n: int) -> WriteMetrics:
    sizes = [p.stat().st_size for p in root.rglob("part-*")]
    return WriteMetrics(len(sizes), sum(sizes), n)


def changed(**values: int) -> Any:
    return {"metrics": lambda own: dataclasses.replace(own, **values)}


def unknown(own: WriteMetrics) -> None:
    """Spark's own metrics, where it has none."""


@pytest.mark.spark
def test_spark_s_own_metrics_agree(spark: Any, trial: Trial, tmp_path: Path) -> None:
    found: list[WriteMetrics] = []
    trial.write(rows(spark), "parquet", str(tmp_path / "a"), metrics=lambda own: found.append(own) or own)
    assert found == [metrics_of(tmp_path / "a", 20)]
    with pytest.raises(CaptureError, match=r"Spark wrote 21 rows to .*, but capture recorded 20"):
        trial.write(rows(spark), "parquet", str(tmp_path / "b"), **changed(rows=21))
    with pytest.raises(ConcurrentWriteError, match=r"Spark wrote 3 files with .*removed or replaced"):
        trial.write(rows(spark), "parquet", str(tmp_path / "c"), **changed(files=3))


@pytest.mark.spark
@pytest.mark.parametrize("known", [True, False])
def test_another_job_s_files_are_named(spark: Any, trial: Trial, tmp_path: Path, known: bool) -> None:
    rows(spark, 50).write.parquet(str(tmp_path / "other"))
    foreign = sorted(p.name for p in (tmp_path / "other").glob("part-*"))

    def meanwhile() -> None:
        for name in foreign:
            shutil.copy(tmp_path / "other" / name, tmp_path / "out" / name)

    with pytest.raises(ConcurrentWriteError) as e:
        trial.write(
            rows(spark),
            "parquet",
            str(tmp_path / "out"),
            setup=lambda w: w.mode("append"),
            meanwhile=meanwhile,
            metrics=(lambda own: own) if known else unknown,
        )
    assert all(name in str(e.value) for name in foreign)
    assert ("another writer left" if known else "2 jobs left") in str(e.value)
    assert "one task write a folder at a time" in str(e.value)


@pytest.mark.spark
def test_a_stray_file(spark: Any, trial: Trial, tmp_path: Path) -> None:
    def meanwhile() -> None:
        (tmp_path / "out" / "notes.txt").write_text("x")

    with pytest.raises(ConcurrentWriteError, match=r"another writer left notes\.txt"):
        trial.write(rows(spark), "csv", str(tmp_path / "out"), meanwhile=meanwhile)


@pytest.mark.spark
def test_a_file_that_another_one_replaced(spark: Any, trial: Trial, tmp_path: Path) -> None:
    rows(spark, 7).coalesce(1).write.parquet(str(tmp_path / "other"))

    def meanwhile() -> None:
        mine = sorted((tmp_path / "out").glob("part-*"))[0]
        shutil.copy(next((tmp_path / "other").glob("part-*")), mine)
        (mine.parent / f".{mine.name}.crc").unlink()

    with pytest.raises(ConcurrentWriteError, match=r"Spark wrote 2 files with .*removed or replaced"):
        trial.write(rows(spark), "parquet", str(tmp_path / "out"), meanwhile=meanwhile)
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(CaptureError, match="has 7 rows according to its footer, but capture recorded 10"):
        trial.write(rows(spark), "parquet", str(tmp_path / "out"), meanwhile=meanwhile, metrics=unknown)


@pytest.mark.spark
def test_a_broken_file_that_was_there(spark: Any, trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.parquet").write_bytes(b"no")
    with pytest.raises(
        CaptureError, match=r"could not count the rows in .*: .*the parquet footer of .*old\.parquet can't be read: "
    ):
        trial.write(rows(spark), "parquet", str(tmp_path / "out"), setup=lambda w: w.mode("append"))


def part(partition: int, counter: int, folder: str = "") -> PartName:
    return PartName(OutputPlace(folder), partition, JOB, counter)


PLACES = {"": OutputPlace(""), "a": OutputPlace("p=a"), "A": OutputPlace("p=a"), "b": OutputPlace("p=b")}


def test_pieces_against_the_obvious_way() -> None:
    rng = np.random.default_rng(7)
    for full in (0, 1, 3):
        tapped, names, slow = [], [], []
        for partition in range(6):
            runs = tuple((v, int(n)) for v, n in zip(("a", "A", "b"), rng.integers(0, 8, 3), strict=True))
            tapped.append(TapRuns(partition, runs))
            offset = 0
            for folder, values in (("p=a", "aA"), ("p=b", "b")):
                left, counter = sum(n for v, n in runs if v in values), 0
                while left:
                    count = min(left, full or left)
                    slow.append((partition, offset, count, part(partition, counter, folder)))
                    names.append(part(partition, counter, folder))
                    left, offset, counter = left - count, offset + count, counter + 1
        rng.shuffle(tapped)
        names = [names[i] for i in rng.permutation(len(names))]
        got = pieces_of(tapped, names, PLACES, full)
        fast = zip(got.partitions.tolist(), got.offsets.tolist(), got.counts.tolist(), got.files.tolist(), strict=True)
        assert [(p, o, c, names[f]) for p, o, c, f in fast] == slow


@pytest.mark.parametrize(
    ("tapped", "names", "why"),
    [
        (
            [TapRuns(1, (("a", 3),))],
            [],
            "3 rows of task 1 in p=a should be in files c000 to c001, but there are none",
        ),
        ([TapRuns(1, (("", 3),))], [part(1, 0), part(1, 2)], "there are c000, c002"),
        ([TapRuns(1, (("", 2),))], [part(1, 0), part(2, 0)], "task 2 has 1 files, but capture recorded no rows of it"),
        ([TapRuns(1, (("", 2),))] * 2, [part(1, 0)], "capture has two records of Spark task 1"),
        ([TapRuns(1, (("a", 1), ("b", 1), ("a", 1)))], [part(1, 0, "p=a"), part(1, 0, "p=b")], "there are none"),
    ],
)
def test_runs_and_files_that_do_not_fit(tapped: list[TapRuns], names: list[PartName], why: str) -> None:
    with pytest.raises(CaptureError, match=why):
        pieces_of(tapped, names, PLACES, 2)


def test_an_empty_file_is_the_first_task_s() -> None:
    assert len(pieces_of([], [part(0, 0)], {}, 0).files) == 0
    assert pieces_of([], [part(0, 0)], {}, 0).rows_of_files(1).tolist() == [0]


@pytest.mark.parametrize(
    "path",
    ["a.parquet", f"part-00001-{JOB}.parquet", f"part-00001-{JOB}_3.c000.parquet", f"p=1/_part-00001-{JOB}-c000"],
)
def test_names_that_are_not_sparks(path: str) -> None:
    assert parse(path) is None


def test_names_of_large_jobs() -> None:
    assert parse(f"p=1/q=2/part-123456-{JOB}.c1234.csv.gz") == PartName(OutputPlace("p=1/q=2"), 123456, JOB, 1234)
