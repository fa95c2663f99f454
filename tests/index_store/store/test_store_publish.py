"""Publishing: whole or not at all, once, whatever stops it on the way."""

from __future__ import annotations

import contextlib
import errno
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _kill_acts
import pytest
from _kill_acts import KEY, WRITES, given_up, points_at_files, write_step
from _kill_points import killed_at_every_point
from _store_help import publish, stored, tree

from provspark.errors import InvalidWriteError, StepExistsError, StoreWriteError
from provspark.index_store.store.gc import Keep, collect
from provspark.index_store.store.leftovers import sweep
from provspark.index_store.store.repair import repair
from provspark.index_store.store.store import Store
from provspark.index_store.store.verification import verify
from provspark.model.boxes.pairs import from_pairs
from provspark.model.pending import PendingWrite
from provspark.model.steps import StepKey
from provspark.testing.contract import assert_stored


class Failing:
    """Counts operations on files, and lets one of them fail, or that one and all after it."""

    def __init__(self, at: int, failure: Callable[[], BaseException] | None, *, for_good: bool) -> None:
        self.count, self.at, self.failure, self.for_good = 0, at, failure, for_good

    def __call__(self) -> None:
        self.count += 1
        if self.failure is not None and (self.count == self.at or (self.for_good and self.count > self.at)):
            raise self.failure()


def operations(tmp_path: Path) -> int:
    failing = Failing(0, None, for_good=False)
    with points_at_files(failing):
        write_step(str(tmp_path / "counted"))
    return failing.count


def check_whole_or_absent(store: Store, writes: list[PendingWrite] = WRITES) -> bool:
    """Whether the step is there; if so it is whole, and nothing else is there."""
    assert verify(store) == []
    for step in store.steps():
        assert_stored(store, step, writes)
    return bool(store.steps())


def check_retry(where: str) -> bool:
    """What is there is whole or nothing, and trying again ends with the step; return whether it was there."""
    with contextlib.ExitStack() as stack:
        found = check_whole_or_absent(Store.open(where, create=True))
        if found:
            stack.enter_context(pytest.raises(StepExistsError))
        write_step(where)
    assert check_whole_or_absent(Store.open(where))
    return found


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_killed_at_an_operation_on_files_and_retried(tmp_path: Path, every: int) -> None:
    *killed, end = killed_at_every_point("_kill_acts", "seal_and_publish", tmp_path, every=every)
    assert len(killed) * every > 100
    assert check_retry(str(tmp_path / str(end)))
    assert 0 < sum(check_retry(str(tmp_path / str(at))) for at in killed) < len(killed) / 2


STRIDES = [7, pytest.param(1, marks=pytest.mark.long)]


@pytest.mark.parametrize("stride", STRIDES)
def test_a_disk_that_fills_up_at_an_operation_on_files(tmp_path: Path, stride: int) -> None:
    total = operations(tmp_path)
    visible = 0
    for at in range(1, total + 1, stride):
        where = str(tmp_path / f"at{at}")
        full = Failing(at, lambda: OSError(errno.ENOSPC, "No space left on device"), for_good=True)
        with points_at_files(full), contextlib.suppress(StoreWriteError):
            write_step(where)
        visible += check_retry(where)
    assert visible < total / 2


@pytest.mark.parametrize("stride", STRIDES)
def test_one_failing_operation_is_a_typed_error_and_leaves_no_half_step(tmp_path: Path, stride: int) -> None:
    total = operations(tmp_path)
    for at in range(1, total + 1, stride):
        where = str(tmp_path / f"at{at}")
        failing = Failing(at, lambda: OSError(errno.EIO, "Input/output error"), for_good=False)
        try:
            with points_at_files(failing):
                write_step(where)
        except StoreWriteError as e:
            assert "Input/output error" in str(e)
        check_whole_or_absent(Store.open(where, create=True))


