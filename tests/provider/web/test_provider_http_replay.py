"""Replays and profiles over HTTP: in a process of their own, that can be ended; nothing hidden or masked shows."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from _http import BASE, build, client, id_of
from _people import people
from fastapi.testclient import TestClient

import provspark
from provspark.errors import PackageMissingError, QuestionCancelledError, ReplayError
from provspark.index_store.query.parameters import replays
from provspark.model.progress import QuestionProgress, watched
from provspark.web.limits import Limits
from provspark.web.policy import Policy
from provspark.web.question_bodies import asked_over_http
from provspark.web.replays import Replays

ANSWERS = 'import sys\nfor line in sys.stdin: print(\'{"done": 1, "of": 2}\\n{"answer": []}\', flush=True)'
SLEEPS = """import subprocess, sys
with open(sys.argv[1], "w") as file:
    print(subprocess.Popen(["sleep", "99"]).pid, file=file)
input(), input()"""
LACKS = 'import sys\nfor line in sys.stdin: print(\'{"error": "PackageMissingError", "why": "x"}\', flush=True)'


LIMITS = Limits(replay_seconds=60)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of this test alone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def ask(replays: Replays, user: str = "ann") -> Any:
    return asyncio.run(replays.run({}, user))


def python(*argv: str) -> tuple[str, ...]:
    return (sys.executable, "-c", *argv)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path)


@pytest.fixture
def closing() -> Iterator[list[TestClient]]:
    made: list[TestClient] = []
    yield made
    for api in made:
        api.app.state.replays.close()  # type: ignore[attr-defined]


def gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with suppress(OSError):
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        time.sleep(0.05)
    return False


def test_an_idle_process_answers_the_next_question() -> None:
    replays = Replays(LIMITS, "test", python(ANSWERS))
    watch = QuestionProgress()
    with watched(watch):
        assert ask(replays) == []
        (first,) = replays._idle
        assert ask(replays) == [] and replays._idle == [first]
    assert (watch.what, watch.done, watch.total) == ("operations", 1, 2)
    replays.close()
    assert not first.alive


def test_cancelling_ends_the_process_and_what_it_started(tmp_path: Path) -> None:
    replays = Replays(LIMITS, "test", python(SLEEPS, str(tmp_path / "pid")))
    watch = QuestionProgress()

    def cancel() -> None:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            time.sleep(0.02)
        watch.cancel()

    thread = Thread(target=cancel)
    thread.start()
    with watched(watch), pytest.raises(QuestionCancelledError):
        ask(replays)
    thread.join()
    assert gone(int((tmp_path / "pid").read_text())) and not replays._idle


def test_limits_and_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="disabled"):
        ask(Replays(Limits(replay_seconds=0), "test"))
    slow = Replays(Limits(replay_seconds=1), "test", python(SLEEPS, str(tmp_path / "pid")))
    with pytest.raises(ReplayError, match="exceeded 1 seconds"):
        ask(slow)
    assert gone(int((tmp_path / "pid").read_text()))
    with pytest.raises(ReplayError, match="exited"):
        ask(Replays(LIMITS, "test", python("")))
    lacking = Replays(LIMITS, "test", python(LACKS))
    with pytest.raises(PackageMissingError, match="pip install pyspark"):
        ask(lacking)
    lacking.close()


def test_only_steps_that_the_user_may_see_are_replayed(root: Path, closing: list[TestClient]) -> None:
    asked = {"dataset": id_of(root, "people"), "rows": [0]}
    seen = {}
    for dags in (["shop"], ["vault"], None):
        api = client(root, dags)
        closing.append(api)
        told = api.post(f"{BASE}/replay", json=asked)
        assert told.status_code == 200, told.text
        seen[str(dags)] = [(p["direction"], p["step"]["task_id"], p["step"]["dag_id"]) for p in told.json()["passages"]]
        assert all("kept no operations" in p["why"] for p in told.json()["passages"])
    shop = [("backward", "clean", "shop"), ("forward", "report", "shop")]
    assert seen["['shop']"] == shop
    assert seen["['vault']"] == [("forward", "hide", "vault")]
    assert {*seen["None"]} == {*shop, ("forward", "hide", "vault")}
    prov = provspark.open(str(root / "prov"))
    hidden = next(s for s in prov.steps().table()["step"].to_pylist() if "hide" in s)
    refused = closing[0].post(f"{BASE}/replay", json={**asked, "step": hidden})
    assert refused.status_code == 404 and "hide" not in refused.text
    assert closing[0].get(f"{BASE}/steps/{hidden}/profiles").status_code == 404
    assert closing[0].get(f"{BASE}/steps/{hidden}/operations/0/profiles").status_code == 404
    assert closing[1].post(f"{BASE}/replay", json={**asked, "dataset": id_of(root, "raw")}).status_code == 404
    many = closing[0].post(f"{BASE}/replay", json={**asked, "rows": list(range(21))})
    assert many.status_code == 422 and "1 to 20" in many.json()["detail"]


def test_profiles_are_those_of_the_python_api(root: Path) -> None:
    prov = provspark.open(str(root / "prov"))
    step = next(s for s in prov.steps().table()["step"].to_pylist() if "clean" in s)
    told = client(root).get(f"{BASE}/steps/{step}/profiles").json()
    impact = prov.impact(step)
    assert [c["name"] for c in told["columns"]] == [name for name, _, _ in impact.pairs()]
    assert (told["before"]["label"], told["before_rows"], told["after_rows"]) == ("raw", 5, 4)
    (name, _, _) = told["columns"]
    assert name["before"]["top"] == [[s.value, s.count] for s in impact.before.column("name").top]
    age = impact.after.column("age")
    assert told["columns"][1]["after"]["mean"] == age.mean
    assert [b["count"] for b in told["columns"][1]["after"]["histogram"]] == [b.count for b in age.histogram]
    masked = client(root, policy=Policy.of(True, "*mail", "name age")).get(f"{BASE}/steps/{step}/profiles")
    assert [c["name"] for c in masked.json()["columns"] if c["masked"]] == ["e_mail"] and "a@x" not in masked.text
    derived = client(root, policy=Policy.of(True, "*mail")).get(f"{BASE}/steps/{step}/profiles")
    assert all(c["masked"] for c in derived.json()["columns"])  # the step kept no operations
    for path in ("profiles", "operations/0/profiles"):
        assert client(root, policy=Policy(False)).get(f"{BASE}/steps/{step}/{path}").status_code == 403


@pytest.mark.long
@pytest.mark.spark
def test_values_before_and_after_without_what_is_masked(tmp_path: Path, closing: list[TestClient]) -> None:
    people(tmp_path)
    asked: dict[str, Any] = {"dataset": id_of(tmp_path, "people.csv"), "rows": [0, 1], "direction": "forward"}

    def replayed(policy: Policy) -> tuple[dict[str, Any], str]:
        api = client(tmp_path, policy=policy)
        closing.append(api)
        answer = api.post(f"{BASE}/replay", json=asked)
        assert answer.status_code == 200, answer.text
        return (told := answer.json()["passages"][0]), json.dumps(told)

    told, _ = replayed(Policy())
    source, kept, banded, *_, last = told["stages"]
    assert [line["values"] for line in source["lines"]] == [["Ada", "Rome", 36], ["Bob", "Oslo", None]]
    assert [line["values"] for line in kept["lines"]] == [["Ada", "Rome", 36]]
    assert [(line["values"], line["added"]) for line in banded["lines"]] == [(["Ada", "Rome", 36, "young"], ["band"])]
    assert [line["values"] for line in last["lines"]] == [["Ada", "Rome", "young"]]
    (ended,) = told["endings"]
    assert (ended["cause"], ended["lines"], ended["text"]) == ("condition", [1], "filter age is not null")
    # What is made of a masked column is masked too, and so is text that may tell its values.
    told, text = replayed(Policy.of(True, "name"))
    source, kept, banded, *_, last = told["stages"]
    assert last["lines"][0]["values"] == [None, "Rome", None]
    assert [c["masked"] for c in last["columns"]] == [True, False, True]
    assert [s["text"] is None for s in (source, kept, banded)] == [False, False, True]
    assert "Ada" not in text and "young" not in text
    told, text = replayed(Policy(False))
    assert all(line["values"] is None for s in told["stages"] for line in s["lines"])
    assert not [word for word in ("Ada", "Rome", "Bob", "filter age") if word in text]


@pytest.mark.long
@pytest.mark.spark
def test_profiles_between_operations_without_what_is_masked(
    spark: Any, tmp_path: Path, closing: list[TestClient]
) -> None:
    people(tmp_path)
    prov = provspark.open(str(tmp_path / "prov"))
    (step,) = (s for s in prov.steps().table()["step"].to_pylist() if "clean" in s)

    def asked(policy: Policy, number: int, **more: Any) -> Any:
        api = client(tmp_path, policy=policy)
        closing.append(api)
        return api.get(f"{BASE}/steps/{step}/operations/{number}/profiles", params=more)

    told = asked(Policy(), 1).json()
    mine = prov.operation_profiles(step, [1])
    impact = mine.impact(1)
    assert (told["before_rows"], told["after_rows"]) == (impact.before.rows, impact.after.rows)
    assert told["verified"] is True and told["operation"] == 1 and told["text"] == mine.operations[1].text
    ages = next(c for c in told["columns"] if c["name"] == "age")
    assert ages["before"]["nulls"] == 2 and ages["after"]["nulls"] == 0
    assert ages["after"]["mean"] == impact.after.column("age").mean
    first = asked(Policy(), 0).json()
    assert first["before_rows"] is None and first["children"] == [] and first["columns"][0]["before"] is None
    last = len(mine.operations) - 1
    masked = asked(Policy.of(True, "name"), last)
    # What is made of a masked column is masked too.
    assert {c["name"] for c in masked.json()["columns"] if c["masked"]} == {"name", "band"}
    assert "Ada" not in masked.text and "young" not in masked.text
    assert asked(Policy(), 99).status_code >= 400 and "no operation 99" in asked(Policy(), 99).text
    assert "Choose one of them with `child`" in asked(Policy(), 1, child=1).text


@pytest.mark.long
@pytest.mark.spark
def test_questions_that_replay_answer_as_python_does(spark: Any, tmp_path: Path, closing: list[TestClient]) -> None:
    people(tmp_path)
    prov = provspark.open(str(tmp_path / "prov"))
    (step,) = (s for s in prov.steps().table()["step"].to_pylist() if "clean" in s)
    source, clean = ((tmp_path / f"{name}.csv").as_uri() for name in ("people", "clean"))
    bodies: dict[str, dict[str, Any]] = {
        "replay": {"dataset": clean, "rows": [0]},
        "history": {"dataset": clean, "columns": ["band"], "rows": [0], "direction": "backward"},
        "co_contributory_lines": {"dataset": source, "rows": [0], "operation": 1, "to": 2},
        "co_dependency_lines": {"dataset": source, "rows": [0], "operation": 2, "to": 2, "via": 0},
        "counts": {"step": step},
        "operation_profiles": {"step": step, "operations": [1, 2]},
        "why_not": {"dataset": clean, "where": ["name = Bob"]},
        "cells": {"dataset": clean, "rows": [0, 1], "columns": ["band"], "replay": True},
    }
    assert {*bodies} == {q.name for q in asked_over_http() if replays(q)}
    apis = [client(tmp_path), client(tmp_path, policy=Policy.of(True, "name")), client(tmp_path, ["other"])]
    closing += apis
    told = {}
    for name, body in bodies.items():
        whole, masked, hidden = (api.post(f"{BASE}/questions/{name}", json=body) for api in apis)
        assert whole.status_code == 200, (name, whole.text)
        assert masked.status_code == (403 if name in ("why_not", "cells") else 200), (name, masked.text)
        assert "Ada" not in masked.text and "young" not in masked.text, name
        assert hidden.status_code == 404, (name, hidden.text)
        told[name] = whole.json()
    assert told["counts"]["lines"] == [{**line, "step": step} for line in prov.counts(step).table().to_pylist()]
    (passage,) = told["replay"]["passages"]
    replayed = prov.replay(clean, [0])
    assert [[line["values"] for line in s["lines"]] for s in passage["stages"]] == [
        [list(line.values) for line in s.lines] for s in replayed.stages
    ]
    assert (passage["direction"], passage["verified"]) == ("backward", replayed.verified)
    history = prov.history(clean, [0], ["band"], direction="backward")
    trails = [[(t["operation"], t["columns"]) for t in p["trail"]] for p in told["history"]["passages"]]
    assert trails == [[(o.index, [c.name for c in columns]) for o, columns in p.trail] for p in history.passages]
    assert told["history"]["columns"] == ["band"] and trails[0]
    (missed,) = told["why_not"]["missed"]
    assert (missed["rows"], [e["cause"] for e in missed["endings"]]) == ([1], ["condition"])
    cells = prov.cells(clean, [0, 1], ["band"], replay=True).table()
    assert [line["related_column"] for line in told["cells"]["lines"]] == cells["related_column"].to_pylist()
    assert [line["exact"] for line in told["cells"]["lines"]] == cells["exact"].to_pylist()
    profiles = prov.operation_profiles(step, [1, 2])
    assert [(s["operation"], s["before_rows"], s["after_rows"]) for s in told["operation_profiles"]["spreads"]] == [
        (n, profiles.impact(n).before.rows, profiles.after(n).rows) for n in (1, 2)
    ]
    shared = prov.co_contributory_lines(source, [0], 1, 2)
    assert [line["values"] for line in told["co_contributory_lines"]["answer"]["lines"]] == [
        list(line.values) for line in shared.found.lines
    ]
