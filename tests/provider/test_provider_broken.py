"""A step that can't be read is named, to those who may see it, and the others answer."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _damage import DAMAGES, UNNAMED, deny, manifest_of, replace
from _http import BASE, build, client, id_of
from _steps import publish, version, write

import provspark
from provspark.api import stops_of
from provspark.errors import ExpectationError, StoreMissingError
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.store.store import Store
from provspark.index_store.store.verification import verify
from provspark.model.steps import StepKey
from provspark.rebuild import rebuild_from_stores

pytest_plugins = ("_s3",)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path)


def break_step(root: Path, task: str, damage: str) -> tuple[str, str]:
    """Damage a step's manifest; return the step's id and the file."""
    path = manifest_of(root / "prov", task)
    DAMAGES[damage][0](path)
    return path.parent.name, f"steps/{path.parent.name}/manifest.json"


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_others_answer_in_python(root: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    step, file = break_step(root, "hide", damage)
    prov = provspark.open(root / "prov")
    (broken,) = prov.broken
    assert (broken.step, broken.file, broken.fault) == (step, file, DAMAGES[damage][1])
    assert DAMAGES[damage][2] in broken.why
    assert str(root) not in broken.why
    assert ("Upgrade" if damage == "newer" else "`provspark verify`") in broken.advice
    names = [d.rsplit("/", 1)[1] for d in prov.datasets().table()["dataset"].to_pylist()]
    assert names == ["loose", "people", "raw", "report", "secret"]
    assert step not in prov.steps().table()["step"].to_pylist()
    table = prov.backward(str(root / "people"), rows=[3]).table()
    assert table["related_row"].to_pylist() == [4]
    (stop,) = stops_of(table)
    assert (stop.what, stop.step, stop.dataset) == ("unreadable", step, "")
    assert file in str(stop)
    assert [s.what for s in prov.trace(str(root / "report"), [0]).stops] == ["unreadable"]
    # What would go through the step is empty, not an error: it is not known whether the step would have led there.
    assert prov.backward(str(root / "report"), rows=[0], to=str(root / "raw")).table().num_rows == 0
    assert caplog.text.count(step) == 2  # the name and its file, in one line
    prov.refresh()
    assert caplog.text.count(step) == 2
    assert [p.path for p in verify(Store.open(str(root / "prov")))] == [file]


def test_a_manifest_without_permission(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = manifest_of(root / "prov", "hide")
    deny(monkeypatch, path)
    prov = provspark.open(root / "prov")
    (broken,) = prov.broken
    assert (broken.step, broken.fault, broken.why) == (path.parent.name, "unreadable", "Permission denied")
    assert prov.datasets().table().num_rows == 5
    (problem,) = verify(Store.open(str(root / "prov")))
    assert "can't be read: Permission denied" in str(problem)


def test_a_store_whose_only_step_cant_be_read_is_not_empty(tmp_path: Path) -> None:
    step = write(version("/out", {"o": 2}, ["o"]), [(version("/in", {"i": 2}), [(0, 1)])])
    publish(Store.open(str(tmp_path / "prov"), create=True), "copy", step)
    manifest_of(tmp_path / "prov", "copy").write_bytes(b"")
    prov = provspark.open(tmp_path / "prov")
    asks: list[Callable[[], object]] = [
        lambda: prov.backward("/out").table(),
        lambda: prov.backward("/out", run="run").table(),
        lambda: prov.impact("/out"),
        lambda: prov.counts("copy").table(),
    ]
    for ask in asks:
        with pytest.raises(LookupError, match=r"\. 1 step of the store can't be read. Run `provspark verify`"):
            ask()


def test_a_store_without_steps_is_empty(tmp_path: Path) -> None:
    Store.open(str(tmp_path / "prov"), create=True)
    with pytest.raises(LookupError, match="No dataset named 'file:///out' in this store, which is empty"):
        provspark.open(tmp_path / "prov").backward("/out").table()


def test_a_store_that_is_gone_is_no_broken_step(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prov = provspark.open(root / "prov")
    (root / "prov").rename(root / "elsewhere")
    with pytest.raises(StoreMissingError, match="is gone"):
        prov.refresh()
    (root / "elsewhere").rename(root / "prov")
    prov.refresh()
    assert prov.broken == ()


def test_a_step_that_breaks_and_is_mended_while_it_is_open(root: Path) -> None:
    path = manifest_of(root / "prov", "hide")
    whole = path.read_bytes()
    prov = provspark.open(root / "prov")
    assert prov.broken == ()
    replace(path)
    prov.refresh()
    assert [(b.step, b.key is not None) for b in prov.broken] == [(path.parent.name, True)]  # known from before
    path.rmdir()
    path.write_bytes(whole)
    prov.refresh()
    assert prov.broken == ()
    assert stops_of(prov.backward(str(root / "people"), rows=[0]).table()) == ()


def test_one_of_several_stores(root: Path, tmp_path: Path) -> None:
    other = build(tmp_path / "other")
    catalogue = f"sqlite:///{tmp_path / 'catalogue.db'}"
    with Catalogue.open(catalogue) as opened:
        rebuild_from_stores(opened, [str(root / "prov"), str(other / "prov")])
    (other / "prov").rename(other / "away")
    prov = provspark.open(catalogue)
    (broken,) = prov.broken
    assert (broken.step, "other/prov" in broken.store) == ("", True)
    assert "Check that this store can be reached" in str(broken)
    assert prov.datasets().table().num_rows == 5
    (other / "away").rename(other / "prov")
    prov.refresh()
    assert (prov.broken, prov.datasets().table().num_rows) == ((), 10)
    (root / "prov").rename(root / "away")
    prov.refresh()
    assert len(prov.broken) == 1
    (other / "prov").rename(other / "away")
    with pytest.raises(StoreMissingError):
        prov.refresh()


def answers(root: Path, dags: Any) -> list[dict[str, Any]]:
    """One answer of every kind that says what it leaves out."""
    web = client(root, dags)
    people = {"dataset": id_of(root, "people"), "rows": [0]}
    column = {"source": id_of(root, "raw"), "column": "age"}
    got = [
        web.get(f"{BASE}/about"),
        web.get(f"{BASE}/datasets"),
        web.get(f"{BASE}/steps"),
        web.post(f"{BASE}/trace", json=people),
        web.post(f"{BASE}/composition", json=people | column),
        web.post(f"{BASE}/how", json=people),
        web.post(f"{BASE}/cells", json=people | {"columns": ["age"]}),
        web.get(f"{BASE}/datasets/{people['dataset']}/columns"),
        web.get(f"{BASE}/datasets/{people['dataset']}/dropped"),
    ]
    assert [r.status_code for r in got] == [200] * len(got), [r.text for r in got]
    return [r.json() for r in got]


@pytest.mark.parametrize("damage", DAMAGES)
def test_over_http_to_whom_it_may_concern(root: Path, damage: str) -> None:
    step, file = break_step(root, "hide", damage)
    for told in answers(root, None):
        (broken,) = told["broken"]
        assert (broken["step"], broken["file"], broken["fault"]) == (step, file, DAMAGES[damage][1])
        assert DAMAGES[damage][2] in broken["why"]
        assert broken["advice"]
        assert str(root) not in str(broken)
        assert "unreadable" not in [s["what"] for s in told.get("stops", ())]  # clients know four kinds
    for dags in (["shop", "vault"], ["shop"]):
        for told in answers(root, dags):
            if damage in UNNAMED:  # whose DAG nobody knows
                (broken,) = told["broken"]
                assert (broken["step"], broken["file"], "its DAG is unknown" in broken["why"]) == (None, None, True)
            else:
                assert [b["step"] for b in told["broken"]] == ([step] if "vault" in dags else [])
            assert dags != ["shop"] or "hide" not in str(told)


def test_over_http_nothing_is_broken(root: Path) -> None:
    assert all(told["broken"] == [] for told in answers(root, None))


def test_an_expectation_of_nothing_is_not_met_by_a_step_that_is_not_read(root: Path) -> None:
    from provspark.operators.expecting import Answered, confirm

    break_step(root, "hide", "truncated")
    table = provspark.open(root / "prov").backward(str(root / "report"), rows=[0], to=str(root / "raw")).table()
    assert table.num_rows == 0
    with pytest.raises(ExpectationError, match=r"can't confirm 'nothing': .*Step .*it is not JSON"):
        confirm("backward", "nothing", Answered.of(table, stops_of(table), to=True))


def test_the_log_names_it_once(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    step, _ = break_step(root, "hide", "truncated")
    with caplog.at_level(logging.WARNING):
        answers(root, None)
    assert caplog.text.count(f"Step {step}") == 1


def test_on_an_object_store(s3: str) -> None:
    store = Store.open(f"s3://bucket/broken{s3}", create=True)
    out = version("/out", {"a": 1}, {"a"})
    sound, broken = publish(store, "sound", write(out)), publish(store, "broken", write(version("/x", {"a": 1}, {"a"})))
    for damage in (b"", b"{}", b'{"format":9}'):
        store.folder.replace(f"steps/{broken.step}/manifest.json", damage)
        prov = provspark.open(store.url)
        assert [b.step for b in prov.broken] == [broken.step]
        assert prov.steps().table()["step"].to_pylist() == [sound.step]
        assert "endpoint_override" not in str(prov.broken[0])


def test_folders_that_no_writer_made(root: Path) -> None:
    known = client(root).get(f"{BASE}/steps").json()
    (manifest, *_) = sorted((root / "prov" / "steps").glob("*/manifest.json"))
    for name in (b"\xff", b"a\\b"):
        folder = Path(os.fsdecode(os.fsencode(root / "prov" / "steps") + b"/" + name))
        folder.mkdir()
        (folder / "manifest.json").write_bytes(manifest.read_bytes())
    assert client(root).get(f"{BASE}/steps").json() == known


def test_a_manifest_of_a_step_that_the_user_may_not_see(root: Path) -> None:
    api = client(root, ["shop"])
    assert api.get(f"{BASE}/about").json()["broken"] == []
    manifest_of(root / "prov", "clean").write_bytes(manifest_of(root / "prov", "hide").read_bytes())
    told = client(root, ["shop"]).get(f"{BASE}/about").text
    assert "another step" in told or "its DAG is unknown" in told
    assert "vault" not in told and "hide" not in told


def test_an_error_that_is_no_utf_8(root: Path) -> None:
    writer = Store.open(str(root / "prov")).writer(StepKey("odd", "r9", "shop"))
    clock = "2026-01-01T00:00:59"
    writer.publish(status="failed", started=f"{clock}.0", ended=f"{clock}.5", error="no file '\udcff'")
    (step,) = [s for s in client(root).get(f"{BASE}/steps").json()["items"] if s["task_id"] == "odd"]
    answer = client(root).get(f"{BASE}/steps/{step['step']}")
    assert answer.status_code == 200 and answer.json()["error"] == "no file '\\udcff'"