@pytest.mark.parametrize("most", [100, 700, 1500])
def test_files_that_may_not_grow_are_a_typed_error(tmp_path: Path, most: int) -> None:
    where = str(tmp_path / "store")
    Store.open(where, create=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        with pytest.raises(StoreWriteError, match="File too large"):
            write_step(where)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not check_retry(where)


def test_repair_and_collection_killed_at_every_operation_on_files(tmp_path: Path) -> None:
    for at in range(1, 30):
        given_up(str(tmp_path / str(at)))
    *killed, _ = killed_at_every_point("_kill_acts", "mend_and_collect", tmp_path)
    assert 10 < len(killed) < 29
    seen = set()
    for at in killed:
        store = Store.open(str(tmp_path / str(at)))
        assert verify(store) == []
        seen.add(bool(store.steps()))
        repair(store, idle=0)
        collect(store, Keep(runs=0))
        sweep(store, 0)
        assert store.steps() == []
    assert seen == {True, False}


def test_sixteen_processes_one_wins(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "store"), create=True)
    command = [sys.executable, _kill_acts.__file__, store.url, "16"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout.split()
    assert sorted(said) == ["lost"] * 15 + ["won"]
    assert check_whole_or_absent(store, WRITES[:1])
    listed = {f.path for f in store.manifest(KEY.id).files} | {"manifest.json", "tensors", "versions"}
    assert tree(tmp_path / "store" / "steps" / KEY.id) == listed


def test_writers_side_by_side_do_not_disturb_each_other(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path), create=True)
    first, second, third = (store.writer(KEY) for _ in range(3))
    assert len({w.taps for w in (first, second, third)}) == 3
    first.add(WRITES[0])
    first.abandon()
    first.abandon()
    second.add(WRITES[0])
    publish(second)
    third.add(WRITES[0])
    with pytest.raises(StepExistsError, match="another writer"):
        publish(third)
    with pytest.raises(StepExistsError, match="already published"):
        store.writer(KEY)
    with pytest.raises(StoreWriteError, match="has ended"):
        second.add(WRITES[0])
    second.abandon()
    assert check_whole_or_absent(store, WRITES[:1])
    listed = {f.path for f in store.manifest(KEY.id).files} | {"manifest.json", "tensors", "versions"}
    assert tree(tmp_path / "steps" / KEY.id) == listed


def test_an_abandoned_step_leaves_nothing(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path), create=True)
    writer = store.writer(KEY)
    writer.add(WRITES[0])
    assert store.steps() == []
    assert store.manifests() == []
    writer.abandon()
    assert tree(tmp_path) == {"format.json", "steps"}


def test_taps_are_there_while_writing_and_gone_after(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "a b%20é"), create=True)
    writer = store.writer(KEY)
    taps = Path(writer.taps.removeprefix("file://"))
    assert taps.is_dir()
    assert taps.is_relative_to(tmp_path / "a b%20é")
    (taps / "inner").mkdir()
    (taps / "inner" / "x").write_bytes(b"x")
    publish(writer)
    assert not taps.exists()
    assert not taps.parent.exists()


def test_steps_come_in_the_order_in_which_they_ended(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path), create=True)
    for i in (3, 1, 2):
        writer = store.writer(StepKey(f"t{i}", "r"))
        writer.publish(status="failed", started="2030", ended=f"20{i}0", error="ValueError: x")
    assert [m.key.task_id for m in store.manifests()] == ["t1", "t2", "t3"]
    assert [m.key.task_id for m in Store.open(store.url).manifests()] == ["t1", "t2", "t3"]


def test_a_removed_step_is_gone_for_open_stores(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path), create=True)
    kept, gone = (stored(store, name, from_pairs([0], [0]), 1, 1) for name in ("kept", "gone"))
    other = Store.open(store.url)
    assert len(other.manifests()) == 2
    store.remove(gone.step)
    assert other.steps() == [kept.step]
    assert other.manifests() == [kept]
    assert not (tmp_path / "steps" / gone.step).exists()


def test_versions_are_stored_once_a_step_and_inputs_once_a_write(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path), create=True)
    writer = store.writer(KEY)
    pending = WRITES[0]
    twice = type(pending)(
        pending.output, "exact", pending.inputs * 2, (*pending.axes, pending.axes[1]), pending.tensors
    )
    added = writer.add(twice)
    writer.add(pending)
    manifest = publish(writer)
    assert len(added.inputs) == 1
    assert sum(f.path.startswith("versions/") for f in manifest.files) == 2
    assert store.files(manifest.step, added.inputs[0]).paths == pending.inputs[0].files.paths


def change(pending: Any, **changes: Any) -> Any:
    import dataclasses

    return dataclasses.replace(pending, **changes)


GOOD = WRITES[0]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (change(GOOD, axes=()), "no axes"),
        (change(GOOD, axes=GOOD.axes[::-1]), "axis 0 must be the output, and no other axis"),
        (
            change(GOOD, axes=(change(GOOD.axes[0], size=31), GOOD.axes[1])),
            "has size 31, but its version has 30 rows",
        ),
        (change(GOOD, axes=(GOOD.axes[0], change(GOOD.axes[1], version="x"))), "must be one of the inputs"),
        (change(GOOD, tensors=(change(GOOD.tensors[0], src=2),)), "axis is 2; it must be at least 0 and below 2"),
        (change(GOOD, tensors=(change(GOOD.tensors[0], boxes=from_pairs([30], [0])),)), "must be within the out axis"),
        (change(GOOD, coverage="untracked"), "pass a reason"),
        (change(GOOD, axes=(GOOD.axes[0], change(GOOD.axes[1], role="inner"))), "has the role inner"),
    ],
)
def test_writes_that_contradict_themselves_are_refused(tmp_path: Path, bad: Any, said: str) -> None:
    store = Store.open(str(tmp_path), create=True)
    with pytest.raises(InvalidWriteError, match=said):
        store.writer(KEY).add(bad)
