"""Files that Spark and the driver hand to each other are the same versions to both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from provspark.model.datasets import Files
from provspark.tracker.files import DriverFiles, FileRead, FileWrite
from provspark.tracker.files.versions import KnownFiles
from provspark.tracker.sources.relation import list_files, scan_files
from provspark.tracker.spark.jvm import Jvm

pytestmark = pytest.mark.spark

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})


@pytest.fixture
def files(tmp_path: Path) -> Iterator[DriverFiles]:
    found = DriverFiles(leave_out=[str(tmp_path / "store")])
    found.begin()
    yield found
    found.end()


def listed(frame: Any) -> Any:
    return list_files(Jvm(frame.sparkSession), frame._jdf.queryExecution().analyzed().collectLeaves().head())


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.json", "o u%t é.csv"])
def test_spark_lists_what_the_driver_wrote(name: str, files: DriverFiles, spark: Any, tmp_path: Path) -> None:
    path, kind = str(tmp_path / name), name.rpartition(".")[2]
    getattr(FRAME, f"to_{kind}")(path)
    [write] = files.take([path])
    assert isinstance(write, FileWrite)
    version = KnownFiles().version(path, [write.file], written=True)
    listing = listed(getattr(spark.read, kind)(path))
    assert (version.dataset, version.files.identity(version.dataset)) == (listing.dataset, listing.identity)


def test_spark_lists_a_folder_that_the_driver_wrote(files: DriverFiles, spark: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "out")
    FRAME.to_parquet(path, partition_cols=["a"])
    writes = files.take([path])
    version = KnownFiles().version(path, [w.file for w in writes], written=True)
    listing = listed(spark.read.parquet(path))
    assert (version.dataset, version.files.identity(version.dataset)) == (listing.dataset, listing.identity)
    assert version.files.rows.tolist() == scan_files(listing).finish()[0].files.rows.tolist()


@pytest.mark.parametrize("kind", ["parquet", "orc", "csv"])
def test_the_driver_reads_what_spark_wrote(kind: str, files: DriverFiles, spark: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "out")
    getattr(spark.range(10).repartition(2).write, kind)(path)
    frame = getattr(spark.read, kind)(path) if kind != "csv" else spark.read.schema("id LONG").csv(path)
    listing = listed(frame)
    counted = scan_files(listing).finish()[0] if kind != "csv" else None
    assert files.take(final=True) == []  # what Spark and capture do is none of the script's
    for part in sorted(Path(path).glob("part-*")):
        getattr(pd, f"read_{kind}")(part)
    reads = files.take()
    states = [r.file for r in reads if isinstance(r, FileRead)]
    version = KnownFiles().version(path, states, written=False)
    assert version.files.identity(version.dataset) == listing.identity
    assert version.unit == ("file" if kind == "csv" else "row")
    if counted is not None:
        assert isinstance(version.files, Files)
        assert version.files.rows.tolist() == counted.files.rows.tolist()


def test_what_spark_does_is_not_the_scripts(files: DriverFiles, spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame(FRAME)
    frame.write.csv(str(tmp_path / "out"))
    spark.read.csv(str(tmp_path / "out")).toPandas()
    spark.sparkContext.parallelize(range(10)).map(lambda i: i + 1).collect()
    spark.sparkContext.broadcast(list(range(1000))).value  # noqa: B018
    spark.createDataFrame([(i,) for i in range(5000)], "i INT").rdd.take(3)
    frame.mapInPandas(lambda parts: parts, frame.schema).collect()
    assert files.take(final=True) == []
    assert (files.lost(), files.processes()) == ([], [])
