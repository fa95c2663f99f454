"""Where a store can lie: paths and URLs, what pyarrow reaches, what can't be read or written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.fs as pafs
import pytest
from _store_help import publish, stored, version, write_of

from provspark.errors import (
    CorruptIndexError,
    InvalidWriteError,
    StepExistsError,
    StoreReadOnlyError,
    StoreUnreachableError,
    StoreWriteError,
)
from provspark.index_store.store.fs.folder import checked
from provspark.index_store.store.fs.local import LocalFolder
from provspark.index_store.store.fs.opening import open_folder
from provspark.index_store.store.fs.remote import RemoteFolder
from provspark.index_store.store.store import Store
from provspark.index_store.store.verification import verify
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset, Files
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Untracked
from provspark.testing.oracle import cells

BOXES = from_pairs(np.arange(20), np.random.default_rng(2).permutation(20))
KEY = StepKey("t", "r")


@pytest.mark.parametrize("name", ["plain", "two words", "ünï/çode", "100%", "a%20b", "a?b#c", "x:y", "q" * 255])
def test_a_store_is_found_again_by_path_and_by_url(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    store = Store.open(str(path), create=True)
    manifest = stored(store, "t", BOXES, 20, 20)
    assert store.url == path.as_uri()
    for url in (str(path), store.url, store.url.replace("file://", "file:"), f"{path}/"):
        again = Store.open(url)
        assert again.url == store.url
        assert again.steps() == [manifest.step]
    assert (path / "steps" / manifest.step / "manifest.json").is_file()


def test_relative_paths_are_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Store.open("inner/store", create=True).url == (tmp_path / "inner" / "store").as_uri()


def test_opening_twice_with_create_keeps_what_is_there(tmp_path: Path) -> None:
    stored(Store.open(str(tmp_path), create=True), "t", BOXES, 20, 20)
    assert len(Store.open(str(tmp_path), create=True).steps()) == 1


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("{tmp}/nowhere", "no such folder"),
        ("{tmp}", "no format.json"),
        ("{tmp}/file/below", "is not a store"),
        ("file://elsewhere/x", "another machine"),
        ("nosuchscheme://x/y", "does not answer"),
        ("", "neither a path nor a URL"),
        ("a\0b", "neither a path nor a URL"),
    ],
)
def test_what_is_no_store(tmp_path: Path, url: str, said: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnreachableError, match=said):
        Store.open(url.replace("{tmp}", str(tmp_path)))


def test_a_store_below_a_file_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnreachableError, match="a file is in the place of a folder"):
        Store.open(str(tmp_path / "file" / "below"), create=True)


@pytest.mark.skipif(not Path("/proc/sys").is_dir(), reason="no /proc on this system")
def test_a_store_in_a_file_system_of_the_kernel_can_not_be_made() -> None:
    with pytest.raises((StoreReadOnlyError, StoreWriteError), match="/proc/sys/provspark"):
        Store.open("/proc/sys/provspark", create=True)


def in_own_mounts(code: str, *arguments: str) -> str:
    """Run code where it can mount without anyone else seeing it; skip where that is not allowed."""
    command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", code, *arguments]
    try:
        probe = subprocess.run(["unshare", "--mount", "true"], capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("no unshare on this system")
    if probe.returncode:
        pytest.skip("mounting is not allowed here")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode == 77:
        pytest.skip("mounting is not allowed here")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_read_only_mount_reads_and_refuses_to_write(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "store"), create=True)
    stored(store, "t", BOXES, 20, 20)
    code = """
import subprocess, sys
where = sys.argv[1]
if subprocess.run(["mount", "--bind", where, where]).returncode or subprocess.run(
    ["mount", "-o", "remount,ro,bind", where]
).returncode:
    sys.exit(77)
from provspark.errors import StoreReadOnlyError
from provspark.model.steps import StepKey
from provspark.index_store.store.store import Store
store = Store.open(where, create=True)
assert len(store.manifests()) == 1
for act in (lambda: store.writer(StepKey("u", "r")), lambda: Store.open(where + "/more", create=True)):
    try:
        act()
    except StoreReadOnlyError as e:
        print(e)
"""
    said = in_own_mounts(code, str(tmp_path / "store")).splitlines()
    assert len(said) == 2
    assert all("can't be written: Read-only file system" in line for line in said)


def test_a_full_disk_is_a_typed_error_and_leaves_no_step(tmp_path: Path) -> None:
    code = """
import subprocess, sys
import numpy as np
where = sys.argv[1]
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", where]).returncode:
    sys.exit(77)
sys.path.insert(0, sys.argv[2])
from _store_help import publish, stored, write_of
from provspark.errors import StoreWriteError
from provspark.model.boxes.pairs import from_pairs
from provspark.model.steps import StepKey
from provspark.index_store.store.store import Store
store = Store.open(where, create=True)
n = 200_000
big = from_pairs(np.arange(n), np.random.default_rng(0).permutation(n))
writer = store.writer(StepKey("big", "r"))
try:
    writer.add(write_of(big, n, n))
except StoreWriteError as e:
    print(e)
