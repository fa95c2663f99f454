"""A damaged file of a step: answers that need it name it and say what to do; to whom the step is hidden, no name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _damage import deny, replace
from _http import BASE, build, client, id_of, on_disk
from _people import people
from _steps import write
from fastapi.testclient import TestClient

from provspark.index_store.profiles.profile import Profile, Profiles
from provspark.index_store.store.store import Store
from provspark.model.steps import StepKey

KINDS = ("operations", "profiles", "tensors", "versions")


def flip(path: Path) -> None:
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


DAMAGE: dict[str, Callable[[Path], None]] = {
    "flipped": flip,
    "truncated": truncate,
    "empty": lambda path: path.write_bytes(b"") and None,  # type: ignore[func-returns-value]
    "deleted": Path.unlink,
    "a folder": replace,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The steps of `_people`, and one with a profile."""
    people(tmp_path)
    store = Store.open(str(tmp_path / "prov"))
    values: dict[str, list[Any]] = {"name": ["a"], "age": [1], "e_mail": ["b"]}
    made, source = (on_disk(tmp_path / n, values, written=n == "made") for n in ("made", "source"))
    writer = store.writer(StepKey("profiled", "r1", "people"))
    added = writer.add(write(made, [(source, [(0, 0)])]))
    profiled = (added.output, *added.inputs)
    writer.profile(added, Profiles(tuple(Profile(v.dataset.uri, v.id, 1, ()) for v in profiled)))
    writer.publish(status="succeeded", started="2024-05-01T04:00:00.000000", ended="2024-05-01T04:00:01.000000")
    return tmp_path


def every_answer(root: Path, api: TestClient) -> Iterator[Any]:
    """Ask every route that reads a step's files, about each data set and step."""
    found = api.get(f"{BASE}/datasets").json()
    yield from (api.get(f"{BASE}/{name}") for name in ("about", "steps"))
    for d in found["items"]:
        at, body = f"{BASE}/datasets/{d['id']}", {"dataset": d["id"], "rows": [0]}
        names = [c["name"] for c in api.get(at).json()["columns"]]
        yield from (
            api.get(at + rest) for rest in ("/rows", "/export", "/operations", "/columns", "/dropped", "/related")
        )
        for way in ("backward", "forward"):
            turned = body | {"direction": way}
            yield from (
                api.post(f"{BASE}{p}", json=turned) for p in ("/trace", "/how", "/trace/graph", "/trace/export")
            )
            yield api.post(f"{BASE}/cells", json=turned | {"columns": names[:1]})
            yield api.post(f"{BASE}/trace/rows", json=turned | {"node": 0})
        for other in found["items"]:
            yield api.post(f"{BASE}/co_contributory", json=body | {"to": other["id"]})
            yield api.post(f"{BASE}/composition", json=body | {"source": other["id"], "column": "name"})
    for s in api.get(f"{BASE}/steps").json()["items"]:
        yield from (api.get(f"{BASE}/steps/{s['step']}{rest}") for rest in ("", "/operations", "/profiles"))


def files(root: Path) -> list[Path]:
    """All files of a step, and a profile of another."""
    report, profiled = (sorted(root.glob(f"prov/steps/people-{task}-*"))[0] for task in ("report", "profiled"))
    return [p for kind in KINDS for p in sorted((profiled if kind == "profiles" else report).glob(f"{kind}/*"))]


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_file_of_a_step_is_named_by_each_answer_that_needs_it(root: Path, damage: str) -> None:
    whole = files(root)
    assert {p.parent.name for p in whole} == set(KINDS)
    sound = [a.status_code for a in every_answer(root, client(root))]
    assert set(sound) <= {200, 404, 409, 422}, sound
    kinds: set[str] = set()
    for path in whole:
        data = path.read_bytes()
        DAMAGE[damage](path)
        named = 0
        for before, answer in zip(sound, every_answer(root, client(root)), strict=True):
            if answer.status_code == before:
                continue
            problem = answer.json()
            assert (answer.status_code, problem["type"]) == (500, "urn:provspark:file-corrupt"), answer.text
            assert str(path.relative_to(root / "prov")) in problem["detail"]
            assert "`provspark repair`" in problem["detail"]
            assert str(root) not in answer.text
            named += 1
        # A list of the files of an input is only read where the version that the writer lists has another id.
        assert named or path.parent.name == "versions", path
        kinds |= {path.parent.name} if named else set()
        path.rmdir() if damage == "a folder" else None
        path.write_bytes(data)
    assert kinds == set(KINDS)


def test_a_file_without_permission(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = next(root.glob("prov/steps/people-clean-*/operations/*"))
    deny(monkeypatch, path)
    answer = client(root).get(f"{BASE}/steps/{path.parents[1].name}/operations")
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (500, "urn:provspark:file-unreadable")
    assert f"{path.relative_to(root / 'prov')} can't be read: Permission denied" in problem["detail"]
    assert str(root) not in answer.text


def test_a_tensor_of_a_newer_version(root: Path) -> None:
    from provspark.errors import StoreFormatError
    from provspark.index_store.store import store

    def newer(*_: Any) -> None:
        raise StoreFormatError(f"{root}/prov/steps/x/tensors/0.parquet", 9, 2)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "TensorFile", newer)
        answer = client(root).post(f"{BASE}/trace", json={"dataset": id_of(root, "clean.csv"), "rows": [0]})
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (500, "urn:provspark:format-newer")
    assert problem["detail"].startswith("steps/x/tensors/0.parquet has store format 9; ")
    assert "Upgrade" in problem["detail"]


@pytest.mark.parametrize("kind", ["versions", "tensors"])
def test_a_hidden_step_is_not_named(tmp_path: Path, kind: str) -> None:
    root = build(tmp_path)
    (hidden,) = root.glob("prov/steps/vault-*")
    for path in (hidden / kind).iterdir():
        flip(path)
    asked = {"dataset": id_of(root, "report"), "rows": [0]}
    mine = [a for a in (client(root, ["shop"]).post(f"{BASE}/trace", json=asked),) if a.status_code != 200]
    for answer in mine:
        problem = answer.json()
        assert (answer.status_code, problem["type"]) == (500, "urn:provspark:step-hidden")
        assert "a step that you have no access to" in problem["detail"]
        assert not any(word in json.dumps(problem) for word in ("vault", "hide", "secret", kind))
    assert mine or kind == "tensors"
    for dags in (None, ["vault"]):
        asked = {"dataset": id_of(root, "secret"), "rows": [0]}
        problem = client(root, dags).post(f"{BASE}/trace", json=asked).json()
        assert f"steps/{hidden.name}/{kind}/" in problem["detail"]


def test_a_step_that_is_removed_meanwhile_tells_no_folder(root: Path) -> None:
    api = client(root)
    assert api.get(f"{BASE}/about").status_code == 200
    store = Store.open(str(root / "prov"))
    (step,) = [m.step for m in store.manifests() if m.key.task_id == "clean"]
    store.remove(step)
    answer = api.post(f"{BASE}/trace", json={"dataset": id_of(root, "clean.csv"), "rows": [0]})
    assert answer.status_code == 404
    said = f"Step {step} was removed from the store while it was being read. Repeat the request."
    assert answer.json()["detail"] == said
