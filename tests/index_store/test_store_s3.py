"""A store on an S3 server: moto's (5.2 or later), where PROVSPARK_MOTO_SERVER names its `moto_server`."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator

import numpy as np
import pyarrow.fs as pafs
import pytest
from _store_help import cells, publish, stored, write_of

from provspark.errors import CorruptIndexError, StepExistsError, StoreUnreachableError
from provspark.index_store import codec
from provspark.index_store.boxes import from_pairs
from provspark.index_store.model import StepKey
from provspark.index_store.store import Store
from provspark.index_store.verify import verify

SERVER = os.environ.get("PROVSPARK_MOTO_SERVER")
pytestmark = pytest.mark.skipif(SERVER is None, reason="PROVSPARK_MOTO_SERVER names no moto_server")
KEY = StepKey("t", "r")
BOXES = from_pairs(np.arange(900), np.random.default_rng(0).permutation(900))


@pytest.fixture(scope="module")
def options() -> Iterator[str]:
    """The part of a URL that leads to a running server with a bucket named bucket."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen([str(SERVER), "-H", "127.0.0.1", "-p", str(port)], stdout=quiet, stderr=quiet)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("ACCESS_KEY_ID", "key"),
            ("SECRET_ACCESS_KEY", "secret"),
            ("EC2_METADATA_DISABLED", "true"),
        ):
            patch.setenv(f"AWS_{name}", value)
        options = f"?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        pafs.FileSystem.from_uri(f"s3://bucket{options}&allow_bucket_creation=true")[0].create_dir("bucket")
        yield options
    server.terminate()
    server.wait(30)


@pytest.fixture
def store(options: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(codec, "GROUP_ROWS", 64)
    return Store.open(f"s3://bucket/two%20words/{request.node.name}{options}", create=True)


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
    with pytest.raises(CorruptIndexError, match=r"\.out\.parquet is corrupt: the checksum of row group 0") as caught:
        Store.open(store.url).tensor(manifest.step, tensor, "out").all()
    assert "endpoint_override" not in str(caught.value)
    assert [p.path for p in verify(store)] == [path]


def test_no_store_no_bucket_no_server(options: str) -> None:
    for url in (f"s3://bucket/none{options}", f"s3://nobucket/x{options}"):
        with pytest.raises(StoreUnreachableError, match="is no store"):
            Store.open(url)
    with pytest.raises(StoreUnreachableError, match="can't be read"):
        Store.open("s3://bucket/x?endpoint_override=127.0.0.1:9&scheme=http&region=us-east-1")
