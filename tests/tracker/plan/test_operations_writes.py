"""Operations as writes keep them: lines, names, functions, transformers, caches, untracked writes, row counts."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Frames
from oracle.tables import TABLES
from pyspark.sql import functions as sf

import provspark
from provspark.index_store.store.store import Store
from provspark.model.operations import Operation, Operations
from provspark.tracker import attach
from provspark.tracker.plan.operations import OperationReader

pytestmark = pytest.mark.spark


class World:
    """A store, and steps in it."""

    def __init__(self, spark: Any, sources: Path, folder: Path) -> None:
        self.spark, self.folder, self.t = spark, folder, Frames(spark, TABLES, sources)
        self.store = (folder / "store").as_uri()

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def step(self) -> Any:
        return attach(store=self.store, step="s")

    def operations(self, capture: Any, write: int = 0) -> tuple[Operation, ...]:
        found = Store.open(self.store).operations(capture.manifest.step, capture.manifest.writes[write])
        assert isinstance(found, Operations)
        return found.operations


@pytest.fixture
def world(spark: Any, sources: Path, tmp_path: Path) -> World:
    return World(spark, sources, tmp_path)


def line() -> int:
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


def test_lines_and_names(world: World) -> None:
    """Each operation has the line of its own call; SQL text that of the call and its own; a name what is within it."""
    with world.step() as capture:
        frame = world.t.emp
        frame, at = frame.filter("id > 1"), line()
        with provspark.operation("one-hot"):
            frame, named = frame.withColumn("x", sf.col("k") + 1).withColumn("y", sf.col("k") + 2), line()
            with provspark.operation("inner"):
                frame = frame.drop("x")
        frame.createOrReplaceTempView("lines_emp")
        made, sql = world.spark.sql("SELECT id, y\nFROM lines_emp\nWHERE y > 2\nORDER BY id"), line()
        made.write.parquet(world.path("out"))
    found = world.operations(capture)
    here = f"{__file__}:"
    assert [(o.node, o.site, o.name) for o in found[1:]] == [
        ("Filter", f"{here}{at}", ""),
        ("Project", f"{here}{named}", "one-hot"),
        ("Project", f"{here}{named}", "one-hot"),
        ("Project", f"{here}{named + 2}", "one-hot / inner"),
        ("Filter", f"{here}{sql}", ""),
        ("Project", f"{here}{sql}", ""),
        ("Sort", f"{here}{sql}", ""),
    ]
    assert {dict(o.details).get("sql_line") for o in found[-3:]} <= {"1", "2", "3", "4"}


def test_names_without_capture() -> None:
    with provspark.operation("a"), provspark.operation("b"):
        pass
    with pytest.raises(ValueError, match="An operation's name must be text"):
        provspark.operation(" ")


def test_functions_by_name(world: World) -> None:
    """A function is told by its module and name."""

    def shifted(x):  # type: ignore[no-untyped-def]
        return x + 1

    with world.step() as capture:
        world.t.emp.select(sf.udf(shifted, "int", useArrow=False)("id").alias("v")).write.parquet(world.path("out"))
    (last,) = world.operations(capture)[-1:]
    assert last.opaque == f"function of the user's: {__name__}.test_functions_by_name.<locals>.shifted"
    name = last.opaque.removeprefix("function of the user's: ")
    (made,) = last.expressions
    assert made.sql == f"`{name}`(`id#0`)" and dict(made.details) == {f"function {name}": '100 "integer"'}
    assert last.text.startswith("v = shifted(id)")


def test_transformers(world: World) -> None:
    """What a fitted model needs to work again is kept with what it did."""
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import OneHotEncoder, StandardScaler, StringIndexer, VectorAssembler

    frame = world.t.emp.selectExpr("id", "CAST(coalesce(k, 0) AS STRING) AS s", "CAST(id AS DOUBLE) AS d")
    stages = [
        StringIndexer(inputCol="s", outputCol="i"),
        OneHotEncoder(inputCol="i", outputCol="h"),
        VectorAssembler(inputCols=["d"], outputCol="v"),
        StandardScaler(inputCol="v", outputCol="z", withMean=True),
    ]
    model = Pipeline(stages=stages).fit(frame)
    with world.step() as capture:
        made = model.transform(frame)
        made.select("id", "i").write.parquet(world.path("out"))
    kept = {
        dict(o.details)["transformer"].rpartition(".")[2]: o
        for o in world.operations(capture)
        if "transformer" in dict(o.details)
    }
    assert list(kept) == ["StringIndexerModel", "OneHotEncoderModel", "VectorAssembler", "StandardScalerModel"]
    parameters = {name: json.loads(dict(o.details)["parameters"]) for name, o in kept.items()}
    assert parameters["StringIndexerModel"]["labelsArray"] == [list(model.stages[0].labels)]
    assert parameters["OneHotEncoderModel"]["categorySizes"] == list(model.stages[1].categorySizes)
    assert parameters["StandardScalerModel"]["mean"] == model.stages[3].mean.toArray().tolist()
    assert parameters["StandardScalerModel"]["std"] == model.stages[3].std.toArray().tolist()
    assert parameters["VectorAssembler"]["inputCols"] == ["d"]
    assert kept["StringIndexerModel"].contextual and not kept["VectorAssembler"].contextual
    assert kept["StringIndexerModel"].opaque == "StringIndexerModel of MLlib computes it"


def test_caches_show_what_is_in_them(world: World) -> None:
    """What was cached or checkpointed is told operation by operation, once for each reading, with its axes."""
    with world.step() as capture:
        kept = world.t.emp.filter("id > 1").cache()
        kept.union(kept).filter("k = 7").write.parquet(world.path("cached"))
        taken = world.t.emp.filter("id > 2").localCheckpoint()
        taken.filter("k = 7").write.parquet(world.path("taken"))
    kept.unpersist()
    assert capture.untracked == ()
    found = world.operations(capture)
    assert [o.node for o in found] == ["LogicalRelation", "Filter", "InMemoryRelation"] * 2 + ["Union", "Filter"]
    assert [o.axes for o in found] == [(1,), (), (), (2,), (), (), (), ()]
    assert found[2].columns == found[1].columns and found[2].categories == ()
    found = world.operations(capture, 1)
    assert [o.node for o in found] == ["LogicalRelation", "Filter", "LogicalRDD", "Project", "Filter"]
    assert [o.axes for o in found] == [(1,), (), (), (), ()]


def test_row_counts(world: World) -> None:
    """The rows written are those of the last operation, and of those that hand all of theirs on to it."""
    with world.step() as capture:
        world.t.emp.filter("id > 3").orderBy("id").select("id").write.parquet(world.path("out"))
        world.t.emp.filter("id > 3").select("id").limit(2).write.parquet(world.path("few"))
        some = world.t.emp.filter("id > 3")
        some.groupBy("k").count().orderBy("k").write.parquet(world.path("groups"))
        some.select("k").distinct().write.parquet(world.path("distinct"))
        some.groupBy("k").count().filter("k > 1").write.parquet(world.path("having"))
    written = capture.manifest.writes[0].output.rows
    assert [o.rows for o in world.operations(capture)] == [-1, written, written, written]
    assert [o.rows for o in world.operations(capture, 1)] == [-1, -1, -1, 2]
    groups = some.groupBy("k").count().count()
    assert [o.rows for o in world.operations(capture, 2)] == [-1, written, groups, groups]
    assert [o.rows for o in world.operations(capture, 3)] == [-1, written, written, groups]
    assert [o.rows for o in world.operations(capture, 4)][:-1] == [-1, -1, -1]


def test_rows_of_the_script_and_driver_reads(world: World) -> None:
    """Local rows and ranges are sources with axes; what the driver read is an axis of no operation."""
    with world.step() as capture:
        most = world.t.dept.count()
        local = world.spark.createDataFrame([(1, "a"), (2, "b")], "id BIGINT, s STRING")
        world.spark.range(most).join(local, "id").union(local).write.parquet(world.path("out"))
    assert capture.untracked == ()
    (write,) = capture.manifest.writes
    sources = [o for o in world.operations(capture) if not o.children]
    assert [(o.node, o.axes) for o in sources] == [("Range", (1,)), ("LogicalRDD", (2,)), ("LogicalRDD", (3,))]
    read = [i for i, a in enumerate(write.axes) if a.role == "reads"]
    assert not {a for o in sources for a in o.axes}.intersection(read)


def test_untracked_writes_keep_operations(world: World) -> None:
    """What can't be followed row by row can still be told."""
    world.t.dept.write.csv(world.path("in"))
    with world.step() as capture:
        frame = world.spark.read.csv(world.path("in"), schema="k INT, w INT", mode="DROPMALFORMED")
        frame.filter("w > 1").write.parquet(world.path("out"))
    assert capture.untracked and capture.manifest.writes[0].coverage == "untracked"
    found = world.operations(capture)
    assert [(o.node, o.text, o.axes) for o in found] == [
        ("LogicalRelation", "read CSV", ()),
        ("Filter", "keep rows where w > 1", ()),
    ]


def test_trouble_costs_no_lineage(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If operations can't be read the write is tracked as ever."""

    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("broken")

    monkeypatch.setattr(OperationReader, "__init__", lambda self, jvm: setattr(self, "_java", Broken()))
    with world.step() as capture:
        world.t.emp.filter("id > 3").write.parquet(world.path("out"))
    (write,) = capture.manifest.writes
    assert capture.untracked == () and write.coverage == "exact" and write.operations == ""
