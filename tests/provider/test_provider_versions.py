"""Which version a name means, and where rows stand after appends, overwrites and deletions, worked out by hand."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from _steps import identity, write

import provspark
from provspark.api import Gone, gone_of, stops_of, versions_of
from provspark.errors import ArgumentError, ConditionError, UnknownVersionError, VersionChangedError
from provspark.index_store.store.store import Store
from provspark.index_store.values import listing as listings
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey, StepStatus
from provspark.model.writes import Axis


class World:
    """Datasets of text files, a row a line, and steps that are published by hand."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = Store.open(str(root / "prov"), create=True)
        self.clock = 0
        self.put("in", "a", ["r0", "r1", "r2", "r3"])

    def name(self, dataset: str) -> str:
        return str(self.root / dataset)

    def put(self, dataset: str, file: str, lines: list[str]) -> None:
        """Write a file; its time is later than that of all files before."""
        self.clock += 1
        path = self.root / dataset / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line + "\n" for line in lines))
        os.utime(path, ns=(self.clock * 10**12, self.clock * 10**12))

    def now(self, dataset: str, written: Iterable[str] = (), only: str = "") -> PendingVersion:
        """The version that the files of a dataset are now."""
        folder, entries = self.root / dataset, []
        for path in folder.rglob("*"):
            relative = path.relative_to(folder).as_posix()
            if path.is_file() and relative.startswith(only):
                stat = path.stat()
                rows = len(path.read_text().splitlines())
                entries.append((relative, stat.st_size, stat.st_mtime_ns // 10**6, rows, relative in set(written)))
        return PendingVersion(Dataset.parse(str(folder)), Files.of(entries), "text", fields=(Field("value", "string"),))

    def publish(self, task: str, *writes: PendingWrite, run: str = "r1", **more: Any) -> str:
        status: StepStatus = more.pop("status", "succeeded")
        started, ended = more.pop("times", None) or (self.clock, self.clock)
        writer = self.store.writer(StepKey(task, run, "dag", **more))
        for w in writes:
            writer.add(w)
        clocks = (f"2024-01-01T{t // 60:02d}:{t % 60:02d}:00.000000+00:00" for t in (started, ended))
        return writer.publish(status=status, started=next(clocks), ended=next(clocks)).step

    def step(self, task: str, out: str, file: str, rows: Iterable[int], source: str = "in", **more: Any) -> str:
        """Write a file of some rows of a source, in their order; `removes` are files that go."""
        before = self.now(source)
        lines = [line for f in before.files.paths for line in (self.root / source / f).read_text().splitlines()]
        rows = list(rows)
        for other in more.pop("removes", ()):
            (self.root / out / other).unlink()
        self.put(out, file, [f"{task}:{lines[row]}" for row in rows])
        after = self.now(out, [file])
        first = int(after.files.bases[after.files.paths.index(file)])
        return self.publish(task, write(after, [(before, [(first + i, row) for i, row in enumerate(rows)])]), **more)

    def open(self) -> provspark.Provenance:
        return provspark.open(self.store.url)

    def ahead(self, dataset: str, rows: list[int] | None = None, source: str = "in", **which: Any) -> list[str]:
        """The values of what came of rows, as the files have them now."""
        prov = self.open()
        found = prov.forward(self.name(source), rows, to=self.name(dataset), **which).table()
        return prov.values(found).table()["value"].to_pylist() if found.num_rows else []

    def gone(self, dataset: str, rows: list[int] | None = None, **which: Any) -> list[tuple[str, int]]:
        found = self.open().forward(self.name("in"), rows, to=self.name(dataset), **which).table()
        return [(g.step, g.rows) for g in gone_of(found)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def rules(table: pa.Table) -> list[str]:
    return [used.rule for used in versions_of(table)]


def test_after_appends_rows_are_told_where_they_are_now(world: World) -> None:
    for task, file in (("one", "c"), ("two", "b"), ("three", "a")):
        world.step(task, "log", file, [2, 0])
    prov = world.open()
    found = prov.forward(world.name("in"), [2], to=world.name("log")).table()
    assert found["related_row"].to_pylist() == [0, 2, 4]
    assert set(found["version"].to_pylist()) == {identity(world.now("log"))}
    assert world.ahead("log", [2]) == ["three:r2", "two:r2", "one:r2"]
    assert gone_of(found) == () and rules(found) == ["disk", "disk"]
    assert found.equals(prov.forward(world.name("in"), [2]).table())


def test_rows_that_were_overwritten_are_gone_and_counted(world: World) -> None:
    world.step("one", "out", "a", [2, 0])
    two = world.step("two", "out", "b", [0], removes=["a"])
    three = world.step("three", "out", "c", [3], removes=["b"])
    prov = world.open()
    found = prov.forward(world.name("in"), to=world.name("out")).table()
    assert found["row"].to_pylist() == [3] and world.ahead("out") == ["three:r3"]
    out = Dataset.parse(world.name("out")).uri
    assert gone_of(found) == tuple(sorted([Gone(out, two, 2), Gone(out, three, 1)]))
    every = prov.forward(world.name("in"), to=world.name("out"), versions="all").table()
    assert [(x["row"], x["gone"]) for x in every.to_pylist()] == [(0, True), (0, True), (2, True), (3, False)]
    assert len(set(every["version"].to_pylist())) == 3
    with pytest.raises(ConditionError, match="does not accept versions='all'"):
        prov.backward(world.name("out"), versions="all").table()  # type: ignore[call-arg]
    with pytest.raises(ConditionError, match="'current' or 'all'"):
        prov.forward(world.name("in"), versions="old").table()  # type: ignore[arg-type]


def test_a_partition_that_is_written_anew_leaves_the_others(world: World) -> None:
    world.step("monday", "out", "day=1/x", [0, 1])
    world.step("tuesday", "out", "day=2/x", [2])
    world.step("backfill", "out", "day=1/y", [1, 3], removes=["day=1/x"], run="r0")
    assert world.ahead("out") == ["backfill:r1", "backfill:r3", "tuesday:r2"]
    assert world.gone("out", [0]) == [(world.open().steps().table()["step"].to_pylist()[-1], 1)]
    assert world.ahead("out", run="r0") == ["backfill:r1", "backfill:r3"]


def test_the_latest_within_a_run_or_a_time(world: World) -> None:
    world.step("one", "out", "a", [0], run="r1")
    world.step("two", "out", "b", [1], run="r2")
    world.step("three", "out", "c", [2], run="r3", removes=["a"])
    prov, name = world.open(), world.name("out")
    early = prov.forward(world.name("in"), to=name, as_of="2024-01-01T00:03:00Z").table()
    assert (early["row"].to_pylist(), early["related_row"].to_pylist()) == ([0, 1], [0, 1]) and rules(early)[
        1
    ] == "as_of"
    within = prov.forward(world.name("in"), to=name, run="r1").table()
    assert within["row"].to_pylist() == [0] and rules(within) == ["run", "run"]
    assert prov.forward(world.name("in"), to=name).table()["row"].to_pylist() == [1, 2]
    was = prov.select(name, [0], as_of="2024-01-01T00:02:00Z")
    assert prov.values(prov.select(name, [1], run="r2")).table()["value"].to_pylist() == ["two:r1"]
    with pytest.raises(VersionChangedError):
        prov.values(was).table()


def test_files_deleted_by_hand_take_their_rows_along(world: World) -> None:
    for task, file in (("one", "a"), ("two", "b"), ("three", "c")):
        world.step(task, "log", file, [1, 3])
    (world.root / "log" / "b").unlink()
    assert world.ahead("log", [1]) == ["one:r1", "three:r1"]
    assert world.gone("log", [1]) == [("", 1)]
    used = versions_of(world.open().forward(world.name("in"), to=world.name("log")).table())[1]
    assert (used.missing, used.unknown) == (1, 0) and "1 file of it is missing" in str(used)
    for file in ("a", "c"):
        (world.root / "log" / file).unlink()
    assert world.ahead("log", [1]) == [] and world.gone("log", [1]) == [("", 3)]
    shutil.rmtree(world.root / "log")
    assert world.ahead("log", [1]) == [] and world.gone("log", [1]) == [("", 3)]


def test_a_disk_that_is_not_there_leaves_it_to_the_last_step(tmp_path: Path) -> None:
    world = World(tmp_path / "mounted")
    world.step("one", "log", "a", [1])
    world.step("two", "log", "b", [1])
    store = tmp_path / "prov"
    shutil.copytree(world.root / "prov", store)
    shutil.rmtree(world.root)
    prov = provspark.open(str(store))
    found = prov.forward(world.name("in"), [1], to=world.name("log")).table()
    assert found["related_row"].to_pylist() == [0, 1] and rules(found) == ["last step", "last step"]
    assert "does not exist" in versions_of(found)[1].why


def test_a_folder_that_may_not_be_listed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.step("one", "log", "a", [1])
    monkeypatch.setattr(os, "scandir", _denied)
    found = world.open().forward(world.name("in"), [1], to=world.name("log")).table()
    assert found["related_row"].to_pylist() == [0] and rules(found)[1] == "last step"
    assert "can't be listed: Permission denied" in str(versions_of(found)[1])


def _denied(path: str) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_failed_try_counts_as_long_as_its_files_are_there(world: World) -> None:
    world.step("one", "log", "a", [0], status="failed")
    assert world.ahead("log") == ["one:r0"]
    world.step("one", "log", "b", [1], try_number=2)
    assert world.ahead("log") == ["one:r0", "one:r1"]
    world.step("two", "log", "c", [2], removes=["a", "b"])
    assert world.ahead("log") == ["two:r2"]


def test_of_tasks_that_ran_at_one_time_the_last_listing_counts(tmp_path: Path) -> None:
    world = World(tmp_path / "mounted")
    world.step("slow", "log", "a", [0], times=(1, 9), map_index=0)
    world.step("quick", "log", "b", [1], times=(2, 3), map_index=1)
    assert world.open().forward(world.name("in"), to=world.name("log"), run="r1").table()["row"].to_pylist() == [0, 1]


def test_files_that_nobody_captured_are_a_stop(world: World) -> None:
    one = world.step("one", "log", "b", [0, 1])
    world.put("log", "a", ["x", "y", "z"])
    prov = world.open()

    def stops(table: pa.Table) -> list[tuple[str, str]]:
        return [(s.what, s.step) for s in stops_of(table)]

    found = prov.forward(world.name("in"), [0], to=world.name("log")).table()
    assert found["related_row"].to_pylist() == [0] and stops(found) == [("files", one)]
    assert "have written a" in stops_of(found)[0].why
    assert versions_of(found)[1].unknown == 1
    trusting = prov.forward(world.name("in"), [0], to=world.name("log"), trust=["files"]).table()
    assert stops(trusting) == [] and provspark.api.trusted_of(trusting)[0].what == "files"
    assert stops(prov.backward(world.name("log")).table()) == [("files", one)]
    assert stops(prov.backward(world.name("log"), [0]).table()) == []
    assert [s.what for s in prov.trace(world.name("in"), [0], "forward").stops] == ["files"]
    # A later step that lists the file does not make it known who wrote it.
    report = world.step("report", "report", "r", [0, 3], source="log")
    prov.refresh()
    found = prov.forward(world.name("in"), [0], to=world.name("log")).table()
    assert found["related_row"].to_pylist() == [3] and stops(found)[0][0] == "files"
    assert stops(prov.forward(world.name("in"), [1], to=world.name("report")).table()) == [("files", report)]
    assert stops(prov.forward(world.name("in"), [1]).table()) == [("files", report)]


def test_files_older_than_the_rows_and_files_of_sources_are_no_stop(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.put("log", "a", ["seed"])
    world.put("in", "b", ["r4"])
    (tmp_path / "in" / "a").unlink()
    world.step("one", "log", "b", [0])
    assert stops_of(world.open().forward(world.name("in"), to=world.name("log")).table()) == ()
    world.put("in", "c", ["not read yet"])
    found = world.open().forward(world.name("in")).table()
    assert stops_of(found) == () and versions_of(found)[0].unknown == 1


def test_rows_are_located_in_other_versions(world: World) -> None:
    world.step("one", "log", "b", [0, 1])
    first = identity(world.now("log"))
    world.step("two", "log", "a", [2, 3])
    prov, name = world.open(), world.name("log")
    was = prov.select(name, [1], version=first)
    now = prov.locate(was)
    assert (list(now), now.version, len(now.gone)) == ([3], identity(world.now("log")), 0)
    assert now.table().to_pylist() == [{"row": 1, "located": 3, "gone": False}]
    assert list(prov.locate(now, into=first)) == [1]
    back = prov.locate(name, [0, 3], into=first)
    assert back.table().to_pylist() == [
        {"row": 0, "located": None, "gone": True},
        {"row": 3, "located": 1, "gone": False},
    ]
    assert prov.values(now).table()["value"].to_pylist() == ["one:r1"]
    assert list(prov.backward(now).table()["related_row"].to_pylist()) == [1]
    with pytest.raises(ConditionError, match="locate"):
        was | now
    with pytest.raises(ConditionError, match="locate"):
        prov.values(was, version=now.version).table()
    world.step("three", "log", "c", [0], removes=["a", "b"])
    prov.refresh()
    gone = prov.locate(was)
    assert (len(gone), list(gone.gone), gone.gone.version) == (0, [1], first)


def test_values_take_an_answer_of_one_version(world: World) -> None:
    world.step("one", "log", "b", [0, 1])
    world.step("two", "report", "a", [1, 0], source="log")
    prov = world.open()
    answer = prov.forward(world.name("in"), [0], to=world.name("report"))
    assert prov.values(answer).table().equals(prov.values(answer.table()).table())
    assert prov.values(answer).table()["value"].to_pylist() == ["two:one:r0"]
    both = prov.forward(world.name("in"), [0], to=world.name("report")).table().to_pylist()
    assert both[0]["related_row"] == 1
    none = prov.forward(world.name("in"), [3], to=world.name("report")).table()
    with pytest.raises(ConditionError, match="no rows"):
        prov.values(none).table()
    world.step("three", "other", "a", [1], source="log")
    prov.refresh()
    with pytest.raises(ConditionError, match="rows of 2 versions"):
        prov.values(prov.forward(world.name("in"), [1]).table()).table()
    with pytest.raises(ArgumentError, match="Expected a RowSet, an Answer"):
        prov.locate([1])  # type: ignore[arg-type]


def test_a_file_that_versions_cut_into_rows_differently_is_refused(world: World) -> None:
    world.step("one", "log", "b", [0, 1])
    first = world.now("log", ["b"])
    world.put("log", "a", ["x"])
    files = world.now("log", ["a"]).files
    rows = np.where(np.array(files.paths) == "b", 1, files.rows)
    cut = PendingVersion(first.dataset, Files(files.paths, files.sizes, files.mtimes, rows, files.written), "text")
    world.publish("two", write(cut, [(world.now("in"), [(0, 3)])]))
    prov = world.open()
    found = prov.forward(world.name("in"), to=world.name("log")).table()
    assert found["row"].to_pylist() == [3] and [s.what for s in stops_of(found)] == ["unlinked"]
    with pytest.raises(ConditionError, match="can't be located in version"):
        prov.locate(prov.select(world.name("log"), [0], version=identity(first)))


def test_a_trace_draws_current_versions_and_what_leads_to_them(world: World) -> None:
    world.step("one", "tmp", "a", [0, 1])
    world.step("append", "log", "m", [1], source="tmp")
    world.step("two", "tmp", "b", [2], removes=["a"])
    world.step("append2", "log", "n", [0], source="tmp")
    found = world.open().trace(world.name("in"), None, "forward")
    drawn = [(Path(n.dataset).name, n.met.rows().tolist(), n.gone, n.role) for n in found.nodes]
    assert drawn == [
        ("in", [0, 1, 2, 3], False, "asked"),
        ("tmp", [0, 1], True, "between"),
        ("log", [0, 1], False, "end"),
        ("tmp", [0], False, "between"),
    ]
    ways = {(found.nodes[e.source].id, found.nodes[e.target].id) for e in found.edges}
    assert ways == {(0, 1), (1, 2), (0, 3), (3, 2)}
    assert found.gone == ()  # all of tmp was read; what a step did not keep is no result
    world.step("three", "tmp", "c", [3], removes=["b"])
    (world.root / "log" / "m").unlink()
    found = world.open().trace(world.name("in"), None, "forward")
    drawn = [(Path(n.dataset).name, n.met.rows().tolist(), n.gone) for n in found.nodes]
    assert drawn == [("in", [0, 1, 2, 3], False), ("tmp", [0], True), ("log", [1], False), ("tmp", [0], False)]
    assert [(g.step, g.rows) for g in found.gone] == [("", 1)]
    every = world.open().trace(world.name("in"), None, "forward", versions="all")
    assert [n.gone for n in every.nodes] == [False, True, True, True, False, False]


def test_an_older_version_asked_about_is_drawn_with_its_rows_now(world: World) -> None:
    world.step("one", "log", "b", [0, 1])
    first = identity(world.now("log"))
    world.step("two", "log", "a", [2])
    found = world.open().trace(world.name("log"), [1], "forward", version=first)
    assert [(n.version == first, n.met.rows().tolist()) for n in found.nodes] == [(True, [1]), (False, [2])]
    assert [(e.source, e.target, e.step) for e in found.edges] == [(0, 1, "")]


def test_a_step_that_appends_to_what_it_reads(world: World) -> None:
    world.step("one", "log", "a", [0, 1])
    world.step("again", "log", "b", [1], source="log")
    assert world.ahead("log", [1]) == ["one:r1", "again:one:r1"]
    prov = world.open()
    found = prov.trace(world.name("log"), [1], "forward")
    assert [(n.met.rows().tolist(), n.role) for n in found.nodes] == [([1], "asked"), ([2], "end")]
    assert {(e.source, e.target) for e in found.edges} == {(0, 1)}
    was = identity(world.now("log"))
    world.step("last", "log", "c", [3], removes=["b"])
    old = world.open().trace(world.name("log"), [1], "forward", version=was, versions="all")
    assert [(n.met.rows().tolist(), n.gone) for n in old.nodes] == [([1], False), ([1], False), ([2], True)]


def test_a_correspondence_takes_rows_of_another_version(world: World) -> None:
    world.step("one", "out", "a", [3, 1])
    world.put("in", "0", ["new"])
    prov = world.open()
    world.publish("reads", write(world.now("other"), [(world.now("in"), [])]))
    prov.refresh()
    chosen = prov.select(world.name("in"), where=[("value", "=", "r1")])
    assert list(chosen) == [2]
    assert list(prov.correspondence(world.name("out"), to=world.name("in")).using(chosen)) == [1]


def test_a_dataset_within_another_is_none_of_its_files(world: World) -> None:
    world.step("one", "out", "a", [0])
    world.step("nested", "out/sub", "x", [1])
    found = world.open().forward(world.name("in"), to=world.name("out")).table()
    assert stops_of(found) == () and rules(found) == ["disk", "disk"]


def test_hidden_files_and_links_between_folders(world: World) -> None:
    world.step("one", "out", "a", [0])
    for name in ("_SUCCESS", ".a.crc", "_temporary/0/x"):
        (world.root / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (world.root / "out" / name).write_text("x")
    (world.root / "out" / "p=1").symlink_to(world.root / "out", target_is_directory=True)
    found = listings.listing(Dataset.parse(world.name("out")))
    assert {path for path, *_ in found.files} >= {"a", "p=1/a"} and len(found.files) < 10


def test_a_user_learns_nothing_of_files_of_steps_that_are_hidden(world: World) -> None:
    world.step("one", "log", "b", [0, 1])
    world.step("secret", "log", "a", [2])
    prov = world.open().restricted(lambda m: m.key.task_id != "secret")
    found = prov.forward(world.name("in"), to=world.name("log")).table()
    assert found["row"].to_pylist() == [0, 1] and stops_of(found) == () and versions_of(found)[1].unknown == 0
    world.step("three", "log", "c", [3], removes=["b"])
    prov.refresh()
    found = prov.forward(world.name("in"), to=world.name("log")).table()
    assert found["row"].to_pylist() == [3] and stops_of(found) == ()


def table_of(keys: int, written: bool = True) -> PendingVersion:
    """A state of a database's table; the name of its one file stands for its keys."""
    files = Files.of([(f"keys-{keys}", 8 * keys, 0, keys, written)])
    return PendingVersion(Dataset("postgres://db:5432", "shop.scores"), files, "jdbc", (("keys", "id"),))


def test_rows_of_a_database_s_table_are_found_by_their_keys(world: World) -> None:
    source, name = world.now("in"), "postgres://db:5432/shop.scores"
    world.publish("one", write(table_of(2), [(source, [(0, 0), (1, 1)])]))
    before, after = table_of(2, False), table_of(3)
    # The new key comes first: the two older rows stand behind it.
    axes = (
        Axis("output", 3, identity(after)),
        Axis("input", 4, identity(source), 0),
        Axis("input", 2, identity(before), 1),
    )
    tensors = (
        PendingTensor(0, 1, from_pairs(np.array([0]), np.array([2]))),
        PendingTensor(0, 2, from_pairs(np.array([1, 2]), np.array([0, 1]))),
    )
    world.clock += 1
    world.publish("two", PendingWrite(after, "exact", (source, before), axes, tensors))
    prov = world.open()
    found = prov.forward(world.name("in"), to=name).table()
    assert [(x["row"], x["related_row"]) for x in found.to_pylist()] == [(0, 1), (1, 2), (2, 0)]
    assert gone_of(found) == () and rules(found)[1] == "last step"
    was = prov.select(name, [1], version=identity(before))
    assert list(prov.locate(was)) == [2]
    assert prov.locate(name, into=identity(before)).table()["located"].to_pylist() == [None, 0, 1]
    world.clock += 1
    three = world.publish("three", write(table_of(4), [(source, [(i, i) for i in range(4)])]))
    prov.refresh()
    found = prov.forward(world.name("in"), [0], to=name).table()
    assert [(x["row"], x["related_row"]) for x in found.to_pylist()] == [(0, 0)]
    assert [(g.step, g.rows) for g in gone_of(found)] == [(three, 1)]


def test_http_names_versions_and_sees_the_disk_change(world: World) -> None:
    from _http import BASE, client, id_of

    world.step("one", "log", "b", [0, 1])
    first = identity(world.now("log"))
    world.step("two", "log", "a", [1])
    api, source, log = client(world.root), id_of(world.root, "in"), id_of(world.root, "log")
    asked = {"dataset": source, "rows": [1], "direction": "forward"}

    def post(path: str, **body: Any) -> Any:
        answer = api.post(f"{BASE}{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    trace = post("/trace", **asked)
    assert [u["rule"] for u in trace["versions"]] == ["disk", "disk"] and trace["gone"] == []
    shown = post("/trace/rows", **asked, node=1)
    assert (shown["rows"], shown["values"]) == ([0, 2], [["two:r1"], ["one:r1"]])
    assert shown["version"] == identity(world.now("log")) == trace["nodes"][1]["version"]
    located = post("/locate", dataset=log, version=first, rows=[1, 0, 1])
    assert (located["rows"], located["gone"]) == ([2, 1, 2], 0)
    back = post("/locate", dataset=log, version=shown["version"], rows=[0, 2], into=first)
    assert (back["rows"], back["gone"], back["version"]) == ([None, 1], 1, first)
    (world.root / "log" / "b").unlink()
    trace = post("/trace", **asked)
    assert [g["rows"] for g in trace["gone"]] == [1] and trace["gone"][0]["step"] is None
    shown = post("/trace/rows", **asked, node=1)
    assert shown["values"] == [["two:r1"]]
    every = post("/trace", **asked, versions="all")
    assert sorted((n["rows"], n["gone"]) for n in every["nodes"][1:]) == [(1, False), (1, True)]
    detail = api.get(f"{BASE}/datasets/{log}").json()
    assert (detail["version"], detail["current"]["rule"], detail["current"]["missing"]) == (shown["version"], "disk", 1)
    assert detail["versions"][0]["version"] == detail["version"]


def test_http_tells_a_user_nothing_of_other_dags(world: World) -> None:
    from _http import BASE, client, id_of

    world.step("one", "log", "b", [0, 1])
    world.publish("hidden", write(world.now("other"), [(world.now("log"), [])]))
    hidden = StepKey("secret", "r9", "hidden")
    world.put("log", "a", ["x"])
    after = world.now("log", ["a"])
    writer = world.store.writer(hidden)
    writer.add(write(after, [(world.now("in"), [(0, 3)])]))
    clock = "2024-01-01T01:00:00.000000+00:00"
    writer.publish(status="succeeded", started=clock, ended=clock)
    api = client(world.root, dags=["dag"])
    body = {"dataset": id_of(world.root, "in"), "direction": "forward"}
    trace = api.post(f"{BASE}/trace", json=body).json()
    assert trace["stops"] == [] and [n["rows"] for n in trace["nodes"]] == [4, 2]
    assert {u["unknown"] for u in trace["versions"]} == {0} and "secret" not in str(trace)


def test_a_source_that_was_overwritten_in_place_is_not_taken_for_the_old_one(world: World) -> None:
    world.step("one", "log", "a", [0, 1])
    world.put("in", "a", ["x0", "x1", "x2"])
    prov = world.open()
    asked = prov.forward(world.name("in"), [0], to=world.name("log")).table()
    assert [s.what for s in stops_of(asked)] == ["files"] and "a of this version is missing or has changed" in str(
        stops_of(asked)
    )
    every = prov.forward(world.name("in"), to=world.name("log")).table()
    assert every.num_rows == 0 and [(g.dataset, g.rows) for g in gone_of(every)] == [(world.now("in").dataset.uri, 4)]


def test_all_rows_are_those_that_are_there(world: World) -> None:
    for task, file in (("one", "a"), ("two", "b"), ("three", "c")):
        world.step(task, "log", file, [1, 3])
    (world.root / "log" / "a").unlink()
    prov, name = world.open(), world.name("log")
    assert list(prov.select(name)) == [2, 3, 4, 5]
    assert prov.values(name).table()["value"].to_pylist() == ["two:r1", "two:r3", "three:r1", "three:r3"]
    assert list(prov.select(name, where=[("value", "like", "%r3")])) == [3, 5]
    found = prov.backward(name).table()
    assert found["row"].to_pylist() == [2, 3, 4, 5] and [g.rows for g in gone_of(found)] == [2]
    assert [g.rows for g in prov.trace(name).gone] == [2] and prov.trace(name).nodes[0].met.count == 4
    assert [s.what for s in stops_of(prov.backward(name, [0]).table())] == ["files"]
    assert [s.what for s in stops_of(prov.backward(name, where=[("value", "like", "%r3")]).table())] == ["files"]
    assert stops_of(prov.backward(name, [2]).table()) == ()


def test_where_nothing_is_left_the_newest_version_is_meant(world: World) -> None:
    world.step("one", "log", "b", [0, 1])
    world.step("two", "log", "a", [1])
    newest = identity(world.now("log"))
    shutil.rmtree(world.root / "log")
    assert versions_of(world.open().backward(world.name("log")).table())[0].version == newest
    assert len(world.open().select(world.name("log"))) == 0


def test_a_folder_that_is_written_partition_by_partition(world: World) -> None:
    world.step("d1", "out/day=1", "a", [0, 1])
    world.step("d2", "out/day=2", "a", [2])
    world.step("reads", "report", "x", [0, 2], source="out")
    again = world.step("d1", "out/day=1", "b", [3], removes=["a"], run="r2")
    prov = world.open()
    found = prov.forward(world.name("in"), [3], to=world.name("out")).table()
    assert [s.what for s in stops_of(found)] == ["files"]
    assert "day=1/b is in another captured version" in stops_of(found)[0].why
    every = prov.forward(world.name("in"), to=world.name("out")).table()
    assert [(g.step, g.rows) for g in gone_of(every)] == [(again, 2)]


def test_answers_are_put_together_with_what_is_gone(world: World) -> None:
    world.step("one", "log", "b", [0, 1])
    world.step("two", "log", "a", [2], removes=["b"])
    ask, source, log = world.open(), world.name("in"), world.name("log")
    every, first, second = (ask.forward(source, rows, to=log) for rows in (None, [0], [1]))
    assert [[g.rows for g in found.gone] for found in (every, first | second, every - first, every & first)] == [
        [2],
        [2],
        [1],
        [1],
    ]
    was = ask.forward(source, to=log, as_of="2024-01-01T00:02:00Z")
    with pytest.raises(ConditionError, match="with the same run and as_of"):
        every & was
    assert (was | was).table().equals(was.table())


def test_a_set_of_a_later_version_is_not_known_at_a_time_before(world: World) -> None:
    world.step("one", "log", "b", [0, 1])
    world.step("two", "log", "a", [2])
    prov = world.open()
    now = prov.select(world.name("log"))
    with pytest.raises(UnknownVersionError):
        prov.backward(now, as_of="2024-01-01T00:02:00Z").table()


def test_a_file_that_two_writes_claim_is_no_certain_answer(world: World) -> None:
    world.step("one", "log", "a", [0, 1])
    (world.root / "log" / "a").unlink()
    world.clock -= 1
    world.step("two", "log", "a", [2, 3])
    found = world.open().forward(world.name("in"), to=world.name("log")).table()
    assert {s.what for s in stops_of(found)} == {"unlinked"} and "more than one write" in stops_of(found)[0].why


def test_http_shows_and_exports_what_is_there(world: World) -> None:
    from _http import BASE, client, id_of

    for task, file in (("one", "a"), ("two", "b")):
        world.step(task, "log", file, [1, 3])
    (world.root / "log" / "a").unlink()
    api, log = client(world.root), id_of(world.root, "log")
    shown = api.get(f"{BASE}/datasets/{log}/rows").json()
    assert (shown["rows"], shown["values"]) == ([2, 3], [["two:r1"], ["two:r3"]])
    some = api.get(f"{BASE}/datasets/{log}/rows", params={"where": "value like '%r3'"}).json()
    assert (some["rows"], some["values"]) == ([3], [["two:r3"]])
    lines = api.get(f"{BASE}/datasets/{log}/export").text.splitlines()
    assert lines == [
        "provspark_row,value,provspark_version",
        *(f"{i},two:r{r},{shown['version']}" for i, r in ((2, 1), (3, 3))),
    ]


def test_http_refuses_rows_of_a_trace_that_has_changed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from _http import BASE, client, id_of

    monkeypatch.setattr("provspark.web.source._FRESH", -1.0)
    world.step("one", "log", "b", [0, 1])
    api, asked = client(world.root), {"dataset": id_of(world.root, "in"), "rows": [0], "direction": "forward"}
    node = api.post(f"{BASE}/trace", json=asked).json()["nodes"][1]
    body = {**asked, "node": 1, "node_version": node["version"]}
    assert api.post(f"{BASE}/trace/rows", json=body).json()["rows"] == [0]
    world.step("two", "log", "a", [3])
    refused = api.post(f"{BASE}/trace/rows", json=body)
    assert refused.status_code == 409 and "Request the trace again" in refused.json()["detail"]
    exported = api.post(f"{BASE}/trace/export", json=asked, params={"node": 1, "node_version": node["version"]})
    assert exported.status_code == 409


def test_a_disk_is_looked_at_again(tmp_path: Path) -> None:
    world = World(tmp_path / "mounted")
    world.step("one", "log", "a", [1])
    shutil.copytree(world.root / "prov", tmp_path / "prov")
    shutil.rmtree(world.root)
    prov = provspark.open(str(tmp_path / "prov"))

    def found() -> tuple[int, list[str]]:
        answer = prov.forward(world.name("in"), [1], to=world.name("log")).table()
        return answer.num_rows, rules(answer)

    assert found() == (1, ["last step", "last step"])
    (world.root / "in").mkdir(parents=True)
    assert found() == (0, ["disk", "disk"])  # a neighbour is there: this dataset was removed


def test_a_folder_that_went_from_within_a_dataset_was_removed(world: World) -> None:
    """The dataset around it is there, so the disk is: its rows are gone, not those of the last step."""
    world.step("one", "log", "a", [0])
    world.step("two", "log/day=1", "b", [1, 2])
    day = world.name("log/day=1")
    assert rules(world.open().forward(world.name("in"), [1], to=day).table()) == ["disk", "disk"]
    shutil.rmtree(day)
    (world.root / "log" / "a").unlink()  # an empty dataset is there as well
    answer = world.open().forward(world.name("in"), [1, 2], to=day).table()
    assert (answer.num_rows, rules(answer), [g.rows for g in gone_of(answer)]) == (0, ["disk", "disk"], [2])


def test_a_file_that_was_put_back_beside_newer_ones(world: World) -> None:
    world.step("one", "log", "a", [0, 1])
    first = identity(world.now("log"))
    kept = world.root / "kept"
    shutil.copy2(world.root / "log" / "a", kept)
    world.step("two", "log", "b", [2], removes=["a"])
    shutil.copy2(kept, world.root / "log" / "a")
    found = world.open().forward(world.name("in"), [0, 2], to=world.name("log")).table()
    told = [(x["row"], x["version"] == first, x["related_row"]) for x in found.to_pylist()]
    assert told == [(0, True, 0), (2, False, 0)] and gone_of(found) == ()
    assert [s.what for s in stops_of(found)] == ["files"]
    assert "in another captured version, but not in the current one" in stops_of(found)[0].why


def test_a_source_that_each_run_reads_a_part_of(world: World) -> None:
    for day in (1, 2):
        world.put("days", f"day={day}/x", [f"d{day}"])
    for day in (1, 2):
        part = world.now("days", only=f"day={day}/")
        world.put("log", f"f{day}", [f"of d{day}"])
        at = world.now("log", [f"f{day}"])
        first = int(at.files.bases[at.files.paths.index(f"f{day}")])
        world.publish(f"day{day}", write(at, [(part, [(first, 0)])]))
    found = world.open().forward(world.name("days"), to=world.name("log")).table()
    assert found.num_rows == 1 and [s.what for s in stops_of(found)] == ["files"]


def test_a_trace_shows_where_rows_ended_in_what_was_overwritten_since(world: World) -> None:
    world.step("one", "mid", "a", [0, 1])
    two = world.step("two", "out", "x", [0], source="mid")
    world.step("three", "mid", "b", [3], removes=["a"])
    found = world.open().trace(world.name("in"), [1], "forward")
    assert [(Path(n.dataset).name, n.met.rows().tolist(), n.gone) for n in found.nodes] == [
        ("in", [1], False),
        ("mid", [1], True),
    ]
    assert [(e.step, e.read, e.kept, e.node) for e in found.endings if e.step == two] == [(two, 1, 0, 1)]


def test_a_table_that_was_read_in_a_newer_state(world: World) -> None:
    source, name = world.now("in"), "postgres://db:5432/shop.scores"
    world.publish("one", write(table_of(2), [(source, [(0, 0), (1, 1)])]))
    world.clock += 1
    world.publish("reads", write(world.now("report"), [(table_of(5, False), [])]))
    found = world.open().forward(world.name("in"), [0], to=name).table()
    assert found.num_rows == 1 and [s.what for s in stops_of(found)] == ["files"]
    assert "step dag-reads" in stops_of(found)[0].why and "read a state of the table" in stops_of(found)[0].why
    used = versions_of(found)[1]
    assert (used.rule, used.why, used.unknown) == ("last step", "", 1)
    assert "last successful step; the table changed later: 1 step read another state of it)" in str(used)


def test_a_user_of_some_dags_learns_nothing_of_strange_files(world: World) -> None:
    world.step("one", "log", "b", [0, 1])
    world.step("secret", "log", "team=x/a", [2])
    secret = world.root / "log" / "team=x" / "a"
    os.utime(secret, ns=(10**18, 10**18))
    prov = world.open().restricted(lambda m: m.key.task_id != "secret")
    for found in (
        prov.forward(world.name("in"), to=world.name("log")).table(),
        prov.backward(world.name("log")).table(),
    ):
        assert stops_of(found) == () and all(not used.unknown for used in versions_of(found))


def test_a_run_s_own_step_removed_what_another_run_wrote(world: World) -> None:
    world.step("fill", "mid", "a", [0, 1], run="r1")
    first = identity(world.now("mid"))
    world.step("report", "report", "x", [0], source="mid", run="r2")
    fill = world.step("fill", "mid", "b", [2], removes=["a"], run="r2")
    found = world.open().forward(world.name("mid"), [1], version=first, run="r2", to=world.name("mid")).table()
    assert found.num_rows == 0
    located = world.open().trace(world.name("in"), [0], "forward", run="r1")
    assert located.gone == () and world.gone("mid", [0]) == [(fill, 1)]


def test_rows_may_come_back_by_a_file_of_nobody_s(world: World) -> None:
    world.step("one", "report", "a", [0])
    world.put("mid", "y", ["captured"])
    world.publish("mid", write(world.now("mid", ["y"]), [(world.now("in"), [(0, 3)])]))
    world.put("mid", "x", ["of the report"])
    world.step("two", "report", "b", [0], source="mid")
    found = world.open().forward(world.name("report"), [0], to=world.name("report")).table()
    assert [s.what for s in stops_of(found)] == ["files"]


def test_rows_that_were_written_under_a_folder_s_name_are_rows_of_the_dataset(world: World) -> None:
    world.step("one", "out/day=1", "a", [0, 1])
    world.step("two", "out", "day=2/a", [2])
    found = world.open().forward(world.name("in"), to=world.name("out")).table()
    assert [(x["row"], x["related_row"]) for x in found.to_pylist()] == [(0, 0), (1, 1), (2, 2)]
    assert world.ahead("out", [1]) == ["one:r1"] and stops_of(found) == ()
    part = world.open().forward(world.name("in"), [2], to=world.name("out/day=1")).table()
    assert part.num_rows == 0


def test_a_folder_that_went_with_the_one_above(world: World) -> None:
    world.step("one", "out/day=1", "a", [0])
    shutil.rmtree(world.root / "out")
    assert world.ahead("out/day=1") == [] and world.gone("out/day=1") == [("", 1)]


def test_a_table_does_not_tell_which_of_two_numberings_is_meant(world: World) -> None:
    files = world.now("in")
    cut = PendingVersion(files.dataset, files.files, "csv", (("header", "true"),), files.fields)
    plain = PendingVersion(files.dataset, files.files, "csv", (("header", "false"),), files.fields)
    world.put("one", "a", ["x"])
    world.publish("one", write(world.now("one", ["a"]), [(cut, [(0, 1)])]))
    world.put("two", "a", ["y"])
    world.publish("two", write(world.now("two", ["a"]), [(plain, [(0, 1)])]))
    prov = world.open()
    with pytest.raises(ConditionError, match="was read with different options"):
        prov.locate(prov.backward(world.name("one")).table())
    assert len(prov.backward(world.name("one")).found()[0]) == 1


def test_http_tells_siblings_that_are_gone(world: World) -> None:
    from _http import BASE, client, id_of

    world.step("one", "log", "b", [0, 0])
    world.step("two", "log", "a", [1], removes=["b"])
    first = (
        world.open().forward(world.name("in"), [0], to=world.name("log"), versions="all").table()["version"][0].as_py()
    )
    api, log, source = client(world.root), id_of(world.root, "log"), id_of(world.root, "in")
    body = {"dataset": log, "version": first, "rows": [0], "relation": "siblings", "to": log, "via": source}
    found = api.post(f"{BASE}/sideways", json=body).json()
    assert [(f["rows"], f["gone"], f["version"] == first) for f in found] == [(1, True, True)]


def test_an_export_keeps_a_column_that_is_called_like_its_own(world: World) -> None:
    from _http import BASE, client, id_of

    named = world.now("in")
    fields = (Field("provspark_version", "string"),)
    source = PendingVersion(named.dataset, named.files, "text", fields=fields)
    world.publish("one", write(world.now("log"), [(source, [])]))
    text = client(world.root).get(f"{BASE}/datasets/{id_of(world.root, 'in')}/export").text
    assert text.splitlines()[0] == "provspark_row,provspark_version,provspark_version_"
