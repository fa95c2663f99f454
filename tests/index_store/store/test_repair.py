"""Repair: what the store still holds comes back, the rest is marked, and questions say so."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _steps import publish, read, version, write

import provspark
from provspark.errors import StoreFormatError, UntrackedError
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.store import manifest as manifests
from provspark.index_store.store.notes import load_note
from provspark.index_store.store.repair import Repair, repair
from provspark.index_store.store.store import Store
from provspark.index_store.store.tensors import encoding, layout
from provspark.index_store.store.tensors import file_choice as choosing
from provspark.index_store.store.verification import verify
from provspark.model.steps import FORMAT_VERSION, Manifest, StepKey
from provspark.model.writes import Tensor
from provspark.rebuild import rebuild_from_stores

N = 600
RAW = version("/raw", {"r.csv": N})
CLEAN = version("/clean", {"c": N}, {"c"})
SHUFFLED = np.random.default_rng(3).permutation(N)
PAIRS = list(zip(range(N), SHUFFLED.tolist(), strict=True))


@pytest.fixture(params=["copy", "guide", "guide out"])
def store(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Two steps whose tensors have two files each: two copies, or boxes in either order and a guide."""
    monkeypatch.setattr(encoding, "PAGE_ROWS", 64)
    monkeypatch.setattr(choosing, "_LOCAL", 1.5)
    monkeypatch.setattr(choosing, "_EXACT_WORTH", 9.0 if request.param == "copy" else 0.0)
    monkeypatch.setattr(choosing, "_SRC_WORTH", 10.0 if request.param == "guide out" else 0.0)
    store = Store.open(str(tmp_path / "store"), create=True)
    publish(store, "clean", write(CLEAN, [(RAW, PAIRS)]))
    publish(store, "again", write(version("/copy", {"k": N}, {"k"}), [(RAW, [(b, a) for a, b in PAIRS])]))
    publish(store, "report", write(version("/report", {"f": 2}, {"f"}), [(read(CLEAN), [(0, 5), (1, 9)])]))
    return store


def step(store: Store, task: str) -> Manifest:
    return next(m for m in store.manifests() if m.key.task_id == task)


def where(store: Store, manifest: Manifest, path: str = "") -> Path:
    return Path(store.url.removeprefix("file://")) / "steps" / manifest.step / path


def damage(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:40] + bytes([data[40] ^ 16]) + data[41:])


def answers(url: str) -> list[object]:
    prov = provspark.open(url)
    found = [prov.backward("/report", rows=[r]).table().to_pydict() for r in (0, 1)]
    return [*found, prov.forward("/raw", rows=[int(SHUFFLED[5])], to="/report").table().to_pydict()]


def actions(done: list[Repair]) -> list[str]:
    return [r.action for r in done]


def test_a_sound_store_needs_nothing(store: Store) -> None:
    assert repair(store) == []


@pytest.mark.parametrize("side", ["by_out", "by_src"])
def test_a_tensor_is_written_anew_from_its_sister(store: Store, side: str) -> None:
    before = answers(store.url)
    manifest = step(store, "clean")
    tensor: Tensor = manifest.writes[0].tensors[0]
    files = [store.tensor_file(manifest.step, p).layout.holds for p in (tensor.by_out, tensor.by_src)]
    damage(where(store, manifest, getattr(tensor, side)))
    saved = files[side == "by_out"] == "boxes"
    opened = Store.open(store.url)
    assert actions(repair(opened, dry_run=True)) == (["restored"] if saved else ["untracked"])
    assert verify(opened) != []
    assert actions(repair(opened)) == (["restored"] if saved else ["untracked"])
    assert verify(Store.open(store.url)) == []
    assert repair(Store.open(store.url)) == []
    if saved:
        assert answers(store.url) == before


def test_lineage_that_is_lost_is_told_by_questions(store: Store) -> None:
    manifest = step(store, "clean")
    for path in (manifest.writes[0].tensors[0].by_out, manifest.writes[0].tensors[0].by_src):
        where(store, manifest, path).unlink()
    assert actions(repair(Store.open(store.url))) == ["untracked"]
    prov = provspark.open(store.url)
    with pytest.raises(UntrackedError, match=f"stops at step {manifest.step}.* is lost"):
        prov.backward("/report", rows=[0]).table()
    assert prov.backward("/report", rows=[0], to="/clean").table()["related_row"].to_pylist() == [5]
    assert verify(Store.open(store.url)) == []


