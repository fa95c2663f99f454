"""A store on an S3 server (tests/_s3.py)."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from _store_help import publish, stored, write_of

from provspark.errors import CorruptIndexError, PackageMissingError, StepExistsError, StoreUnreachableError
from provspark.index_store.store.store import Store
from provspark.index_store.store.tensors import encoding
from provspark.index_store.store.verification import verify
from provspark.model.boxes.pairs import from_pairs
from provspark.model.steps import StepKey
from provspark.testing.oracle import cells

pytest_plugins = ("_s3",)
KEY = StepKey("t", "r")
BOXES = from_pairs(np.arange(900), np.random.default_rng(0).permutation(900))


@pytest.fixture
def store(s3: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(encoding, "PAGE_ROWS", 64)
    return Store.open(f"s3://bucket/two%20words/{request.node.name}{s3}", create=True)


def test_written_read_looked_up_and_verified(store: Store) -> None:
    manifest = stored(store, "t", BOXES, 900, 900)
    other = Store.open(store.url)
    assert other.manifests() == [manifest]
    for order in ("out", "src"):
        reader = other.tensor(manifest.step, manifest.writes[0].tensors[0], order)
        assert sorted(cells(reader.all())) == sorted(cells(BOXES))
        got = reader.lookup(np.array([5, 700]), np.array([2, 1]))
        axis = order == "src"
        assert sorted(cells(got)) == sorted(p for p in cells(BOXES) if p[axis] in (5, 6, 700))
    assert verify(other) == []


def test_the_second_writer_loses_and_leaves_nothing(store: Store) -> None:
    one, other = store.writer(KEY), store.writer(KEY)
    for writer in (one, other):
        writer.add(write_of(BOXES, 900, 900))
    manifest = publish(one)
    with pytest.raises(StepExistsError):
        publish(other)
    with pytest.raises(StepExistsError):
        store.writer(KEY)
    assert store.folder.walk(f"steps/{KEY.id}") == sorted([f.path for f in manifest.files] + ["manifest.json"])


def test_sixteen_writers_at_once_one_wins(store: Store) -> None:
    together = Barrier(16)

    def act(_: int) -> str:
        writer = store.writer(KEY)
        writer.add(write_of(BOXES, 900, 900))
        together.wait(60)
        try:
            publish(writer)
        except StepExistsError:
            return "lost"
        return "won"

    with ThreadPoolExecutor(16) as pool:
        assert sorted(pool.map(act, range(16))) == ["lost"] * 15 + ["won"]
    manifest = store.manifest(KEY.id)
    assert store.folder.walk(f"steps/{KEY.id}") == sorted([f.path for f in manifest.files] + ["manifest.json"])
    assert verify(store) == []


def test_an_object_put_after_the_look_stays(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store.folder, "stamps", lambda paths: [None for _ in paths])
    assert store.folder.put_if_absent("x", b"first")
    assert not store.folder.put_if_absent("x", b"second")
    assert store.folder.read("x") == [b"first"]


def test_without_boto3_it_reads_and_says_what_writing_needs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = stored(store, "t", BOXES, 900, 900)
    other = Store.open(store.url)
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert other.manifests() == [manifest]
    with pytest.raises(PackageMissingError, match="boto3"):
        stored(other, "u", BOXES, 900, 900)


def test_abandoned_and_removed_steps_are_gone(store: Store) -> None:
    writer = store.writer(StepKey("a", "r"))
    writer.add(write_of(BOXES, 900, 900))
    writer.abandon()
    manifest = stored(store, "t", BOXES, 900, 900)
    assert store.steps() == [manifest.step]
    other = Store.open(store.url)
    assert len(other.manifests()) == 1
    store.remove(manifest.step)
    assert other.manifests() == []
    assert store.folder.walk("steps") == []


def test_damage_is_named_without_the_options(store: Store) -> None:
    manifest = stored(store, "t", BOXES, 900, 900)
    tensor = manifest.writes[0].tensors[0]
    path = f"steps/{manifest.step}/{tensor.by_out}"
    data = store.folder.read(path)[0]
    with store.folder.create(path) as f:
        f.write(data[:100] + bytes([data[100] ^ 4]) + data[101:])
    with pytest.raises(CorruptIndexError, match=r"\.out\.parquet is corrupt: the checksum of page 0") as caught:
        Store.open(store.url).tensor(manifest.step, tensor, "out").all()
    assert "endpoint_override" not in str(caught.value)
    assert [p.path for p in verify(store)] == [path]


def test_no_store_no_bucket_no_server(s3: str) -> None:
    for url in (f"s3://bucket/none{s3}", f"s3://nobucket/x{s3}"):
        with pytest.raises(StoreUnreachableError, match="is not a store"):
            Store.open(url)
    with pytest.raises(StoreUnreachableError, match="can't be read"):
        Store.open("s3://bucket/x?endpoint_override=127.0.0.1:9&scheme=http&region=us-east-1")
