"""Files of the driver in a step of their own: the edges that questions find."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import provspark
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import Manifest, StepKey
from provspark.model.writes import Axis
from provspark.tracker.files.step_files import FilesOfDriver
from provspark.tracker.session.driver_reads import DriverReads
from provspark.tracker.session.troubles import Troubles

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store.open(str(folder / "store"), create=True)
        self.troubles = Troubles("fail")
        self.files: FilesOfDriver | None = None
        self.steps = 0

    def begin(self, task: str) -> FilesOfDriver:
        self.step = self.store.writer(StepKey(task, "r"))
        self.reads = DriverReads(self.step, task)
        self.files = FilesOfDriver(self.step, self.reads, self.troubles, self.store.url)
        self.files.begin()
        return self.files

    def end(self) -> Manifest:
        assert self.files is not None
        self.files.end()
        self.files.at_end()
        self.reads.flush()
        self.steps += 1
        clock = f"2024-01-01T00:00:{self.steps:02}.000000"
        return self.step.publish(status="succeeded", started=clock, ended=clock, driver_reads="on")

    def back(self, name: str, **how: Any) -> set[tuple[int, str, int]]:
        """Edges of an output to where its rows came from, by names."""
        prov = provspark.open(str(self.folder / "store"))
        lines = prov.backward(str(self.folder / name), rows=None, **how).table().to_pylist()
        return {(line["row"], self._name(line["dataset"]), line["related_row"]) for line in lines}

    def _name(self, dataset: str) -> str:
        return dataset.removeprefix(Dataset("file", str(self.folder)).uri + "/").split(":")[0]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("in.csv")
    FRAME.to_parquet("in.parquet")
    made = World(tmp_path)
    yield made
    if made.files is not None:
        made.files.end()


def square(n: int, source: str, m: int) -> set[tuple[int, str, int]]:
    return {(i, source, k) for i in range(n) for k in range(m)}


def test_a_frame_of_pandas(world: World) -> None:
    world.begin("a")
    pd.read_parquet("in.parquet").to_parquet("out.parquet")
    manifest = world.end()
    [read], [write] = manifest.reads, manifest.writes
    assert (read.action, read.coverage, read.output.rows, read.output.unit) == (
        "pandas.read_parquet",
        "coarse",
        3,
        "row",
    )
    assert (write.coverage, write.output.rows, write.output.unit, write.output.format) == (
        "coarse",
        3,
        "row",
        "parquet",
    )
    assert world.back("out.parquet") == square(3, "in.parquet", 3)


def test_what_nothing_was_read_before(world: World) -> None:
    world.begin("a")
    FRAME.to_csv("out.csv")
    [write] = world.end().writes
    assert (write.coverage, write.inputs, write.tensors) == ("exact", (), ())


def test_rows_that_nobody_counted(world: World) -> None:
    world.begin("a")
    pd.read_csv("in.csv").to_csv("out.csv")
    manifest = world.end()
    assert [v.unit for w in (*manifest.reads, *manifest.writes) for v in (w.output, *w.inputs)] == [
        "row",
        "file",
        "file",
    ]
    assert world.back("out.csv") == {(0, "in.csv", 0)}


def test_what_is_read_after_a_file_was_closed(world: World) -> None:
    files = world.begin("a")
    FRAME.to_csv("first.csv")
    time.sleep(0.05)  # the clock of files ticks every few milliseconds
    pd.read_csv("in.csv")
    files.catch_up()
    FRAME.to_csv("second.csv")
    world.end()
    assert (world.back("first.csv"), world.back("second.csv")) == (set(), {(0, "in.csv", 0)})


def test_a_file_that_is_still_open(world: World) -> None:
    world.begin("a")
    left = open("out.csv", "w")  # noqa: PTH123, SIM115
    left.write(Path("in.csv").read_text())
    [write] = world.end().writes
    left.close()
    now = Path("out.csv").stat()
    files = Files.of([("", now.st_size, now.st_mtime_ns // 10**6, 1, True)])
    assert write.output.id == files.identity(write.output.dataset)
    assert world.back("out.csv") == {(0, "in.csv", 0)}


COPIES: dict[str, Callable[[str, str], object]] = {
    "copy": shutil.copy,
    "move": shutil.move,
    "rename": os.rename,
    "link": os.link,
    "symlink": os.symlink,
}


@pytest.mark.parametrize("how", COPIES)
def test_copies(how: str, world: World) -> None:
    world.begin("a")
    COPIES[how](str(world.folder / "in.parquet"), str(world.folder / "out.parquet"))
    [write] = world.end().writes
    assert (write.coverage, write.output.rows) == ("exact", 3)
    assert world.back("out.parquet") == {(i, "in.parquet", i) for i in range(3)}


def test_a_copy_of_rows_that_nobody_counted(world: World) -> None:
    world.begin("a")
    shutil.copy("in.csv", "out.csv")
    [write] = world.end().writes
    assert (write.coverage, write.output.unit) == ("coarse", "file")
    assert world.back("out.csv") == {(0, "in.csv", 0)}


def test_rows_that_spark_counted(world: World) -> None:
    """A part file of a write, moved out of its folder, keeps its rows one by one."""
    (world.folder / "spark").mkdir()
    for i, rows in enumerate(["1\n2\n", "3\n4\n5\n"]):
        (world.folder / f"spark/part-{i}.csv").write_text(rows)
    files = world.begin("a")
    entries = [(p.name, p.stat().st_size, p.stat().st_mtime_ns // 10**6) for p in world.folder.glob("spark/*")]
    listed = Files.of((name, size, mtime, 2 + i, True) for i, (name, size, mtime) in enumerate(sorted(entries)))
    version = PendingVersion(Dataset("file", str(world.folder / "spark")), listed, "csv")
    axis = Axis("output", 5, listed.identity(version.dataset))
    written = PendingWrite(version, "exact", axes=(axis,))
    files.sealed(written)
    world.step.add(written)
    os.rename("spark/part-1.csv", "out.csv")  # noqa: PTH104
    *_, write = world.end().writes
    assert (write.coverage, write.output.rows, write.output.format) == ("exact", 3, "csv")
    assert world.back("out.csv", to=str(world.folder / "spark")) == {(i, "spark", 2 + i) for i in range(3)}


def test_appended_rows(world: World) -> None:
    world.begin("a")
    FRAME.to_csv("out.csv")
    world.end()
    world.begin("b")
    with open("out.csv", "a") as f:  # noqa: PTH123
        f.write(Path("in.csv").read_text())
    second = world.end()
    assert world.back("out.csv") == {(0, "in.csv", 0)}
    assert [v.dataset.name for v in second.writes[0].inputs] == [str(world.folder / "out.csv")]


def test_many_files_of_a_folder(world: World) -> None:
    world.begin("a")
    for i in range(20):
        FRAME.to_csv(f"part-{i:02}.csv")
    [pd.read_csv(f"part-{i:02}.csv") for i in range(20)]
    manifest = world.end()
    [read], [write] = manifest.reads, manifest.writes
    assert (write.output.dataset.name, write.output.n_files) == (str(world.folder), 20)
    assert read.inputs == (write.output,)


def test_a_folder(world: World) -> None:
    world.begin("a")
    FRAME.to_parquet("out", partition_cols=["a"])
    shutil.copytree("out", "copy")
    pd.read_parquet("copy")
    manifest = world.end()
    assert [w.output.dataset.name.rsplit("/")[-1] for w in manifest.writes] == ["out", "copy"]
    assert world.back("copy", to=str(world.folder / "out")) == {(i, "out", i) for i in range(3)}
    assert [v.n_files for v in manifest.reads[0].inputs] == [3]


def test_steps_are_linked(world: World) -> None:
    world.begin("a")
    pd.read_parquet("in.parquet").to_parquet("between.parquet")
    world.end()
    world.begin("b")
    pd.read_parquet("between.parquet").to_csv("out.csv")
    world.end()
    assert world.back("out.csv", to=str(world.folder / "in.parquet")) == square(1, "in.parquet", 3)


def test_names_that_are_no_unicode(world: World) -> None:
    """A store's names are; the other files of the step are stored all the same."""
    world.troubles = Troubles("warn")
    world.begin("a")
    with open(b"\xff.csv", "w") as f:  # noqa: PTH123
        f.write("x")
    pd.read_csv(b"\xff.csv".decode(errors="surrogateescape"))
    pd.read_csv("in.csv").to_csv("out.csv")
    manifest = world.end()
    assert [w.output.dataset.name.rsplit("/")[-1] for w in manifest.writes] == ["out.csv"]
    assert [r.coverage for r in manifest.reads] == ["untracked", "coarse"]
    [lost] = world.troubles.reasons
    assert (lost.node, lost.why.split(" is lost")[0]) == ("open", f"lineage of '{world.folder}/\\udcff.csv'")
    assert world.back("out.csv") == {(0, "in.csv", 0)}
