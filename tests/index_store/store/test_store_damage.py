"""Damage of every kind to every file: a typed error that names the file, never a wrong answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from _store_help import stored

from provspark.errors import CorruptIndexError, StoreFormatError, UnknownStepError
from provspark.index_store.store import manifest as manifests
from provspark.index_store.store.store import Store
from provspark.index_store.store.tensors import encoding
from provspark.index_store.store.tensors import file_choice as choosing
from provspark.index_store.store.verification import verify
from provspark.model.boxes.pairs import from_pairs, from_ranges
from provspark.model.steps import FORMAT_VERSION, Manifest
from provspark.testing.oracle import cells


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with tensors of one file, of two exact ones, and of boxes with a guide."""
    monkeypatch.setattr(encoding, "PAGE_ROWS", 16)
    monkeypatch.setattr(choosing, "_FEW", 1)
    monkeypatch.setattr(choosing, "_LOCAL", 1.5)
    rng = np.random.default_rng(6)
    store = Store.open(str(tmp_path / "store"), create=True)
    stored(store, "one", from_ranges(np.arange(40), np.arange(40) * 3, np.full(40, 3)), 40, 120)
    stored(store, "two", from_pairs(np.arange(100), rng.permutation(100)), 100, 100)
    monkeypatch.setattr(choosing, "_EXACT_WORTH", 0)
    stored(store, "guided", from_pairs(np.arange(900), rng.permutation(900)), 900, 900)
    kinds = {
        store.tensor_file(m.step, p).layout.holds
        for m in store.manifests()
        for p in (m.writes[0].tensors[0].by_src,)
        if p
    }
    assert kinds == {"boxes", "guide"}
    return store


def everything(url: str) -> list[object]:
    """All that a store answers."""
    store = Store.open(url)
    found: list[object] = []
    for manifest in store.manifests():
        write = manifest.writes[0]
        found.append(manifest)
        for version in (write.output, *write.inputs):
            found.append(store.files(manifest.step, version).paths)
        for order, axis in (("out", 0), ("src", 1)):
            reader = store.tensor(manifest.step, write.tensors[0], order)
            span = np.array([write.axes[axis].size])
            found.append((cells(reader.all()), cells(reader.lookup(np.array([0]), span))))
    return found


def files(store: Store) -> list[Path]:
    root = Path(store.url.removeprefix("file://"))
    found = [p for p in sorted(root.rglob("*")) if p.is_file()]
    assert len(found) > 12
    return found


def flip(data: bytes, at: int, bit: int) -> bytes:
    return data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]


def test_a_flipped_bit_anywhere_is_an_error_that_names_the_file(store: Store) -> None:
    rng = np.random.default_rng(9)
    expected = everything(store.url)
    flips = 0
    for path in files(store):
        whole = path.read_bytes()
        ends = list(range(min(12, len(whole)))) + list(range(max(0, len(whole) - 12), len(whole)))
        for at in {*ends, *rng.integers(0, len(whole), 12).tolist()}:
            path.write_bytes(flip(whole, at, int(rng.integers(0, 8))))
            with pytest.raises((CorruptIndexError, StoreFormatError)) as caught:
                everything(store.url)
            assert path.name in str(caught.value)
            flips += 1
        path.write_bytes(whole)
    assert flips > 200
    assert everything(store.url) == expected


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b + b"\0"])
def test_truncated_and_longer_files(store: Store, damage: Callable[[bytes], bytes]) -> None:
    for path in files(store):
        whole = path.read_bytes()
        path.write_bytes(damage(whole))
        with pytest.raises(CorruptIndexError, match="is corrupt") as caught:
            everything(store.url)
        assert path.name in str(caught.value)
        path.write_bytes(whole)


def test_files_that_changed_places(store: Store) -> None:
    tensors = [p for p in files(store) if p.parent.name == "tensors"]
    for one, other in pairwise(tensors):
        whole = one.read_bytes()
        one.write_bytes(other.read_bytes())
        with pytest.raises(CorruptIndexError, match=one.name):
            everything(store.url)
        one.write_bytes(whole)


def test_missing_files(store: Store) -> None:
    for path in files(store):
        if path.name in ("format.json", "manifest.json"):
            continue
        whole = path.read_bytes()
        path.unlink()
        with pytest.raises(CorruptIndexError, match="the file is missing") as caught:
            everything(store.url)
        assert path.name in str(caught.value)
        path.write_bytes(whole)


