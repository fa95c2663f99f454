"""What the script reads of an accumulator comes from all rows that Spark computed until then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _reads import Edges
from oracle.cases import Frames, configured
from oracle.tables import DEPT, EMP
from pyspark import AccumulatorParam, SparkContext
from pyspark.sql import functions as sf

from provspark.tracker import attach

pytestmark = pytest.mark.spark


def list_of(context: SparkContext) -> Any:
    """An accumulator of a list; tasks can't import this module, so the class is one that is sent to them."""

    class Names(AccumulatorParam[Any]):
        def zero(self, value: Any) -> Any:
            return []

        def addInPlace(self, value1: Any, value2: Any) -> Any:
            return value1 + value2

    return context.accumulator([], Names())


class World:
    def __init__(self, spark: Any, sources: Path, folder: Path) -> None:
        self.t, self.spark, self.folder = Frames(spark, [EMP, DEPT], sources), spark, folder

    @property
    def context(self) -> SparkContext:
        context: SparkContext = self.spark.sparkContext
        return context

    def run(self, script: Callable[[], Any]) -> Edges:
        with attach(store=(self.folder / "store").as_uri(), step="s") as capture:
            script()
        return Edges(self.folder / "store", capture.manifest)

    def path(self, name: str) -> str:
        return str(self.folder / name)


@pytest.fixture
def world(spark: Any, sources: Path, tmp_path: Path) -> World:
    return World(spark, sources, tmp_path)


def adding(to: Any) -> Any:
    return sf.udf(lambda k: to.add([k]) or k, "bigint")


def failing(world: World, to: Any) -> None:
    """A job whose first stage adds, and whose second one fails."""

    def fail(row: Any) -> Any:
        raise ValueError("no")

    with pytest.raises(Exception, match="no"):
        world.t.dept.rdd.map(lambda r: to.add([r.k]) or r.w).repartition(1).map(fail).count()


COMPUTES: dict[str, Callable[[World, Any], Any]] = {
    "an action of an RDD": lambda w, a: w.t.dept.rdd.map(lambda r: a.add([r.k]) or r).count(),
    "an action of a frame": lambda w, a: w.t.dept.select(adding(a)("k").alias("j")).collect(),
    "foreach": lambda w, a: w.t.dept.foreach(lambda r: a.add([r.k])),
    "foreachPartition of an RDD": lambda w, a: w.t.dept.rdd.foreachPartition(lambda rs: a.add([r.k for r in rs])),
    "a write": lambda w, a: w.t.dept.select(adding(a)("k").alias("j")).write.parquet(w.path("copy")),
    "a write of an RDD": lambda w, a: w.t.dept.rdd.map(lambda r: a.add([r.k]) or r).saveAsTextFile(w.path("text")),
    "a checkpoint": lambda w, a: w.t.dept.select(adding(a)("k").alias("j")).localCheckpoint(),
    "show": lambda w, a: w.t.dept.select(adding(a)("k").alias("j")).show(),
    "a write to nowhere": lambda w, a: (
        w.t.dept.select(adding(a)("k").alias("j")).write.format("noop").mode("append").save()
    ),
    "types that Spark infers from the first row": lambda w, a: w.t.dept.rdd.map(
        lambda r: a.add([r.k]) or (r.w,)
    ).toDF(),
    "an action that fails": lambda w, a: failing(w, a),
    "a sort of an RDD": lambda w, a: w.t.dept.rdd.map(lambda r: a.add([r.w]) or r.w).sortBy(lambda k: k),
}


@pytest.mark.parametrize("how", COMPUTES)
def test_a_list_is_rows(how: str, world: World) -> None:
    """A frame made of it has possible edges to each, whatever ran the tasks."""
    seen = list_of(world.context)

    def script() -> None:
        COMPUTES[how](world, seen)
        world.spark.createDataFrame([(k,) for k in seen.value], "k INT").write.parquet(world.path("out"))

    edges = world.run(script)
    size, read = len(seen.value), edges.manifest.reads[-1]
    assert size and (read.action, read.coverage, read.single) == ("Accumulator.value", "coarse", False)
    whole = {("dept", i) for i in range(len(DEPT.rows))}
    assert edges.of(read) == dict.fromkeys(range(size), whole)
    before = sum(r.output.rows for r in edges.manifest.reads[:-1])
    for ends in edges.of(edges.manifest.writes[-1]).values():
        assert {end for end in ends if end[0] == "reads"} == {("reads", i, "possible") for i in range(before + size)}


def test_a_number_is_one_number(world: World) -> None:
    """Writes have no edges to it, and a script that waits for it reads it once."""
    total = world.context.accumulator(0)

    def script() -> None:
        world.t.dept.rdd.map(lambda r: total.add(r.w) or r).count()
        texts = [f"{total} {total!r} {total.value}" for _ in range(10)]
        world.t.emp.select("id").filter(sf.lit(texts[0]) != "").write.parquet(world.path("out"))
        assert total.value > 0

    edges = world.run(script)
    reads = [read for read in edges.manifest.reads if read.action == "Accumulator.value"]
    assert [(read.single, read.output.rows) for read in reads] == [(True, 1)] * 2
    assert [sorted(v.dataset.name.rsplit("/", 1)[-1] for v in read.inputs) for read in reads] == [
        ["dept"],
        ["dept", "emp"],
    ]


def test_what_is_no_read(world: World) -> None:
    """Nothing was computed, the driver added a value itself, or reads are off."""
    mine = world.context.accumulator(0)

    def script() -> None:
        mine.add(1)
        assert mine.value == 1
        mine.value = 2
        world.spark.range(3).rdd.map(lambda r: mine.add(1) or r).count()
        assert mine.value == 5
        with configured(world.spark, {"spark.provspark.driverReads": "false"}):
            world.t.dept.rdd.map(lambda r: mine.add(1) or r).count()
            assert mine.value == 5 + len(DEPT.rows)

    assert world.run(script).manifest.reads == ()
    assert "value" in vars(type(mine)) and mine.value == 5 + len(DEPT.rows)