def test_a_list_of_files_comes_back_from_another_step(store: Store) -> None:
    before = answers(store.url)
    manifest = step(store, "clean")
    shared = manifest.writes[0].inputs[0].files
    where(store, manifest, shared).unlink()
    (done,) = repair(Store.open(store.url))
    assert done.action == "restored"
    assert step(store, "again").step in done.what
    assert verify(store) == []
    assert answers(store.url) == before


def test_an_output_without_its_list_can_not_stay_a_write(store: Store) -> None:
    manifest = step(store, "again")
    damage(where(store, manifest, manifest.writes[0].output.files))
    assert actions(repair(Store.open(store.url))) == ["untracked"]
    mended = step(Store.open(store.url), "again")
    assert mended.writes == ()
    assert "is lost" in str(mended.untracked[0])
    assert verify(Store.open(store.url)) == []


def test_a_damaged_manifest_is_closed_and_the_store_answers_again(store: Store, tmp_path: Path) -> None:
    manifest = step(store, "again")
    path = where(store, manifest, "manifest.json")
    text = path.read_bytes()
    path.write_bytes(text.replace(b'"rows":', b'"rowz":', 1))
    assert [b.step for b in provspark.open(store.url).broken] == [manifest.step]
    assert actions(repair(Store.open(store.url))) == ["closed"]
    assert provspark.open(store.url).broken == ()
    closed = step(Store.open(store.url), "again")
    assert (closed.key, closed.status, closed.writes) == (manifest.key, "failed", ())
    assert closed.ended == manifest.ended + "+00:00"
    answers(store.url)
    with Catalogue.open(f"sqlite:///{tmp_path / 'c.db'}") as catalogue:
        rebuild_from_stores(catalogue, [store.url])
        assert len(catalogue.steps()) == 3


@pytest.mark.parametrize("text", [b"", b"\xff" * 100, b'{"format":1,"body":{"key":{"task_id":"x","run_id":"y"}}}'])
def test_a_manifest_that_tells_nothing_is_taken_out(store: Store, text: bytes) -> None:
    manifest = step(store, "again")
    where(store, manifest, "manifest.json").write_bytes(text)
    assert actions(repair(Store.open(store.url))) == ["removed"]
    assert manifest.step not in Store.open(store.url).steps()
    answers(store.url)


def test_a_newer_format_is_not_taken_for_damage(store: Store) -> None:
    path = where(store, step(store, "again"), "manifest.json")
    text = path.read_bytes().replace(b'"format":3', b'"format":4', 1)
    path.write_bytes(text)
    with pytest.raises(StoreFormatError):
        repair(Store.open(store.url))
    assert path.read_bytes() == text