writer.abandon()
print(store.steps())
small = from_pairs(np.arange(9), np.arange(9))
print(stored(store, "small", small, 9, 9).step in store.steps())
"""
    said = in_own_mounts(code, str(tmp_path), str(Path(__file__).parents[1])).splitlines()
    assert "No space left on device" in said[0]
    assert said[1:] == ["[]", "True"]


def test_a_file_system_without_hard_links_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(str(tmp_path), create=True)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StoreWriteError, match="has no hard links"):
        stored(store, "t", BOXES, 20, 20)
    assert store.steps() == []


@pytest.fixture
def remote(tmp_path: Path) -> RemoteFolder:
    """A folder behind pyarrow, by the code that object stores use."""
    inner = pafs.SubTreeFileSystem(str(tmp_path), pafs.LocalFileSystem())
    return RemoteFolder(inner, "bucket/a store", "s3://bucket/a%20store")


def test_a_store_behind_pyarrow_writes_reads_verifies(remote: RemoteFolder) -> None:
    remote.make("steps")
    assert remote.put_if_absent("format.json", b'{"format":1}\n')
    store = Store(remote)
    manifest = stored(store, "t", BOXES, 20, 20)
    other = Store(remote)
    assert other.manifests() == [manifest]
    reader = other.tensor(manifest.step, manifest.writes[0].tensors[0], "src")
    assert sorted(cells(reader.all())) == sorted(cells(BOXES))
    assert verify(other) == []
    assert sorted(remote.walk(f"steps/{manifest.step}")) == sorted([f.path for f in manifest.files] + ["manifest.json"])
    with pytest.raises(StepExistsError):
        other.writer(manifest.key)
    other.remove(manifest.step)
    assert store.steps() == []
    assert remote.walk("steps") == []


def test_a_second_writer_behind_pyarrow_loses_and_leaves_nothing(remote: RemoteFolder) -> None:
    remote.make("steps")
    store = Store(remote)
    one, other = store.writer(KEY), store.writer(KEY)
    for writer in (one, other):
        writer.add(write_of(BOXES, 20, 20))
    manifest = publish(one)
    with pytest.raises(StepExistsError):
        publish(other)
    assert sorted(remote.walk(f"steps/{KEY.id}")) == sorted([f.path for f in manifest.files] + ["manifest.json"])


def test_a_missing_file_behind_pyarrow_is_named(remote: RemoteFolder) -> None:
    remote.make("steps")
    manifest = stored(Store(remote), "t", BOXES, 20, 20)
    tensor = manifest.writes[0].tensors[0]
    remote.remove(f"steps/{manifest.step}/{tensor.by_out}")
    with pytest.raises(CorruptIndexError, match="the file is missing"):
        Store(remote).tensor(manifest.step, tensor, "out")
    with pytest.raises(FileNotFoundError):
        remote.read("steps/none")
    assert remote.stamps(["none"]) == [None]
    assert remote.names("none") == []
    remote.remove("none")
    remote.remove_tree("none")


def test_passwords_in_a_url_are_not_repeated() -> None:
    folder = open_folder("s3://key:secret@bucket/some/where/?region=eu-west-1&endpoint_override=localhost:1")
    assert folder.url == "s3://bucket/some/where?region=eu-west-1&endpoint_override=localhost:1"
    assert folder.raw_url("steps/x") == "s3://bucket/some/where/steps/x"
    with pytest.raises(StoreUnreachableError) as caught:
        open_folder("s3://key:secret@bucket/x?nonsense=1")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a//b", "a/./b", "", "a\\..\\b", "a\0"])
def test_paths_that_leave_the_store_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(InvalidWriteError, match="not a path within the store"):
        checked(path)
    if path:
        with pytest.raises(InvalidWriteError):
            LocalFolder(tmp_path).read(path)


@pytest.mark.parametrize("name", ["a b", "100%", "%2e%2e", "日本語", "n" * 1000, "x=1/y=%20/part.parquet", "\n"])
def test_names_of_data_files_come_back_as_they_are(tmp_path: Path, name: str) -> None:
    store = Store.open(str(tmp_path), create=True)
    writer = store.writer(KEY)
    pending = PendingWrite(version("/out", 3, name), "untracked", reason=Untracked("x", "y"))
    added = writer.add(pending)
    manifest = publish(writer)
    found = Store.open(store.url).files(manifest.step, added.output)
    assert found.paths == (name,)
    assert found.identity(added.output.dataset) == added.output.id


def test_a_hundred_thousand_files(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path), create=True)
    files = Files.of((f"day={i // 100}/part-{i:05}.parquet", i, 5 * i, i % 7, i % 2 == 0) for i in range(100_000))
    writer = store.writer(KEY)
    pending = PendingVersion(Dataset("file", "/out"), files, "parquet")
    added = writer.add(PendingWrite(pending, "untracked", reason=Untracked("x", "y")))
    publish(writer)
    found = Store.open(store.url).files(KEY.id, added.output)
    assert found.paths == files.paths
    for name in ("sizes", "mtimes", "rows", "written"):
        assert np.array_equal(getattr(found, name), getattr(files, name))


def test_a_file_name_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    writer = Store.open(str(tmp_path), create=True).writer(KEY)
    with pytest.raises(InvalidWriteError, match="not valid Unicode"):
        writer.add(PendingWrite(version("/out", 1, "bad\udcff"), "untracked", reason=Untracked("x", "y")))
