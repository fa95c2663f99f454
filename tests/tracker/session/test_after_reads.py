"""What a write may have taken from reads on the driver: possible edges where nobody can see, and none elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from _reads import Edges
from oracle.cases import Frames
from oracle.tables import DEPT, EMP
from pyspark.sql import functions as sf

from provspark.model.writes import Write
from provspark.tracker import attach

pytestmark = pytest.mark.spark

TABLES = [EMP, DEPT]
LIMIT = 3
NAMES = ["one", "two"]


class World:
    def __init__(self, spark: Any, sources: Path, folder: Path) -> None:
        self.spark, self.t, self.folder = spark, Frames(spark, TABLES, sources), folder

    def write(self, frame: Any) -> None:
        frame.write.parquet(str(self.folder / "out"))

    def run(self, script: Callable[[World], Any]) -> tuple[Write, Edges]:
        """Run a script that writes once; return the write, and the step's edges."""
        with attach(store=(self.folder / "store").as_uri(), step="s") as capture:
            script(self)
        assert capture.untracked == () and capture.manifest is not None
        (write,) = capture.manifest.writes
        return write, Edges(self.folder / "store", capture.manifest)


@pytest.fixture
def world(spark: Any, sources: Path, tmp_path: Path) -> World:
    return World(spark, sources, tmp_path)


def made(w: World) -> None:
    rows = [tuple(row) for row in w.t.dept.filter("w > 5").select("w").collect()]
    w.write(w.spark.createDataFrame(rows, "w LONG"))


def made_by_pandas(w: World) -> None:
    frame = w.t.dept.filter("w > 5").select("w").toPandas()
    w.write(w.spark.createDataFrame(frame[frame.w % 2 == 0]))


def made_of_a_file(w: World) -> None:
    frame = pd.read_parquet(str(w.t.paths["dept"]))
    w.write(w.spark.createDataFrame(frame[["w"]]))


def parallelized(w: World) -> None:
    rows = w.t.dept.filter("w > 5").select("w").take(9)
    w.write(w.spark.sparkContext.parallelize(rows).toDF())


def a_range(w: World) -> None:
    w.write(w.spark.range(w.t.dept.filter("w > 5").select("w").head()[0]))


def values(w: World) -> None:
    most = w.t.dept.filter("w > 5").select("w").first()[0]
    w.write(w.spark.sql(f"SELECT * FROM VALUES ({most}), ({most})"))


def a_literal(w: World) -> None:
    name = w.t.dept.filter("w = 7").first().name
    w.write(w.t.emp.filter(sf.col("g") == name).select("id"))


def among_keys(w: World) -> None:
    keys = [row.k for row in w.t.dept.filter("w = 5").collect()]
    w.write(w.t.emp.filter(sf.col("id").isin(keys)).select("id"))


def a_function(w: World) -> None:
    keys = {row.k for row in w.t.dept.filter("w = 5").collect()}
    w.write(w.t.emp.filter(sf.udf(lambda i: i in keys, "boolean")("id")).select("id"))


def over_a_checkpoint(w: World) -> None:
    keys = [row.k for row in w.t.dept.filter("w = 5").collect()]
    w.write(w.t.emp.filter(sf.col("id").isin(keys)).select("id").localCheckpoint().filter("id > 0"))


def over_a_cache(w: World) -> None:
    rows = [tuple(row) for row in w.t.dept.filter("w > 5").select("w").collect()]
    cached = w.spark.createDataFrame(rows, "w LONG").cache()
    w.write(cached.filter("w > 0"))
    cached.unpersist()


def over_an_rdd(w: World) -> None:
    more = w.t.dept.filter("w = 5").first().w
    w.write(w.t.emp.select("id").rdd.map(lambda row: (row.id + more,)).toDF("id LONG"))


MADE = made, made_by_pandas, made_of_a_file, parallelized, a_range, values, over_a_cache
"""Scripts whose rows are their own, and may be those that they read."""
POSSIBLE = *MADE, a_literal, among_keys, a_function, over_a_checkpoint, over_an_rdd


