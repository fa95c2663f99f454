"""Collecting old steps: what is asked for stays, with all that it needs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from _steps import identity, publish, read, version, write

import provspark
from provspark.errors import SettingsError, StepRemovedError, StoreWriteError, UnknownStepError
from provspark.index_store.store.gc import GcPlan, Keep, collect, plan
from provspark.index_store.store.leftovers import sweep
from provspark.index_store.store.store import Store
from provspark.model.steps import StepKey

RAW = version("/raw", {"r.csv": 4})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "store"), create=True)


def chain(store: Store, run: str, second: int) -> tuple[str, str]:
    """Two steps of a run: clean writes what report reads. Both end so many seconds after the hour."""
    clean = version("/clean", {f"{run}.parquet": 3}, {f"{run}.parquet"})
    report = version("/report", {f"{run}.parquet": 1}, {f"{run}.parquet"})
    made = []
    for task, pending in (
        ("clean", write(clean, [(RAW, [(0, 0), (1, 2), (2, 3)])])),
        ("report", write(report, [(read(clean), [(0, 0), (0, 2)])])),
    ):
        writer = store.writer(StepKey(task, run, "dag"))
        writer.add(pending)
        clock = f"2024-01-01T00:00:{second:02d}.000000+00:00"
        made.append(writer.publish(status="succeeded", started=clock, ended=clock).step)
    return made[0], made[1]


def names(found: GcPlan) -> tuple[set[str], set[str], list[str]]:
    return {m.step for m in found.kept}, {m.step for m in found.needed}, [m.step for m in found.removed]


def test_the_last_runs_of_each_dag_stay(store: Store) -> None:
    runs = [chain(store, f"r{i}", i) for i in range(5)]
    alone = store.writer(StepKey("alone", "r", ""))
    alone.add(write(version("/x", {"x": 1}, {"x"})))
    other = alone.publish(status="failed", started="2001", ended="2001").step
    kept, needed, removed = names(plan(store, Keep(runs=2)))
    assert kept == {*runs[3], *runs[4], other}
    assert needed == set()
    assert sorted(removed) == sorted([*runs[0], *runs[1], *runs[2]])
    collect(store, Keep(runs=2))
    assert set(store.steps()) == kept
    assert set(Store.open(store.url).steps()) == kept
    assert provspark.open(store.url).backward("/report", rows=[0]).table()["related_row"].to_pylist() == [0, 3]


def test_nothing_goes_that_a_kept_step_read_or_still_holds(store: Store) -> None:
    first = publish(store, "first", write(version("/a", {"1": 2}, {"1"}), [(RAW, [(0, 0)])]))
    append = publish(store, "append", write(version("/a", {"1": 2, "2": 1}, {"2"}), [(RAW, [(2, 1)])]))
    unread = publish(store, "unread", write(version("/b", {"1": 2}, {"1"})))
    part = publish(store, "part", write(version("/c", {"1": 1}, {"1"}), [(version("/a", {"2": 1}), [(0, 0)])]))
    assert names(plan(store, Keep(steps=(part.step,)))) == ({part.step}, {append.step, first.step}, [unread.step])
    assert names(plan(store, Keep(steps=(append.step,))))[1] == {first.step}
    assert names(plan(store, Keep(steps=(first.step,))))[1] == set()


def test_steps_go_before_those_that_they_need(store: Store) -> None:
    made = []
    before = RAW
    for i in range(6):
        after = version(f"/d{i}", {"f": 3}, {"f"}, mtime=i)
        made.append(publish(store, f"t{i}", write(after, [(before, [(0, 0)])])).step)
        before = read(after)
    assert names(plan(store, Keep(runs=0)))[2] == made[::-1]
    removed = []

    def stop(manifest: object) -> None:
        removed.append(manifest)
        if len(removed) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(store, Keep(runs=0), stop)
    assert set(store.steps()) == set(made[:3])


def test_since_takes_dates_and_times_and_says_what_it_can_not_read(store: Store) -> None:
    runs = [chain(store, f"r{i}", i) for i in range(3)]
    for since, kept in (("2024-01-01", runs), ("2024-01-01T01:00:01+01:00", runs[1:]), ("2024-01-02", [])):
        assert names(plan(store, Keep(since=since)))[0] == {s for run in kept for s in run}
    with pytest.raises(SettingsError, match="is not a time"):
        plan(store, Keep(since="yesterday"))
    with pytest.raises(SettingsError, match="Nothing is selected"):
        Keep()
    with pytest.raises(UnknownStepError):
        plan(store, Keep(steps=("none",)))


def test_a_clock_that_went_back_removes_nothing_that_is_needed(store: Store) -> None:
    early, late = chain(store, "early", 50), chain(store, "late", 10)
    assert set(names(plan(store, Keep(steps=(late[1],))))[1]) == {late[0]}
    assert set(names(plan(store, Keep(runs=1)))[0]) == set(early)
    # The step that ended "before" what it read still needs it.
    clean = version("/z", {"f": 2}, {"f"})
    producer = publish(store, "producer", write(clean))
    writer = store.writer(StepKey("consumer", "run", "dag"))
    writer.add(write(version("/y", {"f": 2}, {"f"}), [(read(clean), [(0, 1)])]))
    back = "1999-01-01T00:00:00.000000+00:00"
    consumer = writer.publish(status="succeeded", started=back, ended=back)
    assert names(plan(store, Keep(steps=(consumer.step,))))[1] == {producer.step}


def test_a_reader_that_races_is_told_that_the_step_was_removed(store: Store) -> None:
    (step, _) = chain(store, "r", 1)
    manifest = store.manifest(step)
    written = manifest.writes[0]
    opened = store.tensor(step, written.tensors[0], "out")
    unread = Store.open(store.url)
    unread.manifests()
    prov = provspark.open(store.url)
    collect(Store.open(store.url), Keep(runs=0))
    for act in (
        lambda: opened.lookup(np.array([0]), np.array([1])),
        lambda: unread.files(step, written.output),
        lambda: unread.tensor(step, written.tensors[0], "out"),
        lambda: prov.backward("/clean", rows=[0]).table(),
    ):
        with pytest.raises(StepRemovedError, match=r"was removed from .*Ask again"):
            act()
    prov.refresh()
    assert prov.datasets().table().num_rows == 0


def test_leftovers_go_once_they_are_old_and_never_a_listed_file(store: Store, tmp_path: Path) -> None:
    step, _ = chain(store, "r", 1)
    root = tmp_path / "store"
    left = root / "steps" / step / "tensors" / "0-0-deadbeef.out.parquet"
    left.write_bytes(b"x")
    lost = root / "steps" / "gone-1" / "versions" / "x.parquet"
    lost.parent.mkdir(parents=True)
    lost.write_bytes(b"x")
    begun = store.writer(StepKey("begun", "r"))
    before = sorted(p for p in root.rglob("*"))
    assert sweep(store, 3600) == []
    assert len(sweep(store, 0, dry_run=True)) == 2
    assert sorted(p for p in root.rglob("*")) == before
    for path in (left, lost):
        os.utime(path, (0, 0))
    assert sweep(store, 3600) == sorted(str(p.relative_to(root)) for p in (left, lost))
    assert not lost.parent.parent.exists()
    assert provspark.open(store.url).backward("/clean", rows=[1]).table()["related_row"].to_pylist() == [2]
    begun.add(write(version("/q", {"f": 1}, {"f"})))
    begun.publish(status="succeeded", started="2024", ended="2024")


def test_two_collections_at_once_do_no_harm(store: Store) -> None:
    for i in range(4):
        chain(store, f"r{i}", i)
    other = Store.open(store.url)
    planned = plan(other, Keep(runs=1))
    collect(store, Keep(runs=1))
    for manifest in planned.removed:
        other.remove(manifest.step)
    assert len(store.steps()) == 2


def test_a_store_that_can_not_be_written_keeps_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [s for i in range(2) for s in chain(store, f"r{i}", i)]

    def refuse(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        with pytest.raises(StoreWriteError, match="Input/output error"):
            collect(store, Keep(runs=0))
    assert store.steps() == sorted(steps)
    assert identity(RAW) == store.manifest(steps[0]).writes[0].inputs[0].id
