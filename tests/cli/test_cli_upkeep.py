"""`provspark verify`, `repair` and `gc` over one store."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from _steps import publish, read, version, write
from click.testing import CliRunner

from provspark.cli.common import show_step
from provspark.cli.main import main
from provspark.index_store.store.store import Store

RAW = version("/raw", {"r": 3})
CLEAN = version("/clean", {"c": 3}, {"c"})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(str(tmp_path / "prov"), create=True)
    publish(store, "old", write(version("/old", {"o": 3}, {"o"}), [(RAW, [(0, 0)])]))
    publish(store, "clean", write(CLEAN, [(RAW, [(0, 0), (1, 2)])]))
    publish(store, "report", write(version("/report", {"f": 1}, {"f"}), [(read(CLEAN), [(0, 1)])]))
    return store


def call(store: Store, *args: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, [args[0], "--store", store.url, *args[1:]])
    assert done.exit_code == code, done.output
    return done.output


def step(store: Store, task: str) -> str:
    return next(m.step for m in store.manifests() if m.key.task_id == task)


def damage(store: Store, task: str) -> str:
    """Break the only file of a step's tensor; return its path within the store."""
    name = step(store, task)
    path = f"steps/{name}/{store.manifest(name).writes[0].tensors[0].by_out}"
    full = Path(store.url.removeprefix("file://")) / path
    full.write_bytes(full.read_bytes()[:-1] + b"x")
    return path


def test_verify_tells_what_is_damaged_and_repair_marks_it(store: Store) -> None:
    assert "3 steps checked, no problem found" in call(store, "verify")
    path = damage(store, "clean")
    (problem,) = json.loads(call(store, "verify", "--json", code=1))
    assert problem["path"] == path
    assert "1 step checked" in call(store, "verify", step(store, "old"))
    said = call(store, "repair", "--dry-run")
    assert "untracked" in said
    assert "1 repair would be done" in said
    call(store, "verify", code=1)
    (done,) = json.loads(call(store, "repair", "--json"))
    assert (done["step"], done["action"]) == (step(Store.open(store.url), "clean"), "untracked")
    assert "no repair done" in call(store, "repair")
    call(store, "verify")


def test_gc_keeps_what_is_asked_for_and_what_that_needs(store: Store) -> None:
    old, clean, report = (step(store, task) for task in ("old", "clean", "report"))
    found = json.loads(call(store, "gc", "--keep", report, "--dry-run", "--json"))
    assert found == {"kept": [report], "needed": [clean], "removed": [old], "leftovers": []}
    assert len(store.steps()) == 3
    said = call(store, "gc", "--keep", report)
    assert old in said
    assert "1 step removed, 1 kept, 1 more needed by them; no leftover file removed." in said
    assert sorted(store.steps()) == sorted([clean, report])
    assert "Nothing is selected to be kept" in call(store, "gc", code=2)
    assert "2 kept" in call(store, "gc", "--keep-runs", "1")
    assert "2 steps removed" in call(store, "gc", "--keep-since", "2100-01-01")


def test_a_terminal_is_shown_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    show_step("a", 0, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for number, name in enumerate("ab"):
        show_step(name, number, 2)
    said = capsys.readouterr().err
    assert "1 of 2: a" in said
    assert said.endswith("\r\x1b[K")
