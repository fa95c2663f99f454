"""Tests that every storage back end must pass. Derive a class from `StoreContract`, with a fixture for its folder.

>>> class TestMyFolder(StoreContract):                                # doctest: +SKIP
...     @pytest.fixture
...     def place(self, tmp_path):
...         return lambda: MyFolder(tmp_path / "store")
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provspark.index_store.store.fs.folder import Folder
from provspark.index_store.store.gc import Keep, collect
from provspark.index_store.store.repair import repair
from provspark.index_store.store.store import Store
from provspark.index_store.store.tensors.layout import Lead
from provspark.index_store.store.verification import verify
from provspark.index_store.store.writer import StepWriter
from provspark.model.boxes.pairs import concat, from_pairs, from_ranges
from provspark.model.datasets import Dataset, Files
from provspark.model.driver_datasets import driver_version
from provspark.model.errors import (
    CorruptIndexError,
    InvalidWriteError,
    StepExistsError,
    StepRemovedError,
    StoreFormatError,
    StoreUnreachableError,
    UnknownStepError,
)
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis, Untracked
from provspark.testing.oracle import cells, within
from provspark.testing.strategies import keys, runs, writes

__all__ = ["FolderOpener", "StoreContract", "assert_stored", "end", "publish", "small"]

FolderOpener = Callable[[], Folder]
"""Opens the same folder again at every call. The folder is empty at first."""


def small(name: str = "/out", of: str = "/in", rows: int = 30) -> PendingWrite:
    """Return a write that shuffles the rows of one file into another."""
    output, source = (
        PendingVersion(Dataset("file", path), Files.of([("f", 9, 9, rows, path == name)]), "csv") for path in (name, of)
    )
    axes = (
        Axis("output", rows, output.files.identity(output.dataset)),
        Axis("input", rows, source.files.identity(source.dataset), 0),
    )
    shuffled = np.random.default_rng(rows).permutation(rows)
    return PendingWrite(output, "exact", (source,), axes, (PendingTensor(0, 1, from_pairs(np.arange(rows), shuffled)),))


def publish(store: Store, key: StepKey, *pending: PendingWrite) -> None:
    """Write and publish a step."""
    writer = store.writer(key)
    for write in pending:
        writer.add(write)
    end(writer)


def end(writer: StepWriter) -> None:
    """Publish the writes that were added to a writer."""
    clock = "2024-01-01T00:00:00.000000+00:00"
    writer.publish(status="succeeded", started=clock, ended=clock)


def assert_stored(store: Store, step: str, pending: list[PendingWrite]) -> None:
    """Assert that a stored step has exactly these writes, with the same pairs in every tensor."""
    manifest = store.manifest(step)
    assert len(manifest.writes) == len(pending)
    for made, wanted in zip(manifest.writes, pending, strict=True):
        assert (made.coverage, made.axes, made.reason) == (wanted.coverage, wanted.axes, wanted.reason)
        files = store.files(step, made.output)
        assert (files.paths, files.rows.tolist()) == (wanted.output.files.paths, wanted.output.files.rows.tolist())
        read = {v.files.identity(v.dataset): v.files.paths for v in wanted.inputs}
        assert {v.id: store.files(step, v).paths for v in made.inputs} == read
        for tensor, source in zip(made.tensors, wanted.tensors, strict=True):
            pairs = set(cells(concat(list(source.boxes.parts()))))
            assert (tensor.out, tensor.src, tensor.kind, tensor.edges) == (
                source.out,
                source.src,
                source.kind,
                len(pairs),
            )
            assert sorted(cells(store.tensor(step, tensor, "out").all())) == sorted(pairs)
            assert sorted(cells(store.tensor(step, tensor, "src").all())) == sorted(pairs)


class StoreContract:
    """Base class of the tests. A subclass needs a fixture `place` and a name that pytest collects."""

    @pytest.fixture
    def place(self) -> FolderOpener:
        """Return a function that opens the folder. Override it."""
        raise NotImplementedError("a subclass of StoreContract needs a fixture `place` that returns a FolderOpener")

    @pytest.fixture
    def store(self, place: FolderOpener) -> Store:
        """Return a new store."""
        return Store.at(place(), create=True)

    def test_a_folder_holds_what_was_put(self, place: FolderOpener) -> None:
        """Files can be read whole or in spans, listed by name, and found by walking."""
        folder, again = place(), place()
        with folder.create("a/b ü%20/c") as f:
            f.write(b"0123456789")
        assert again.read("a/b ü%20/c") == [b"0123456789"]
        assert again.read("a/b ü%20/c", [(2, 5), (8, 99), (50, 60)]) == [b"234", b"89", b""]
        assert again.names("a") == ["b ü%20"]
        assert (again.walk("a"), again.walk("none"), again.names("none")) == (["b ü%20/c"], [], [])
        there, gone = again.stamps(["a/b ü%20/c", "a/none"])
        assert there is not None
        assert (there.size, gone) == (10, None)
        folder.replace("a/b ü%20/c", b"new")
        assert again.read("a/b ü%20/c") == [b"new"]
        folder.remove("a/b ü%20/c")
        folder.remove("a/b ü%20/c")
        with pytest.raises(FileNotFoundError):
            again.read("a/b ü%20/c")

    def test_one_put_wins(self, place: FolderOpener) -> None:
        """If sixteen threads put the same file, exactly one succeeds, and its content is stored."""
        folders = [place() for _ in range(16)]
        folders[0].make("x")
        together = Barrier(16)

        def put(i: int) -> bool:
            together.wait(60)
            return folders[i].put_if_absent("x/y", b"%d" % i)

        with ThreadPoolExecutor(16) as pool:
            won = list(pool.map(put, range(16)))
        assert sum(won) == 1
        assert folders[1].read("x/y") == [b"%d" % won.index(True)]
        assert folders[1].walk("x") == ["y"]

    @pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "a//b", "a/./b", "a\\b", "a\0"])
    def test_no_path_leaves_the_folder(self, place: FolderOpener, path: str) -> None:
        """Neither reads nor writes accept a path outside of the folder."""
        folder = place()
        for act in (folder.read, folder.remove, folder.make, folder.names, folder.remove_tree):
            with pytest.raises(InvalidWriteError):
                act(path)
        with pytest.raises(InvalidWriteError):
            folder.put_if_absent(path, b"")

    def test_there_is_no_store_until_one_is_made(self, place: FolderOpener) -> None:
        """A store is created only with `create=True`, and creating it again keeps its content."""
        with pytest.raises(StoreUnreachableError):
            Store.at(place())
        publish(Store.at(place(), create=True), StepKey("t", "r"), small())
        assert len(Store.at(place(), create=True).steps()) == 1
        assert len(Store.at(place()).manifests()) == 1

    @given(st.data())
    @settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
    def test_what_was_written_is_read(self, place: FolderOpener, data: st.DataObject) -> None:
        """Random writes can be read again, by either axis."""
        store = Store.at(place(), create=True)
        key = data.draw(keys().filter(lambda k: k.id not in store.steps()))
        pending = data.draw(st.lists(writes(), max_size=2))
        publish(store, key, *pending)
        other = Store.at(place())
        assert_stored(other, key.id, pending)
        for made in other.manifest(key.id).writes:
            for tensor in made.tensors:
                order: Lead = data.draw(st.sampled_from(("out", "src")))
                starts, lengths = data.draw(runs(made.axes[tensor.out if order == "out" else tensor.src].size))
                reader = other.tensor(key.id, tensor, order)
                looked_up = cells(reader.lookup(starts, lengths))
                assert sorted(looked_up) == sorted(within(set(cells(reader.all())), starts, lengths, order))
        assert verify(other, [key.id]) == []

    def test_a_step_is_there_whole_or_not_at_all(self, store: Store, place: FolderOpener) -> None:
        """A step is invisible until it is published, and an abandoned one leaves no files."""
        writer = store.writer(StepKey("t", "r"))
        writer.add(small())
        assert Store.at(place()).steps() == []
        assert Store.at(place()).manifests() == []
        with pytest.raises(UnknownStepError):
            Store.at(place()).manifest(StepKey("t", "r").id)
        writer.abandon()
        assert place().walk("steps") == []

    def test_of_writers_of_one_step_one_wins(self, store: Store, place: FolderOpener) -> None:
        """The other writers raise StepExistsError and leave no files."""
        together = Barrier(8)

        def act(_: int) -> str:
            writer = store.writer(StepKey("t", "r"))
            writer.add(small())
            together.wait(60)
            try:
                end(writer)
            except StepExistsError:
                return "lost"
            return "won"

        with ThreadPoolExecutor(8) as pool:
            assert sorted(pool.map(act, range(8))) == ["lost"] * 7 + ["won"]
        step = StepKey("t", "r").id
        with pytest.raises(StepExistsError):
            store.writer(StepKey("t", "r"))
        listed = [f.path for f in Store.at(place()).manifest(step).files]
        assert place().walk(f"steps/{step}") == sorted([*listed, "manifest.json"])
        assert_stored(Store.at(place()), step, [small()])

    def test_a_flipped_bit_is_an_error_that_names_the_file(self, store: Store, place: FolderOpener) -> None:
        """A changed bit in any file raises an error instead of changing an answer."""
        publish(store, StepKey("t", "r"), small())
        folder = place()
        for path in folder.walk(""):
            data = folder.read(path)[0]
            for at in (0, len(data) // 2, len(data) - 1):
                folder.replace(path, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
                with pytest.raises((CorruptIndexError, StoreFormatError), match=path.rsplit("/", 1)[-1]):
                    assert_stored(Store.at(place()), StepKey("t", "r").id, [small()])
            folder.replace(path, data)
        assert_stored(Store.at(place()), StepKey("t", "r").id, [small()])

    def test_a_removed_step_is_gone_for_who_reads_it(self, store: Store, place: FolderOpener) -> None:
        """Reading a removed step raises StepRemovedError; steps that a kept step needs are kept."""
        publish(store, StepKey("first", "r"), small("/b", "/a"))
        publish(store, StepKey("second", "r"), small("/c", "/b"))
        publish(store, StepKey("third", "r"), small("/d", "/a"))
        step = StepKey("third", "r").id
        reader = Store.at(place())
        tensor = reader.manifest(step).writes[0].tensors[0]
        done = collect(store, Keep(steps=(StepKey("second", "r").id,)))
        assert [m.step for m in done.removed] == [step]
        assert [m.key.task_id for m in done.needed] == ["first"]
        with pytest.raises(StepRemovedError):
            reader.tensor(step, tensor, "out").all()
        assert sorted(m.key.task_id for m in reader.manifests()) == ["first", "second"]
        assert place().walk(f"steps/{step}") == []

    def test_what_a_driver_read_stays(self, store: Store, place: FolderOpener) -> None:
        """Driver reads are stored in order, separately from the writes, for published and repaired steps."""
        why = Untracked("driver", "not followed")
        for task, finish in (("t", end), ("u", lambda _: repair(Store.at(place()), [StepKey("u", "r").id]))):
            key = StepKey(task, "r")
            writer = store.writer(key, driver_reads="on")
            for call, rows in enumerate((3, 0, 5)):
                output = driver_version(key.id, call, "job.py:1", rows)
                writer.add_read(replace(small(), output=output, axes=(), tensors=(), coverage="untracked", reason=why))
            axes = (small().axes[0], Axis("reads", 8))
            tensor = PendingTensor(0, 1, from_ranges([0], [2], [6]), "possible")
            writer.add(replace(small(), inputs=(), axes=axes, tensors=(tensor,)))
            finish(writer)
            manifest = Store.at(place()).manifest(key.id)
            assert [r.output.rows for r in manifest.reads] == [3, 0, 5]
            assert (manifest.driver_reads, manifest.writes[0].axes[1].size) == ("on", 8)

    def test_a_step_that_was_given_up_can_be_published(self, store: Store, place: FolderOpener) -> None:
        """`repair` publishes an unfinished step with the writes that were sealed."""
        writer = store.writer(StepKey("t", "r"))
        writer.add(small())
        time.sleep(0.01)
        (done,) = repair(Store.at(place()), [StepKey("t", "r").id])
        assert done.action == "sealed"
        assert_stored(Store.at(place()), StepKey("t", "r").id, [small()])
        with pytest.raises(StepExistsError):
            end(writer)
