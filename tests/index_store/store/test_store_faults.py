"""Clocks that go back, names of every kind, and bits that flip, each counted."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from _steps import read, version, write

import provspark
from provspark.errors import CorruptIndexError, InvalidWriteError, StoreFormatError
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.store.leftovers import sweep, unpublished
from provspark.index_store.store.store import Store
from provspark.index_store.store.verification import verify
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingVersion
from provspark.model.steps import StepKey
from provspark.rebuild import rebuild_from_stores
from provspark.testing.contract import assert_stored, publish, small

RAW = version("/raw", {"r": 4})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "store"), create=True)


def ended(store: Store, key: StepKey, year: int, source: int, status: str = "succeeded") -> str:
    """A step that wrote row 0 of /out from a row of /raw, and says that it ended in some year."""
    writer = store.writer(key)
    name = f"{year}.parquet"
    writer.add(write(version("/out", {name: 1}, {name}, mtime=year), [(RAW, [(0, source)])]))
    clock = f"{year}-01-01T00:00:00.000000+00:00"
    return writer.publish(status=status, started=clock, ended=clock).step  # type: ignore[arg-type]


def test_a_retry_by_a_clock_that_went_back_still_answers(store: Store, tmp_path: Path) -> None:
    ended(store, StepKey("t", "r", "d", try_number=1), 2024, 1, "failed")
    last = ended(store, StepKey("t", "r", "d", try_number=2), 1999, 2)
    assert provspark.open(store.url).backward("/out", rows=[0]).table()["related_row"].to_pylist() == [2]
    with Catalogue.open(f"sqlite:///{tmp_path / 'c.db'}") as catalogue:
        rebuild_from_stores(catalogue, [store.url])
        assert [s.ref.step for s in catalogue.steps() if s.answers] == [last]


def test_steps_that_end_before_what_they_read_are_linked(store: Store) -> None:
    later, earlier = version("/mid", {"m": 2}, {"m"}), version("/end", {"e": 1}, {"e"})
    for task, year, pending in (
        ("first", 2030, write(later, [(RAW, [(0, 3), (1, 1)])])),
        ("second", 1980, write(earlier, [(read(later), [(0, 0)])])),
    ):
        writer = store.writer(StepKey(task, "r", "d"))
        writer.add(pending)
        clock = f"{year}-01-01T00:00:00.000000+00:00"
        writer.publish(status="succeeded", started=clock, ended=clock)
    prov = provspark.open(store.url)
    assert prov.backward("/end", rows=[0]).table()["related_row"].to_pylist() == [3]
    assert prov.forward("/raw", rows=[3], to="/end").table()["related_row"].to_pylist() == [0]


def test_files_from_the_past_and_the_future_are_read_again_and_not_swept(store: Store) -> None:
    step = ended(store, StepKey("t", "r", "d"), 2024, 1)
    store.manifests()
    path = Path(store.url.removeprefix("file://")) / "steps" / step / "manifest.json"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"2024-01", b"2024-02", 1))
    os.utime(path, ns=(0, 0))
    with pytest.raises(CorruptIndexError, match="checksum"):
        store.manifests()
    path.write_bytes(whole)
    assert len(store.manifests()) == 1
    begun = store.writer(StepKey("begun", "r"))
    begun.add(write(version("/x", {"x": 1}, {"x"})))
    for file in path.parent.parent.rglob("*.*"):
        os.utime(file, (2**32, 2**32))
    assert unpublished(store, 0) == []
    assert sweep(store, 0) == []


NAMES = ["two words", "ünï日本", "100%", "%2e%2e", "a%20b", "a?b#c&d", "=:@+,;", "'\"", "tab\there", "n" * 255]


@pytest.mark.parametrize("name", [*NAMES, "/".join(["d" * 199] * 5)])
def test_names_of_folders_data_sets_files_and_tasks(tmp_path: Path, name: str) -> None:
    store = Store.open(str(tmp_path / name), create=True)
    output = PendingVersion(Dataset("file", f"/out/{name}"), Files.of([(f"{name}/part", 1, 1, 2, True)]), "parquet")
    writer = store.writer(StepKey(name, name, name))
    writer.add(write(output, [(RAW, [(0, 1), (1, 3)])]))
    step = writer.publish(status="succeeded", started="2024", ended="2024").step
    assert len(step) <= 100
    prov = provspark.open(Store.open(store.url).url)
    assert prov.backward(output.dataset.uri, rows=[1]).table()["related_row"].to_pylist() == [3]
    assert prov.forward("/raw", rows=[1]).table()["dataset"].to_pylist() == [output.dataset.uri]
    assert verify(store) == []


def test_a_name_that_the_file_system_refuses_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File name too long"):
        Store.open(str(tmp_path / ("n" * 1000)), create=True)


def test_tasks_whose_names_differ_in_their_last_letter_are_two_steps(store: Store) -> None:
    keys = [StepKey("n" * 1000 + end, "r" * 1000, "d" * 1000) for end in "ab"]
    for key in keys:
        publish(store, key, small())
    assert len({key.id for key in keys} & set(store.steps())) == 2


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_flipped_bit_in_each_byte_of_each_file(store: Store, every: int) -> None:
    key = StepKey("t", "r")
    publish(store, key, small(rows=4))
    rng = np.random.default_rng(1)
    flips = 0
    for path in store.folder.walk(""):
        full = Path(store.url.removeprefix("file://")) / path
        whole = full.read_bytes()
        for at, bit in enumerate(rng.integers(0, 8, len(whole)).tolist()):
            if at % every:
                continue
            full.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << bit)]) + whole[at + 1 :])
            with pytest.raises((CorruptIndexError, StoreFormatError)) as caught:
                assert_stored(Store.open(store.url), key.id, [small(rows=4)])
            assert full.name in str(caught.value)
            flips += 1
        full.write_bytes(whole)
    assert flips * every > 3500
    assert_stored(Store.open(store.url), key.id, [small(rows=4)])


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "tensors/../../../x", "a\\b", "a\0b"])
def test_a_step_of_a_name_that_leaves_the_store_is_none(store: Store, path: str) -> None:
    with pytest.raises(InvalidWriteError):
        store.folder.read(path)
    assert "/" not in StepKey(path, path, path).id
