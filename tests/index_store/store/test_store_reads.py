"""Reads on the driver in a store: what is refused, and what stays of them after damage, kills and collection."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _steps import version, write

from provspark.errors import CorruptIndexError, InvalidWriteError
from provspark.index_store.store import manifest as manifests
from provspark.index_store.store.gc import Keep, plan
from provspark.index_store.store.notes import load_note
from provspark.index_store.store.repair import repair
from provspark.index_store.store.store import Store
from provspark.index_store.store.verification import verify
from provspark.index_store.store.writer import StepWriter
from provspark.model.boxes import Boxes
from provspark.model.driver_datasets import driver_version
from provspark.model.operations import Operation, Operations
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import Manifest, StepKey, Task
from provspark.model.writes import Axis, Write

KEY = StepKey("clean", "run", "dag")
RAW = version("/raw", {"r.csv": 30})
OUT = version("/out", {"o": 4}, {"o"})
CLOCK = "2024-01-01T00:00:00.000000"
DAG = (Task("load", "SparkSubmitOperator"), Task("clean", "ProvSparkOperator", ("load",)))
FORMAT_2 = Path(__file__).parents[1] / "fixtures" / "format-2" / "store"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "store"), create=True)


def read(call: int, rows: int, source: PendingVersion = RAW, *, read_at: int = 0, before: int = -1) -> PendingWrite:
    """A read of the first rows of a source; it has an axis of so many rows read before where that is not negative."""
    output = driver_version(KEY.id, call, "clean.py:3", rows, read_at=read_at)
    pending = write(output, [(source, [(k, k) for k in range(rows)])])
    if before >= 0:
        tensor = PendingTensor(0, 2, whole(rows, before), "possible")
        pending = replace(pending, axes=(*pending.axes, Axis("reads", before)), tensors=(*pending.tensors, tensor))
    return replace(pending, action="DataFrame.collect", site="clean.py:3")


def after(rows: int, output: PendingVersion = OUT) -> PendingWrite:
    """A write that may hold any of so many rows that were read."""
    axes = (Axis("output", output.files.total, output.files.identity(output.dataset)), Axis("reads", rows))
    tensor = PendingTensor(0, 1, whole(output.files.total, rows), "possible")
    return PendingWrite(output, "exact", (), axes, (tensor,))


def whole(n_out: int, n_src: int) -> Boxes:
    if not n_src:
        return Boxes.empty()
    return Boxes(*(np.array([n]) for n in (0, n_out, 0, n_src)), np.array([False]))


def begin(store: Store, *, read_at: int = 0) -> StepWriter:
    writer = store.writer(KEY, driver_reads="on", dag=DAG)
    writer.add_read(read(0, 5, read_at=read_at))
    writer.add_read(read(1, 3, before=5, read_at=read_at))
    writer.add_read(read(2, 2, read_at=read_at))
    writer.add(after(10))
    return writer


def end(writer: StepWriter) -> Manifest:
    return writer.publish(status="succeeded", started=CLOCK, ended=CLOCK)


def where(store: Store, path: str = "manifest.json") -> Path:
    return Path(store.url.removeprefix("file://")) / "steps" / KEY.id / path


def damage(path: Path) -> None:
    path.write_bytes(b"x" + path.read_bytes()[1:])


def test_reads_come_back(store: Store) -> None:
    made = end(begin(store))
    manifest = Store.open(store.url).manifest(KEY.id)
    assert manifest == made
    assert (manifest.driver_reads, manifest.dag) == ("on", DAG)
    assert [(r.index, r.action, r.output.rows) for r in manifest.reads] == [
        (0, "DataFrame.collect", 5),
        (1, "DataFrame.collect", 3),
        (2, "DataFrame.collect", 2),
    ]
    assert len({r.output.id for r in manifest.reads}) == 3
    assert [t.kind for t in manifest.reads[1].tensors] == ["data", "possible"]
    assert verify(store) == []


def test_what_publish_is_given_counts_more_than_what_the_step_began_with(store: Store) -> None:
    writer = begin(store)
    made = writer.publish(status="succeeded", started=CLOCK, ended=CLOCK, driver_reads="off", dag=DAG[:1])
    assert (made.driver_reads, made.dag) == ("off", DAG[:1])


def test_a_read_makes_a_version_on_the_driver(store: Store) -> None:
    with pytest.raises(InvalidWriteError, match=r"must be in memory://driver, not file:///out"):
        store.writer(KEY).add_read(write(OUT, [(RAW, [(0, 0)])]))


@pytest.mark.parametrize("late", [lambda w: w.add(after(9)), lambda w: w.add_read(read(2, 1, before=9))])
def test_an_axis_of_reads_has_only_what_was_read_before(store: Store, late: Callable[[StepWriter], Write]) -> None:
    writer = store.writer(KEY)
    writer.add_read(read(0, 5))
    writer.add_read(read(1, 3))
    with pytest.raises(InvalidWriteError, match="has 9 rows of reads, but 8 were read before"):
        late(writer)
    writer.add_read(read(2, 1))
    late(writer)


def resealed(store: Store, change: Callable[[Any], None]) -> None:
    body = json.loads(where(store).read_bytes())["body"]
    change(body)
    where(store).write_bytes(manifests.sealed(body["format_version"], manifests._canonical(body)))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["writes", 0, "axes", 1, "size"], 11, "write 0 has a reads axis with a version, or not of 0 to 10 rows"),
        (["reads", 1, "axes", 2, "size"], 6, "read 1 has a reads axis with a version, or not of 0 to 5 rows"),
        (["reads", 1, "axes", 2, "size"], -1, "read 1 has a reads axis with a version, or not of"),
        (["reads", 0, "axes", 1, "version"], "f", "read 0 has an axis of a version that is not its own"),
        (["reads", 0, "tensors", 0, "src"], 7, "read 0 has a tensor between axes that do not exist"),
        (["reads", 0, "tensors", 0, "by_out"], "tensors/none", "read 0 names files that the manifest does not list"),
        (["reads", 0, "output", "files"], "", "read 0 names files that the manifest does not list"),
        (["reads", 0, "tensors", 0, "kind"], "certain", r"reads\[0\].tensors\[0\].kind is 'certain', not one of"),
        (["driver_reads"], "yes", "driver_reads is 'yes', not one of"),
        (["reads", 0, "output", "unit"], "page", "unit is 'page', not one of row, file"),
        (["dag", 0, "upstream"], "load", r"dag\[0\].upstream is a string, not a list"),
    ],
)
def test_manifests_whose_reads_contradict_themselves_are_refused(
    store: Store, path: list[Any], value: object, said: str
) -> None:
    end(begin(store))

    def change(body: Any) -> None:
        for key in path[:-1]:
            body = body[key]
        body[path[-1]] = value

    resealed(store, change)
    with pytest.raises(CorruptIndexError, match=said):
        store.manifest(KEY.id)


def test_an_axis_of_reads_has_no_version(store: Store) -> None:
    end(begin(store))

    def change(body: Any) -> None:
        body["writes"][0]["axes"][1]["version"] = body["writes"][0]["output"]["id"]

    resealed(store, change)
    with pytest.raises(CorruptIndexError, match="a reads axis with a version"):
        store.manifest(KEY.id)


def test_verify_tells_reads_from_writes(store: Store) -> None:
    end(begin(store))

    def change(body: Any) -> None:
        body["reads"][1]["tensors"][0]["edges"] = 4

    resealed(store, change)
    (problem,) = verify(store)
    assert (problem.read, problem.write) == (1, -1)
    assert "read 1, tensor 0: 1 boxes of 3 edges; the manifest says 1 of 4" in str(problem)


def test_a_damaged_read_stays_in_its_place_as_untracked(store: Store) -> None:
    before = end(begin(store))
    where(store, before.reads[1].tensors[0].by_out).unlink()
    assert [r.action for r in repair(Store.open(store.url))] == ["untracked"]
    mended = Store.open(store.url).manifest(KEY.id)
    read = mended.reads[1]
    assert (read.coverage, read.tensors, read.output) == ("untracked", (), before.reads[1].output)
    assert (read.action, read.site) == ("DataFrame.collect", "clean.py:3")
    assert "is lost" in str(read.reason)
    assert (mended.reads[0], mended.reads[2]) == (before.reads[0], before.reads[2])
    assert (mended.writes, mended.untracked) == (before.writes, ())
    assert verify(Store.open(store.url)) == []


def test_what_does_not_fit_in_a_read_makes_it_untracked(store: Store) -> None:
    end(begin(store))

    def change(body: Any) -> None:
        body["reads"][0]["tensors"][0]["edges"] = 4

    resealed(store, change)
    assert [r.action for r in repair(Store.open(store.url))] == ["untracked"]
    assert [r.coverage for r in Store.open(store.url).manifest(KEY.id).reads] == ["untracked", "exact", "exact"]


@pytest.mark.parametrize("read_at", [0, 1_700_000_000_000])
def test_a_read_whose_list_of_files_is_lost_keeps_its_rows_and_its_edges(store: Store, read_at: int) -> None:
    before = end(begin(store, read_at=read_at))
    damage(where(store, before.reads[1].output.files))
    assert [r.action for r in repair(Store.open(store.url))] == ["restored"]
    opened = Store.open(store.url)
    mended = opened.manifest(KEY.id)
    read = mended.reads[1]
    assert (read.coverage, read.output.rows, read.tensors) == ("exact", 3, before.reads[1].tensors)
    assert (read.output.id == before.reads[1].output.id) is (read_at == 0)
    assert opened.files(KEY.id, read.output).rows.tolist() == [3]
    assert (mended.reads[0], mended.reads[2]) == (before.reads[0], before.reads[2])
    assert mended.writes == before.writes
    assert verify(opened) == []
    assert repair(opened) == []


def test_a_killed_step_is_published_with_what_its_driver_read(store: Store) -> None:
    begin(store)
    store.writer(KEY)
    (done,) = repair(Store.open(store.url), [KEY.id])
    assert "sealed writes: 1, reads: 3;" in done.what
    manifest = store.manifest(KEY.id)
    assert (manifest.status, len(manifest.writes), len(manifest.reads)) == ("failed", 1, 3)
    assert (manifest.driver_reads, manifest.dag) == ("on", DAG)
    assert verify(store) == []


def test_a_step_that_an_older_version_began_is_published_in_its_format(store: Store) -> None:
    store.writer(KEY).add(write(OUT, [(RAW, [(0, 1)])]))
    (path,) = where(store, "taps").glob("*.json")
    new = {"reads", "driver_reads", "dag", "attempt", "call", "action", "single", "unit", "format_version"}
    body = manifests._without(json.loads(path.read_bytes())["body"], frozenset(new))
    path.write_bytes(manifests.sealed(2, manifests._canonical(body)))
    assert load_note(path.read_bytes(), "note").format_version == 2
    repair(Store.open(store.url), [KEY.id])
    assert store.manifest(KEY.id).format_version == 2
    assert new & {*json.loads(where(store).read_bytes())["body"]} == {"format_version"}
    assert verify(store) == []


def test_a_step_of_format_2_is_mended_in_its_format(tmp_path: Path) -> None:
    shutil.copytree(FORMAT_2, tmp_path / "store")
    store = Store.open(str(tmp_path / "store"))
    (step,) = [m for m in store.manifests() if m.writes[0].operations]
    root = tmp_path / "store" / "steps" / step.step
    damage(root / step.writes[0].tensors[0].by_out)
    damage(root / step.writes[0].operations)
    repair(store)
    mended = Store.open(store.url).manifest(step.step)
    assert (mended.format_version, mended.driver_reads, mended.writes[0].operations) == (2, "", "")
    assert mended.writes[0].tensors[0] != step.writes[0].tensors[0]
    assert b'"reads"' not in (root / "manifest.json").read_bytes()
    assert verify(Store.open(store.url)) == []


def test_lost_operations_are_dropped_and_kept_ones_stay(store: Store) -> None:
    writer = store.writer(KEY)
    operations = Operations((Operation(0, "LogicalRelation", ("source",), "read /raw"),))
    for name in ("a", "b", "c"):
        output = version(f"/{name}", {name: 1}, {name})
        writer.add(replace(write(output, [(RAW, [(0, 1)])]), operations=operations))
    before = end(writer)
    damage(where(store, before.writes[0].operations))
    damage(where(store, before.writes[1].tensors[0].by_out))
    assert sorted(r.action for r in repair(Store.open(store.url))) == ["dropped", "untracked"]
    opened = Store.open(store.url)
    mended = opened.manifest(KEY.id)
    assert [w.coverage for w in mended.writes] == ["exact", "untracked", "exact"]
    assert [opened.operations(KEY.id, w) for w in mended.writes] == [None, None, operations]
    assert verify(opened) == []


def test_what_a_kept_step_read_on_its_driver_stays(store: Store) -> None:
    made = version("/made", {"m": 4}, {"m"})
    maker = store.writer(StepKey("maker", "run", "dag"))
    maker.add(write(made, [(RAW, [(0, 0)])]))
    end(maker)
    reader = store.writer(KEY)
    reader.add_read(read(0, 2, version("/made", {"m": 4})))
    kept = end(reader)
    found = plan(store, Keep(steps=(kept.step,)))
    assert ([m.step for m in found.needed], found.removed) == ([StepKey("maker", "run", "dag").id], ())


def test_a_file_that_is_counted_later_has_both_versions(store: Store) -> None:
    """A script that writes a file with pandas, and then reads it with Spark."""
    uncounted = replace(version("/made", {"m": 1}, {"m"}), unit="file")
    counted = version("/made", {"m": 4})
    writer = store.writer(KEY)
    writer.add(write(uncounted))
    writer.add(write(OUT, [(counted, [(k, k) for k in range(4)])]))
    first, second = end(writer).writes
    assert (first.output.id, first.output.rows, first.output.unit) == (second.inputs[0].id, 1, "file")
    assert (second.inputs[0].rows, second.inputs[0].unit) == (4, "row")
    assert store.files(KEY.id, second.inputs[0]).rows.tolist() == [4]
    assert verify(store) == []


def test_an_attempt_is_a_step_of_its_own() -> None:
    keys = [replace(KEY, attempt=n) for n in range(3)]
    assert len({k.id for k in keys}) == 3
    assert KEY.id == StepKey("clean", "run", "dag", -1, 1).id


def test_a_call_is_a_step_of_its_own_and_older_steps_keep_their_names(store: Store) -> None:
    """The names are those of steps in stored examples, which knew of no calls."""
    assert StepKey("again", "run", "dag", 3, 2).id == "dag-again-56a87dac0b3afa10"
    assert StepKey("reading", "run", "dag", attempt=2).id == "dag-reading-aa669bd89c2fc0ff"
    keys = [KEY, replace(KEY, call="job-1"), replace(KEY, call="2"), replace(KEY, attempt=2)]
    assert len({k.id for k in keys}) == 4
    assert keys[1].id.startswith("dag-clean-job-1-")
    for key in keys:
        end(store.writer(key))
    assert {m.key for m in Store.open(store.url).manifests()} == set(keys)
    assert verify(store) == []


def test_equal_boxes_of_reads_share_a_file(store: Store) -> None:
    writer = store.writer(KEY)
    for call in range(4):
        pending = read(call, 1)
        axes, (tensor,) = pending.axes, pending.tensors
        boxes = whole(1, 30 if call else 29)
        writer.add_read(replace(pending, axes=axes, tensors=(replace(tensor, boxes=boxes),)))
    manifest = end(writer)
    assert len({r.tensors[0].by_out for r in manifest.reads}) == 2
    assert sum(f.path.startswith("tensors/") for f in manifest.files) == 2
    assert [r.tensors[0].edges for r in manifest.reads] == [29, 30, 30, 30]
    assert verify(store) == []


def test_a_note_that_grew_is_what_one_written_whole_would_be(store: Store) -> None:
    begin(store)
    (path,) = where(store, "taps").glob("*.json")
    note = load_note(path.read_bytes(), "note")
    assert (len(note.reads), len(note.writes)) == (3, 1)
    assert path.read_bytes() == manifests.seal(note.format_version, note)
