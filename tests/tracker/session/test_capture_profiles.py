"""Profiles that a step stores of what it read and wrote, against those of our own readers."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Frames
from oracle.tables import DEPT, EMP
from pyspark.sql import functions as sf

import provspark
from provspark.index_store.profiles.computation import profile_of
from provspark.index_store.profiles.profile import Profile
from provspark.index_store.store.store import Store
from provspark.model.steps import Manifest
from provspark.tracker import attach

pytestmark = pytest.mark.spark

READ = {
    "parquet": lambda s, p: s.read.parquet(p),
    "csv": lambda s, p: s.read.option("header", True).schema("id INT, k INT, w DOUBLE").csv(p),
    "json": lambda s, p: s.read.schema("id INT, k INT, w DOUBLE").json(p),
    "orc": lambda s, p: s.read.orc(p),
}


class World:
    def __init__(self, spark: Any, sources: Path, folder: Path) -> None:
        self.t, self.spark, self.folder = Frames(spark, [EMP, DEPT], sources), spark, folder
        self.store = (folder / "store").as_uri()

    def step(self, name: str = "s", *, profile: bool = True) -> Any:
        return attach(self.store, name, profile=profile)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def stored(self, manifest: Manifest) -> list[list[Profile]]:
        store = Store.open(self.store)
        told = [store.profiles(manifest.step, write) for write in manifest.writes]
        return [list(t.profiles) if t else [] for t in told]


@pytest.fixture
def world(spark: Any, sources: Path, tmp_path: Path) -> World:
    return World(spark, sources, tmp_path)


@pytest.mark.parametrize("form", READ)
def test_stored_profiles_are_those_of_our_readers(form: str, world: World) -> None:
    rows = world.t.emp.selectExpr("id", "id % 3 as k", "if(id = 4, null, id / 4) as w")
    rows.write.format(form).option("header", True).save(world.path("in"))
    with world.step() as capture:
        READ[form](world.spark, world.path("in")).filter("id > 2").write.partitionBy("k").parquet(world.path("out"))
    assert capture.untracked == ()
    store = Store.open(world.store)
    (write,) = capture.manifest.writes
    ((out, source),) = world.stored(capture.manifest)
    for found, version in ((out, write.output), (source, *write.inputs)):
        assert found == profile_of(version, store.files(capture.manifest.step, version))
    assert (source.rows, out.rows, out.column("w").nulls) == (12, 9, 1)
    assert {c.name for c in out.columns} == {"id", "k", "w"}
    prov = provspark.open(world.store)
    for file in (world.folder / "in").iterdir():
        file.unlink()
    assert prov.profile(world.path("in")) == source
    assert prov.impact(world.path("out"), "w").table()["change"].to_pylist()[0] == -3


def test_nothing_is_profiled_unasked(world: World) -> None:
    with world.step(profile=False) as capture:
        world.t.dept.write.parquet(world.path("out"))
    assert capture.manifest.writes[0].profiles == ""
    assert world.stored(capture.manifest) == [[]]


def test_no_profile_of_what_changed_since(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """The step's first output was replaced before its end; rows are tracked as ever, and the script's rows are its."""
    with caplog.at_level(logging.WARNING, "provspark"), world.step() as capture:
        world.t.dept.write.parquet(world.path("out"))
        world.t.dept.filter("w > 3").write.mode("overwrite").parquet(world.path("out"))
        world.t.emp.agg(sf.max("id").alias("m")).write.parquet(world.path("other"))
    assert capture.untracked == ()
    assert [m for m in caplog.messages if "no profile of" in m and "/out" in m]
    first, second, third = world.stored(capture.manifest)
    assert [p.dataset.rsplit("/", 1)[-1] for p in (*first, *second, *third)] == ["dept", "out", "dept", "other", "emp"]
    assert world.spark.read.parquet(world.path("out")).count() == second[0].rows


def test_profiling_is_no_read_of_the_script(world: World) -> None:
    """What profiles read is context of nothing, and a script that stopped its session is profiled all the same."""
    with world.step() as capture:
        world.t.emp.select("id").write.parquet(world.path("a"))
    assert [t.kind for t in capture.manifest.writes[0].tensors] == ["data"]


def test_without_a_session(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession

    with world.step() as capture:
        world.t.emp.select("id").write.parquet(world.path("a"))
        monkeypatch.setattr(SparkSession, "_instantiatedSession", None)
    monkeypatch.undo()
    assert [p.rows for p in world.stored(capture.manifest)[0]] == [12, 12]