def test_verify_names_each_damaged_file(store: Store) -> None:
    assert verify(store) == []
    root = Path(store.url.removeprefix("file://"))
    for path in files(store):
        whole = path.read_bytes()
        path.write_bytes(flip(whole, len(whole) // 2, 1))
        found = verify(Store.open(store.url)) if path.name != "format.json" else verify(store)
        assert [p.path for p in found] == [str(path.relative_to(root))], found
        assert all(p.what and str(p).startswith(p.path) for p in found)
        if path.name not in ("format.json", "manifest.json"):
            path.unlink()
            assert [(p.path, p.what) for p in verify(store)] == [(str(path.relative_to(root)), "the file is missing")]
        path.write_bytes(whole)


def resealed(path: Path, change: Callable[[dict[str, object]], None]) -> None:
    """Change a manifest and seal it again, as a mistaken writer would."""
    body = json.loads(path.read_bytes())["body"]
    change(body)
    path.write_bytes(manifests.sealed(FORMAT_VERSION, manifests._canonical(body)))


def test_verify_tells_what_does_not_fit_together(store: Store) -> None:
    def rows(body: dict[str, object]) -> None:
        body["writes"][0]["inputs"][0]["rows"] = 41  # type: ignore[index]

    def edges(body: dict[str, object]) -> None:
        body["writes"][0]["tensors"][0]["edges"] = 5  # type: ignore[index]

    def size(body: dict[str, object]) -> None:
        body["writes"][0]["axes"][0]["size"] = 7  # type: ignore[index]

    for change, said in ((rows, "the manifest says 1 of 41"), (edges, "of 5"), (size, "outside of its axes of 7")):
        path = next(p for p in files(store) if p.name == "manifest.json")
        whole = path.read_bytes()
        resealed(path, change)
        found = verify(Store.open(store.url))
        assert said in " ".join(p.what for p in found)
        path.write_bytes(whole)


@pytest.mark.parametrize("escape", ["../../../etc/passwd", "/etc/passwd", "tensors/../../x", "tensors//x", "a\\b"])
def test_paths_that_leave_the_step_are_refused(store: Store, escape: str) -> None:
    def change(body: dict[str, object]) -> None:
        body["files"][0]["path"] = escape  # type: ignore[index]

    path = next(p for p in files(store) if p.name == "manifest.json")
    resealed(path, change)
    with pytest.raises(CorruptIndexError, match="not a path within the store"):
        Store.open(store.url).manifest(path.parent.name)


@pytest.mark.parametrize("name", ["../steps", "", ".", "..", "no/such", "a\0b", "x" * 300])
def test_step_names_that_are_none(store: Store, name: str) -> None:
    with pytest.raises(UnknownStepError):
        store.manifest(name)


def test_an_unknown_step_names_near_ones(store: Store) -> None:
    step = store.steps()[0]
    with pytest.raises(UnknownStepError, match=step):
        store.manifest(step[:-1])


def test_newer_formats_are_refused_by_name(store: Store) -> None:
    manifest = next(p for p in files(store) if p.name == "manifest.json")
    whole = manifest.read_bytes()
    manifest.write_bytes(whole.replace(b'"format":3', b'"format":4', 1))
    with pytest.raises(StoreFormatError, match=r"manifest.json has store format 4.*up to format 3"):
        store.manifest(manifest.parent.name)
    manifest.write_bytes(whole)
    (Path(store.url.removeprefix("file://")) / "format.json").write_text('{"format":4,"more":[]}')
    with pytest.raises(StoreFormatError, match=r"format.json has store format 4"):
        Store.open(store.url)


def test_a_manifest_under_another_steps_name(store: Store) -> None:
    one, other = [p for p in files(store) if p.name == "manifest.json"][:2]
    one.write_bytes(other.read_bytes())
    with pytest.raises(CorruptIndexError, match="the manifest of another step"):
        store.manifest(one.parent.name)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["status"], "done", r"body.status is 'done', not one of"),
        (["writes"], {}, r"body.writes is an object, not a list"),
        (["writes", 0, "axes", 1, "size"], "9", r"body.writes\[0\].axes\[1\].size is a string, not int"),
        (["writes", 0, "axes", 1, "size"], True, r"size is bool, not int"),
        (["key"], None, r"body.key is null, not an object"),
        (["key", "more"], 1, r"body.key has other keys than StepKey: more unknown"),
        (["engine"], [["a"]], r"body.engine\[0\] is a list, not a list of 2"),
        (["writes", 0, "tensors", 0, "by_out"], "tensors/none", r"does not list"),
        (["writes", 0, "tensors", 0, "src"], 7, r"axes that do not exist"),
        (["writes", 0, "axes", 1, "version"], "f", r"a version that is not its own"),
        (["format_version"], 1, r"it has two formats, 3 and 1"),
    ],
)
def test_manifests_of_another_shape(store: Store, path: list[object], value: object, said: str) -> None:
    def change(body: dict[str, object]) -> None:
        at: object = body
        for key in path[:-1]:
            at = at[key]  # type: ignore[index]
        at[path[-1]] = value  # type: ignore[index]

    manifest = next(p for p in files(store) if p.name == "manifest.json")
    resealed(manifest, change)
    with pytest.raises(CorruptIndexError, match=said):
        store.manifest(manifest.parent.name)


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"format":0}', b'{"format":true}', b"\xff", b"[" * 100_000])
def test_what_is_no_manifest_at_all(text: bytes) -> None:
    with pytest.raises(CorruptIndexError, match=r"m\.json is corrupt"):
        manifests.load(text, "m.json")


def test_a_key_that_is_missing_takes_its_default_or_is_named(store: Store) -> None:
    manifest = store.manifests()[0]
    body = json.loads(manifests.dump(manifest))["body"]
    del body["error"]
    assert manifests.from_json(Manifest, body, "m.json") == manifest
    del body["step"]
    with pytest.raises(CorruptIndexError, match="step missing"):
        manifests.from_json(Manifest, body, "m.json")