@pytest.mark.parametrize("script", POSSIBLE, ids=lambda s: s.__name__)
def test_possible(script: Callable[[World], Any], world: World) -> None:
    """Each row written may come from each row read, and from no other row of the source."""
    write, edges = world.run(script)
    size = sum(read.output.rows for read in edges.manifest.reads)
    assert size and [axis.size for axis in write.axes if axis.role == "reads"] == [size]
    for ends in edges.of(write).values():
        assert {end for end in ends if end[0] == "reads"} == {("reads", i, "possible") for i in range(size)}
    assert write.coverage == ("coarse" if script in (*MADE, over_an_rdd) else "exact")


def constants(w: World) -> None:
    w.t.dept.collect()
    w.write(w.spark.createDataFrame([(1, "a"), (LIMIT, "b")], ["n", "t"]))


def constant_names(w: World) -> None:
    w.t.dept.toPandas()
    w.write(w.spark.createDataFrame([(name,) for name in NAMES], "name STRING"))


def shown_literals(w: World) -> None:
    w.t.dept.limit(5).collect()
    w.write(w.t.emp.filter((sf.col("id") > LIMIT) & sf.col("g").isin("a", "b")).select("id", sf.lit("x")))


def a_guard(w: World) -> None:
    if not w.t.dept.take(1) or w.t.dept.isEmpty():
        raise AssertionError
    w.write(w.t.emp.join(w.t.dept, "k").groupBy("name").count())


def made_before(w: World) -> None:
    rows = [(len(str(w.folder)),)]
    lookup = w.spark.createDataFrame(rows, "n INT")
    w.t.dept.collect()
    w.write(lookup)


def read_after(w: World) -> None:
    keys = [len(str(w.folder))]
    w.write(w.t.emp.filter(sf.col("id").isin(keys)))
    w.t.dept.collect()


SILENT = (constants, constant_names, shown_literals, a_guard, made_before, read_after)


@pytest.mark.parametrize("script", SILENT, ids=lambda s: s.__name__)
def test_nothing(script: Callable[[World], Any], world: World) -> None:
    """What the script's text shows comes from no read."""
    write, edges = world.run(script)
    assert edges.manifest.reads and write.coverage == "exact"
    assert [axis.role for axis in write.axes if axis.role == "reads"] == []


def test_a_read_after_a_read(world: World) -> None:
    """A read of rows that may come from an earlier one says so; its axis ends before itself."""

    def script(w: World) -> None:
        keys = [row.k for row in w.t.dept.filter("w = 5").collect()]
        rows = w.t.emp.filter(sf.col("id").isin(keys)).select("id").collect()
        w.write(w.spark.createDataFrame(rows))

    write, edges = world.run(script)
    first, second = edges.manifest.reads
    assert edges.of(first) == {0: {("dept", 4)}}
    assert edges.of(second) == {0: {("emp", 5), ("reads", 0, "possible")}}
    assert [axis.size for axis in (*second.axes, *write.axes) if axis.role == "reads"] == [1, 2]


def of_a_number(w: World) -> None:
    w.t.dept.limit(2).collect()
    mean = w.t.dept.agg(sf.avg("w")).first()[0]
    w.write(w.t.dept.withColumn("c", sf.col("w") - mean))


def made_of_a_number(w: World) -> None:
    w.t.dept.limit(2).collect()
    n = w.t.dept.count()
    w.write(w.spark.createDataFrame([("load", n)], "s STRING, n LONG"))


def made_of_numbers_and_rows(w: World) -> None:
    n, first = w.t.dept.count(), w.t.dept.first().w
    w.write(w.spark.createDataFrame([(n,)], "n LONG").union(w.spark.createDataFrame([(first,)], "n LONG")))


def possible(write: Write, edges: Edges) -> set[bool]:
    """Of the reads that possible edges lead to, whether they returned one number."""
    singles = [read.single for read in edges.manifest.reads for _ in range(read.output.rows)]
    return {singles[end[1]] for ends in edges.of(write).values() for end in ends if end[0] == "reads"}


@pytest.mark.parametrize("script", [of_a_number, made_of_a_number])
def test_a_number_that_was_read_comes_from_that_read_alone(script: Callable[[World], None], world: World) -> None:
    write, edges = world.run(script)
    assert write.coverage == "exact"
    assert possible(write, edges) == {True}


def test_rows_of_numbers_beside_rows_of_others(world: World) -> None:
    write, edges = world.run(made_of_numbers_and_rows)
    assert write.coverage == "coarse"
    assert possible(write, edges) == {True, False}