def test_a_newer_tensor_is_not_taken_for_damage(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = store.manifests()
    with monkeypatch.context() as patch:
        patch.setattr(layout, "TENSOR_FORMAT", 0)
        with pytest.raises(StoreFormatError):
            repair(Store.open(store.url))
    assert Store.open(store.url).manifests() == before


def begun(store: Store, *, writes: int) -> str:
    """A step whose process ended before it published."""
    writer = store.writer(StepKey("crashed", "run", "dag"))
    if writes > 0:
        writer.add(write(version("/new", {"n": N}, {"n"}), [(RAW, [(N - 1 - a, b) for a, b in PAIRS])]))
    if writes > 1:
        writer.add(write(version("/newer", {"n": 2}, {"n"}), [(RAW, [(0, 7), (1, 8)])]))
    return StepKey("crashed", "run", "dag").id


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_given_up_step_is_published_with_what_was_sealed(store: Store, writes: int) -> None:
    name = begun(store, writes=writes)
    assert repair(Store.open(store.url)) == []
    assert actions(repair(Store.open(store.url), [name], dry_run=True)) == ["sealed"]
    assert name not in store.steps()
    assert actions(repair(Store.open(store.url), idle=0)) == ["sealed"]
    manifest = store.manifest(name)
    assert (manifest.status, len(manifest.writes)) == ("failed", writes)
    assert "ended before it published" in str(manifest.untracked[0])
    if writes:
        prov = provspark.open(store.url)
        assert prov.backward("/new", rows=[17]).table()["related_row"].to_pylist() == [int(SHUFFLED[N - 18])]
    assert verify(store) == []


KILLED = """
import os, sys
sys.path[:0] = {path!r}
from _steps import version, write
from provspark.model.steps import StepKey
from provspark.index_store.store.store import Store
writer = Store.open({url!r}).writer(StepKey("killed", "r1"))
raw = version("/raw", {{"r.csv": 600}})
writer.add(write(version("/out", {{"o": 2}}, {{"o"}}), [(raw, [(0, 1), (1, 0)])]))
os.kill(os.getpid(), 9)
"""


def test_a_step_of_a_process_that_is_gone_needs_no_waiting(store: Store) -> None:
    """What another process of this machine began, and one that is alive, in the same second."""
    script = KILLED.format(path=sys.path, url=store.url)
    assert subprocess.run([sys.executable, "-c", script]).returncode == -9
    alive = store.writer(StepKey("alive", "r1"))
    prov = provspark.open(store.url)
    assert sorted(prov.unfinished().table()["task_id"].to_pylist()) == ["alive", "killed"]
    found = {line["task_id"]: line for line in prov.unfinished().table().to_pylist()}["killed"]
    assert (found["status"], found["outputs"]) == ("unfinished", ["file:///out"])
    (done,) = repair(Store.open(store.url))
    assert done.action == "sealed" and done.step == found["step"]
    manifest = step(Store.open(store.url), "killed")
    assert (manifest.status, [w.output.dataset.name for w in manifest.writes]) == ("failed", ["/out"])
    prov.refresh()
    assert prov.unfinished().table()["task_id"].to_pylist() == ["alive"]
    alive.abandon()


def test_a_process_of_another_machine_is_waited_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("socket.gethostname", lambda: "another")
        store.writer(StepKey("elsewhere", "r1"))
    assert repair(Store.open(store.url)) == []
    assert actions(repair(Store.open(store.url), idle=0)) == ["sealed"]


def test_a_note_of_the_last_release_is_read(store: Store) -> None:
    writer = store.writer(StepKey("old", "r1"))
    (path,) = where_of(store, "old").glob("taps/*.json")
    note = load_note(path.read_bytes(), "note")
    body = json.loads(path.read_bytes())["body"]
    del body["process"]
    path.write_bytes(manifests.sealed(FORMAT_VERSION, manifests._canonical(body)))
    assert load_note(path.read_bytes(), "note") == replace(note, process=None)
    assert repair(Store.open(store.url)) == []
    writer.abandon()


def where_of(store: Store, task: str) -> Path:
    return Path(store.url.removeprefix("file://")) / "steps" / StepKey(task, "r1").id


def test_a_given_up_step_whose_files_are_damaged_is_marked(store: Store) -> None:
    name = begun(store, writes=2)
    for path in sorted(where(store, step(store, "again")).parent.joinpath(name, "tensors").iterdir()):
        if path.name.startswith("0-0"):
            damage(path)
    assert actions(repair(store, [name])) == ["sealed", "untracked"]
    assert [w.coverage for w in store.manifest(name).writes] == ["untracked", "exact"]
    assert verify(store) == []


def test_the_furthest_note_counts_and_a_step_without_one_is_left(store: Store) -> None:
    name = begun(store, writes=1)
    store.writer(StepKey("crashed", "run", "dag"))
    (done,) = repair(store, [name])
    assert "sealed writes: 1" in done.what
    folder = Path(store.url.removeprefix("file://")) / "steps"
    other = StepKey("other", "run")
    store.writer(other)
    shutil.rmtree(folder / other.id / "taps")
    (folder / other.id / "taps").mkdir()
    (folder / other.id / "taps" / "x.json").write_text("{")
    assert repair(store, [other.id]) == []
    assert other.id not in store.steps()
