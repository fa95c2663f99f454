"""Publishing: whole or not at all, once, whatever stops it on the way."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _store_help import publish, stored, tree, write_of

from provspark.errors import InvalidWriteError, StepExistsError, StoreWriteError
from provspark.index_store.boxes import from_pairs
from provspark.index_store.model import StepKey
from provspark.index_store.store import Store
from provspark.index_store.verify import verify
from provspark.testing.oracle import cells

KEY = StepKey("task", "run", "dag")
BOXES = from_pairs(np.arange(30), np.random.default_rng(4).permutation(30))


def write_all(store: Store) -> None:
    """One step, from claim to manifest."""
    writer = store.writer(KEY)
    taps = store.folder.root / Path(writer.taps.removeprefix("file://"))  # type: ignore[attr-defined]
    (taps / "part-0.parquet").write_bytes(b"x")
    writer.add(write_of(BOXES, 30, 30))
    publish(writer)


class Killed(BaseException):
    """What stands for the end of the process."""


class Shim:
    """Counts file operations and makes one of them fail."""

    def __init__(self, at: int, failure: Callable[[], BaseException] | None, *, for_good: bool) -> None:
        self.count, self.at, self.failure, self.for_good = 0, at, failure, for_good

    def step(self) -> None:
        self.count += 1
        if self.failure is not None and (self.count == self.at or (self.for_good and self.count > self.at)):
            raise self.failure()


class Leaky:
    """A file whose writes go through the shim; half of the data is written before a failure."""

    def __init__(self, file: Any, shim: Shim) -> None:
        self._file, self._shim = file, shim

    def write(self, data: Any) -> Any:
        try:
            self._shim.step()
        except BaseException:
            self._file.write(memoryview(data)[: len(data) // 2])
            raise
        return self._file.write(data)

    def __enter__(self) -> Leaky:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextlib.contextmanager
def shimmed(shim: Shim) -> Iterator[None]:
    """Put a shim under all that the store does to files."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("mkdir", "fsync", "link", "unlink", "rmdir"):
            real = getattr(os, name)
            patch.setattr(os, name, lambda *a, real=real, **k: (shim.step(), real(*a, **k))[1])
        real_open = Path.open

        def opened(self: Path, mode: str = "r", **kwargs: Any) -> Any:
            if "x" not in mode:
                return real_open(self, mode, **kwargs)
            shim.step()
            return Leaky(real_open(self, mode, **kwargs), shim)

        patch.setattr(Path, "open", opened)
        yield


def operations(tmp_path: Path) -> int:
    shim = Shim(0, None, for_good=False)
    with shimmed(shim):
        write_all(Store.open(str(tmp_path / "counted"), create=True))
    return shim.count


def check_whole_or_absent(store: Store) -> bool:
    assert verify(store) == []
    for step in store.steps():
        manifest = store.manifest(step)
        reader = store.tensor(step, manifest.writes[0].tensors[0], "out")
        assert sorted(cells(reader.all())) == sorted(cells(BOXES))
    return bool(store.steps())


@pytest.mark.parametrize("failure", [Killed, lambda: OSError(errno.ENOSPC, "No space left on device")])
def test_stopped_at_every_file_operation_and_retried(tmp_path: Path, failure: Callable[[], BaseException]) -> None:
    total = operations(tmp_path)
    assert total > 30
    visible = 0
    for at in range(1, total + 1):
        where = str(tmp_path / f"at{at}")
        with shimmed(Shim(at, failure, for_good=True)), contextlib.suppress(Killed, StoreWriteError):
            write_all(Store.open(where, create=True))
        with contextlib.ExitStack() as stack:
            store = Store.open(where, create=True)
            if check_whole_or_absent(store):
                visible += 1
                stack.enter_context(pytest.raises(StepExistsError))
            write_all(store)
        assert check_whole_or_absent(Store.open(where))
    assert 0 < visible < total / 2


def test_one_failing_operation_is_a_typed_error_and_abandon_leaves_nothing(tmp_path: Path) -> None:
    total = operations(tmp_path)
    for at in range(1, total + 1):
        store = Store.open(str(tmp_path / f"at{at}"), create=True)
        shim = Shim(at, lambda: OSError(errno.EIO, "Input/output error"), for_good=False)
        try:
            with shimmed(shim):
                writer = store.writer(KEY)
                writer.add(write_of(BOXES, 30, 30))
                publish(writer)
        except StoreWriteError as e:
            assert "Input/output error" in str(e)
        assert check_whole_or_absent(store) in (True, False)
        assert not list((tmp_path / f"at{at}").rglob("*.tmp")) or shim.count >= shim.at


