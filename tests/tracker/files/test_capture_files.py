"""Files that the driver reads and writes in a captured step: the edges that questions find."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import functions as sf

import provspark
from provspark.model.datasets import Dataset
from provspark.tracker import attach

pytestmark = pytest.mark.spark

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
SCHEMA = "a LONG, b STRING"
Edges = set[tuple[int, str, int]]


class World:
    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.folder = spark, folder

    def step(self, name: str = "s") -> Any:
        return attach(store=(self.folder / "store").as_uri(), step=name, on_error="fail")

    def back(self, name: str, **how: Any) -> Edges:
        prov = provspark.open((self.folder / "store").as_uri())
        lines = prov.backward(self.path(name), **how).table().to_pylist()
        base = Dataset("file", str(self.folder)).uri + "/"
        return {(line["row"], line["dataset"].removeprefix(base).split(":")[0], line["related_row"]) for line in lines}

    def csv(self, name: str) -> Any:
        return self.spark.read.schema(SCHEMA).option("header", True).csv(self.path(name))

    def rows(self) -> Any:
        return self.spark.read.parquet(self.path("in.parquet"))

    def path(self, name: str) -> str:
        """Spark's working directory is not that of the test."""
        return str(self.folder / name)


@pytest.fixture
def world(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("in.csv", index=False)
    FRAME.to_parquet("in.parquet")
    return World(spark, tmp_path)


def same(n: int, source: str) -> Edges:
    return {(i, source, i) for i in range(n)}


def square(n: int, source: str, m: int) -> Edges:
    return {(i, source, k) for i in range(n) for k in range(m)}


def test_from_spark_by_pandas_to_a_file(world: World) -> None:
    with world.step() as capture:
        world.rows().filter("a > 1").toPandas().to_csv("out.csv")
    assert capture.untracked == ()
    [read], [write] = capture.manifest.reads, capture.manifest.writes
    assert (read.action, write.coverage, write.output.unit) == ("DataFrame.toPandas", "coarse", "file")
    assert world.back("out.csv") == {(0, "in.parquet", 1), (0, "in.parquet", 2)}


def test_from_a_file_by_pandas_to_spark(world: World) -> None:
    with world.step() as capture:
        pd.read_parquet("in.parquet").to_csv("between.csv", index=False)
        world.csv("between.csv").filter("a > 1").write.parquet(world.path("out"))
    assert capture.untracked == ()
    between, out = capture.manifest.writes
    assert (between.output.rows, between.output.unit, out.inputs[0].id) == (3, "row", between.output.id)
    assert world.back("out", to=world.path("between.csv")) == {(0, "between.csv", 1), (1, "between.csv", 2)}
    assert world.back("out") == square(2, "in.parquet", 3)


def test_a_temporary_file_on_the_way_to_spark(world: World) -> None:
    with world.step() as capture, tempfile.TemporaryDirectory() as folder:
        name = f"{folder}/between.csv"
        pd.read_parquet("in.parquet").to_csv(name, index=False)
        world.csv(name).write.parquet(world.path("out"))
    assert [w.output.dataset.name for w in capture.manifest.writes] == [name, world.path("out")]
    assert world.back("out") == square(3, "in.parquet", 3)


def test_a_file_that_spark_reads_on_the_driver(world: World) -> None:
    with world.step() as capture:
        pd.read_parquet("in.parquet").to_csv("between.csv", index=False)
        world.csv("between.csv").filter("a = 2").toPandas().to_csv("out.csv")
    assert [w.output.dataset.name.rsplit("/")[-1] for w in capture.manifest.writes] == ["between.csv", "out.csv"]
    assert [r.action for r in capture.manifest.reads] == ["pandas.read_parquet", "DataFrame.toPandas"]
    assert world.back("out.csv") == square(1, "in.parquet", 3)


MOVES: dict[str, Callable[[str, str], object]] = {"rename": os.rename, "move": shutil.move, "copy": shutil.copytree}


@pytest.mark.parametrize("how", MOVES)
def test_an_output_of_spark_goes_elsewhere(how: str, world: World) -> None:
    with world.step() as capture:
        world.csv("in.csv").filter("a > 1").write.csv(world.path("tmp"))
        MOVES[how]("tmp", "out")
    assert capture.untracked == ()
    assert [(w.coverage, w.output.rows) for w in capture.manifest.writes] == [("exact", 2), ("exact", 2)]
    assert world.back("out") == {(0, "in.csv", 1), (1, "in.csv", 2)}
    with world.step("t"):
        world.spark.read.schema(SCHEMA).csv(world.path("out")).filter("a > 2").write.parquet(world.path("after"))
    assert world.back("after") == {(0, "in.csv", 2)}


def test_a_part_of_an_output_of_spark_goes_elsewhere(world: World) -> None:
    with world.step():
        world.csv("in.csv").coalesce(1).write.csv(world.path("tmp"))
        [part] = Path("tmp").glob("part-*")
        part.rename("out.csv")
    assert world.back("out.csv") == same(3, "in.csv")


def test_from_step_to_step(world: World) -> None:
    with world.step("a"):
        world.rows().toPandas().to_csv("between.csv", index=False)
    with world.step("b") as capture:
        world.csv("between.csv").agg(sf.sum("a").alias("a")).write.parquet(world.path("out"))
    assert capture.manifest.reads == ()
    assert world.back("out", to=world.path("in.parquet")) == square(1, "in.parquet", 3)
    with world.step("c"):
        pd.read_parquet("out").to_json("last.json")
    assert world.back("last.json") == square(1, "in.parquet", 3)


def test_rows_chosen_by_their_values(world: World) -> None:
    with world.step():
        world.rows().toPandas().to_parquet("out.parquet")
    prov = provspark.open((world.folder / "store").as_uri())
    table = prov.backward(world.path("out.parquet"), where=[("b", "=", "y")]).table()
    assert {(line["row"], line["related_row"]) for line in table.to_pylist()} == {(1, k) for k in range(3)}


def test_rows_made_after_a_file_was_read(world: World) -> None:
    """The rows of the file may be in them, though no read of Spark's came before."""
    with world.step() as capture:
        world.spark.createDataFrame([(1,)], "a INT").write.parquet(world.path("before"))
        rows = Path("in.csv").read_text().splitlines()
        world.spark.createDataFrame([(row,) for row in rows], "a STRING").write.parquet(world.path("after"))
    kinds = [[t.kind for t in write.tensors] for write in capture.manifest.writes]
    assert kinds == [["data"], ["data", "possible"]]


def test_what_was_read_after_the_file_was_closed(world: World) -> None:
    with world.step() as capture:
        FRAME.to_csv("out.csv")
        world.rows().collect()
    assert len(capture.manifest.reads) == 1
    assert world.back("out.csv") == set()


def test_rows_that_are_taken_one_by_one(world: World) -> None:
    with world.step(), open("out.csv", "w") as f:  # noqa: PTH123
        for row in world.rows().toLocalIterator():
            f.write(f"{row.a}\n")
    assert world.back("out.csv") == square(1, "in.parquet", 3)


def test_a_count_for_a_log(world: World) -> None:
    with world.step() as capture:
        n = world.rows().count()
        with open("run.log", "a") as f:  # noqa: PTH123
            f.write(f"{n} rows\n")
        world.csv("in.csv").write.parquet(world.path("out"))
    assert len(capture.manifest.writes) == 1
    assert world.back("out") == same(3, "in.csv")


def test_reads_that_are_switched_off(world: World) -> None:
    world.spark.conf.set("spark.provspark.driverReads", "false")
    try:
        with world.step() as capture:
            world.rows().toPandas().to_csv("out.csv")
            pd.read_csv("in.csv")
    finally:
        world.spark.conf.unset("spark.provspark.driverReads")
    assert (capture.manifest.reads, capture.manifest.writes) == ((), ())
    assert capture.manifest.driver_reads == "off"


def test_files_of_a_fork_are_told(world: World) -> None:
    with world.step() as capture:
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
    [told] = capture.untracked
    assert (told.node, told.site.startswith(__file__)) == ("os.fork", True)