def test_killed_by_the_system_before_and_after_the_manifest(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; sys.path.insert(0, sys.argv[2])\n"
        "import test_store_publish as t\n"
        "from provspark.index_store.store import Store\n"
        "def die(): os.kill(os.getpid(), signal.SIGKILL)\n"
        "with t.shimmed(t.Shim(int(sys.argv[3]), die, for_good=False)):\n"
        "    t.write_all(Store.open(sys.argv[1], create=True))\n"
    )
    total = operations(tmp_path)
    ends = set()
    for at in (8, total // 2, total - 9, total - 1):
        where = str(tmp_path / f"killed{at}")
        done = subprocess.run([sys.executable, "-c", code, where, str(Path(__file__).parent), str(at)], timeout=120)
        assert done.returncode == -signal.SIGKILL
        ends.add(check_whole_or_absent(Store.open(where, create=True)))
    assert ends == {True, False}


def test_sixteen_processes_one_wins(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "store"), create=True)
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "import test_store_publish as t\n"
        "from _store_help import publish, write_of\n"
        "from provspark.errors import StepExistsError\n"
        "from provspark.index_store.store import Store\n"
        "writer = Store.open(sys.argv[1]).writer(t.KEY)\n"
        "writer.add(write_of(t.BOXES, 30, 30))\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "try:\n    publish(writer); print('won')\nexcept StepExistsError:\n    print('lost')\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, store.url, str(Path(__file__).parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(16)
    ]
    with ThreadPoolExecutor(16) as pool:
        assert [p.stdout.readline() for p in running if p.stdout] == ["ready\n"] * 16
        said = list(pool.map(lambda p: p.communicate("go\n", timeout=120)[0].strip(), running))
    assert sorted(said) == ["lost"] * 15 + ["won"]
    assert [p.returncode for p in running] == [0] * 16
    assert check_whole_or_absent(store)
    listed = {f.path for f in store.manifest(KEY.id).files} | {"manifest.json", "tensors", "versions"}
    assert tree(tmp_path / "store" / "steps" / KEY.id) == listed


def test_writers_side_by_side_do_not_disturb_each_other(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path), create=True)
    first, second, third = (store.writer(KEY) for _ in range(3))
    assert len({w.taps for w in (first, second, third)}) == 3
    first.add(write_of(BOXES, 30, 30))
    first.abandon()
    first.abandon()
    second.add(write_of(BOXES, 30, 30))
    publish(second)
    third.add(write_of(BOXES, 30, 30))
    with pytest.raises(StepExistsError, match="another writer"):
        publish(third)
    with pytest.raises(StepExistsError, match="already published"):
        store.writer(KEY)
    with pytest.raises(StoreWriteError, match="has ended"):
        second.add(write_of(BOXES, 30, 30))
    second.abandon()
    assert check_whole_or_absent(store)
    listed = {f.path for f in store.manifest(KEY.id).files} | {"manifest.json", "tensors", "versions"}
    assert tree(tmp_path / "steps" / KEY.id) == listed


def test_an_abandoned_step_leaves_nothing(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path), create=True)
    writer = store.writer(KEY)
    writer.add(write_of(BOXES, 30, 30))
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
    kept, gone = (stored(store, name, BOXES, 30, 30) for name in ("kept", "gone"))
    other = Store.open(store.url)
    assert len(other.manifests()) == 2
    store.remove(gone.step)
    assert other.steps() == [kept.step]
    assert other.manifests() == [kept]
    assert not (tmp_path / "steps" / gone.step).exists()


def test_versions_are_stored_once_a_step_and_inputs_once_a_write(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path), create=True)
    writer = store.writer(KEY)
    pending = write_of(BOXES, 30, 30)
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


GOOD = write_of(BOXES, 30, 30)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (change(GOOD, axes=()), "no axes"),
        (change(GOOD, axes=GOOD.axes[::-1]), "axis 0 and no other is the output"),
        (change(GOOD, axes=(change(GOOD.axes[0], size=31), GOOD.axes[1])), "has size 31, its version 30 rows"),
        (change(GOOD, axes=(GOOD.axes[0], change(GOOD.axes[1], version="x"))), "not among the inputs"),
        (change(GOOD, tensors=(change(GOOD.tensors[0], src=2),)), "axis 2 is none of the 2 axes"),
        (change(GOOD, tensors=(change(GOOD.tensors[0], boxes=from_pairs([30], [0])),)), "outside of the out axis"),
        (change(GOOD, coverage="untracked"), "needs a reason"),
        (change(GOOD, axes=(GOOD.axes[0], change(GOOD.axes[1], role="inner"))), "is inner"),
    ],
)
def test_writes_that_contradict_themselves_are_refused(tmp_path: Path, bad: Any, said: str) -> None:
    store = Store.open(str(tmp_path), create=True)
    with pytest.raises(InvalidWriteError, match=said):
        store.writer(KEY).add(bad)
