"""Relative paths: they name datasets wherever a question takes a name, but never over HTTP."""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from typing import Any

import _http
import pytest
from _least import least
from _people import people
from _steps import publish, version, write
from click.testing import CliRunner

import provspark.api
from provspark.airflow.events import events_from_store
from provspark.cli.main import main
from provspark.errors import UnknownDatasetError
from provspark.hooks.prov import ProvHook
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.query.parameters import parameters
from provspark.index_store.query.question import QUESTIONS, Question
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset
from provspark.operators.query import ProvQueryOperator
from provspark.replay.replaying import Replaying
from provspark.web.policy import Policy
from provspark.web.source import AnswerSource

REPORT, PEOPLE, CLEAN = "report.csv", "people.csv", "clean.csv"
WAY = {"to": PEOPLE, "via": CLEAN}
ASKED: dict[str, list[dict[str, Any]]] = {
    "datasets": [],
    "steps": [],
    "unfinished": [],
    "select": [{"dataset": REPORT}],
    "locate": [{"dataset": REPORT}],
    "values": [{"dataset": REPORT}],
    "backward": [{"dataset": REPORT}, {"dataset": REPORT, **WAY}],
    "forward": [{"dataset": PEOPLE}, {"dataset": PEOPLE, "to": REPORT, "via": [CLEAN]}],
    "trace": [{"dataset": REPORT, "to": PEOPLE}],
    "how": [{"dataset": REPORT, "to": PEOPLE}],
    "co_contributory": [{"dataset": CLEAN, "rows": [0], "to": CLEAN, "via": REPORT}],
    "co_dependency": [{"dataset": REPORT, "to": REPORT, "via": PEOPLE}],
    "composition": [{"dataset": REPORT, "source": PEOPLE, "column": "city"}],
    "correspondence": [{"dataset": REPORT, **WAY}],
    "derivations": [{"dataset": REPORT}],
    "columns": [{"dataset": REPORT, "to": PEOPLE}],
    "cells": [{"dataset": REPORT, "to": PEOPLE}],
    "operations": [{"what": REPORT}, {"what": REPORT, "to": PEOPLE}],
    "dropped": [{"dataset": PEOPLE}],
    "neighbourhood": [{"dataset": REPORT}],
    "cell_neighbourhood": [{"dataset": REPORT}],
    "profile": [{"dataset": REPORT}],
    "impact": [{"step": REPORT}, {"step": REPORT, "source": CLEAN, "output": REPORT}],
    "operation_profiles": [{"step": REPORT}],
    "replay": [{"dataset": REPORT}],
    "history": [{"dataset": REPORT}],
    "history_pages": [{"dataset": REPORT}],
    "why_not": [{"dataset": REPORT, "where": [("city", "=", "Rome")]}],
    "why_not_pages": [{"dataset": REPORT, "where": [("city", "=", "Rome")]}],
    "counts": [],
    "co_contributory_lines": [{"dataset": REPORT, "rows": [0], "operation": 1, "to": 1, "via": 1}],
    "co_dependency_lines": [{"dataset": REPORT, "rows": [0], "operation": 1, "to": 1, "via": 1}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people(tmp_path)
    (tmp_path / "sub").mkdir()
    return tmp_path


@pytest.fixture
def prov(folder: Path) -> Any:
    return provspark.open(folder / "prov")


def _placed(arguments: dict[str, Any], place: Any) -> dict[str, Any]:
    def put(value: Any) -> Any:
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            return [place(v) for v in value]
        return place(value) if isinstance(value, str) and value.endswith(".csv") else value

    return {name: put(value) for name, value in arguments.items()}


def _names(question: Question) -> set[str]:
    """The parameters that take a name."""
    return {p.name for p in parameters(question) if p.takes in ("dataset", "step or dataset", "step", "place")}


def _told(answer: Any) -> Any:
    if inspect.isgenerator(answer):
        return [_told(page) for page in answer]
    for way in ("as_dict", "table", "prov_json"):
        if hasattr(answer, way):
            return getattr(answer, way)()
    return answer


def test_each_parameter_that_takes_a_name_is_asked() -> None:
    for name, asked in ASKED.items():
        given = {p for arguments in asked for p in arguments}
        assert _names(QUESTIONS[name]) <= given | _NO_NAMES.get(name, set()), name


_NO_NAMES = {
    "counts": {"step"},
    "operation_profiles": {"output"},
    "replay": {"step"},
    "co_contributory_lines": {"step"},
    "co_dependency_lines": {"step"},
}
"""Parameters that take a step's id, and what the test's replays do not get to."""


@pytest.mark.parametrize("name", [q.name for q in QUESTIONS.values() if _names(q) - _NO_NAMES.get(q.name, set())])
def test_questions_take_relative_paths(name: str, prov: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class _GotThereError(Exception):
        pass

    def following(*_: Any) -> Any:
        raise _GotThereError

    monkeypatch.setattr(Replaying, "following", following)

    version = prov.select(str(folder / REPORT)).version
    given = {"dataset": REPORT, "step or dataset": REPORT, "place": CLEAN, "rows": [0], "column": "city"}
    asked = ASKED.get(name) or [least(QUESTIONS[name], {**given, "operation": 1, "version": version})]

    def answer(place: Any) -> Any:
        try:
            return [_told(getattr(prov, name)(**_placed(arguments, place))) for arguments in asked]
        except _GotThereError:
            return "replays"

    monkeypatch.chdir(folder / "sub")
    expected = answer(lambda v: str(folder / v))
    assert answer(lambda v: f"../{v}") == expected
    assert answer(lambda v: Path("..") / v) == expected
    monkeypatch.chdir(folder)
    assert answer(lambda v: v) == answer(lambda v: f"./{v}") == expected
    monkeypatch.chdir("/")
    for around in ("sub/..", ".", "./sub/./../sub/.."):
        assert answer(lambda v, around=around: f"{folder}/{around}/{v}") == expected
        assert answer(lambda v, around=around: f"file://{folder}/{around}/{v}") == expected
    assert answer(lambda v: f"/..{folder}/{v}") == answer(lambda v: f"file:{folder}/sub/../{v}") == expected


def test_the_folder_at_the_time_of_the_question_counts(prov: Any, folder: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(folder / "sub")
    with pytest.raises(UnknownDatasetError, match=r"sub/report\.csv"):  # the error shows which path was looked for
        prov.backward("report.csv")
    monkeypatch.chdir(folder)
    assert len(prov.backward("report.csv"))


def test_a_name_that_is_known_comes_first(tmp_path: Path, monkeypatch: Any) -> None:
    """Steps of other tools may have recorded a relative name as it is."""
    store = Store.open(str(tmp_path / "prov"), create=True)
    publish(store, "first", write(version("out", {"o": 2}, ["o"]), [(version("in", {"i": 2}), [(0, 1)])]))
    absolute = write(version(str(tmp_path / "out"), {"o": 3}, ["o"]), [(version("/in", {"i": 2}), [(2, 1)])])
    publish(store, "second", absolute)
    monkeypatch.chdir(tmp_path)
    prov: Any = provspark.open(tmp_path / "prov")
    assert prov.select("out", version=None).at.version.rows == 2
    assert prov.select(str(tmp_path / "out")).at.version.rows == 3
    publish(store, "third", write(version("/data/../out", {"o": 4}, ["o"]), [(version("/in", {"i": 2}), [(3, 1)])]))
    prov.refresh()
    assert prov.select("/data/../out").at.version.rows == 4
    with pytest.raises(UnknownDatasetError, match="'file:///out'"):
        prov.select("/data/./x/../../out")


def test_no_folder_counts_for_others(folder: Path, monkeypatch: Any) -> None:
    """As over HTTP, where the working directory is the server's."""
    monkeypatch.chdir(folder)
    prov: Any = provspark.api.Provenance(folder / "prov", relative=False)
    for same in (prov, prov.restricted(lambda _: True)):
        with pytest.raises(UnknownDatasetError):
            same.backward("report.csv")
        with pytest.raises(UnknownDatasetError):
            same.backward(str(folder / "report.csv"), to="people.csv")
        with pytest.raises(UnknownDatasetError):
            same.impact("report.csv")
        assert len(same.backward(str(folder / "report.csv")))
    prov.refresh()
    for name in ("report.csv", f"{folder}/sub/../report.csv", f"file://{folder}/sub/../report.csv"):
        with pytest.raises(UnknownDatasetError):
            prov.select(name)


def test_a_path_is_resolved_as_spark_resolves_it(folder: Path, monkeypatch: Any) -> None:
    (folder / "link").symlink_to(folder / "sub")
    monkeypatch.chdir(folder)
    assert Dataset.parse("link/a/../b").resolved().name == f"{os.fspath(folder)}/link/b"
    assert Dataset.parse(f"file://{folder}/link/../b").resolved().name == f"{os.fspath(folder)}/b"
    assert Dataset.parse("/data/../../x/./y/").resolved() == Dataset.parse("/x/y")
    for name in ("s3://bucket/a/../x", "/data/x", "s3://bucket/x", "memory://driver/clean.py:12"):
        assert Dataset.parse(name).resolved() == Dataset.parse(name)


def test_commands_take_relative_paths(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PROVSPARK_STORE", str(folder / "prov"))
    monkeypatch.delenv("PROVSPARK_CATALOGUE", raising=False)

    def told(*arguments: str) -> Any:
        done = CliRunner().invoke(main, [*arguments, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    calls = [
        ("trace", REPORT, "--to", PEOPLE),
        ("why", REPORT, "--to", PEOPLE),
        ("columns", REPORT, "--to", PEOPLE),
        ("operations", REPORT),
        ("co-dependency", REPORT, "--to", REPORT, "--via", PEOPLE),
        ("composition", REPORT, "--source", PEOPLE, "--column", "city"),
        ("impact", REPORT, "--source", CLEAN),
    ]
    for call in calls:
        expected = told(*(str(folder / a) if a.endswith(".csv") else a for a in call))
        with monkeypatch.context() as there:
            there.chdir(folder)
            assert told(*call) == expected, call


def test_the_hook_and_the_operator_take_relative_paths(folder: Path, monkeypatch: Any) -> None:
    extra = {"conn_type": "provspark", "extra": {"store": str(folder / "prov")}}
    monkeypatch.setenv("AIRFLOW_CONN_PROV", json.dumps(extra))
    monkeypatch.chdir(folder)
    assert list(ProvHook("prov").locate(REPORT, [1])) == list(ProvHook("prov").locate(Path(REPORT), [1])) == [1]
    arguments = {"dataset": PEOPLE, "rows": [3], "to": REPORT}
    task = ProvQueryOperator(task_id="ask", question="forward", arguments=arguments, prov_conn_id="prov", expect=1)
    assert [line["related_row"] for line in task.execute({})["answer"]] == [0]


def test_recorded_steps_and_catalogues_take_relative_paths(folder: Path, monkeypatch: Any) -> None:
    (folder / "list.json").write_text('{"n": 1}\n')
    monkeypatch.chdir(folder)
    relation = provspark.Relation(REPORT, pairs=([0], [1]))
    provspark.record(str(folder / "prov"), task="list", output="list.json", relations=[relation])
    monkeypatch.chdir(folder / "sub")
    prov: Any = provspark.open(folder / "prov")
    assert [(x["dataset"], x["related_row"]) for x in prov.backward(folder / "list.json", to=folder / REPORT)] == [
        ((folder / REPORT).as_uri(), 1)
    ]
    with Catalogue.open(f"sqlite:///{folder}/catalogue.db") as catalogue:
        for event in events_from_store(str(folder / "prov")):
            catalogue.ingest(event)
        assert catalogue.versions(f"../{REPORT}") == catalogue.versions(str(folder / REPORT)) != []


def test_no_folder_of_a_server_counts(tmp_path: Path, monkeypatch: Any) -> None:
    root = _http.build(tmp_path)
    api = _http.client(root)
    people = _http.id_of(root, "people")
    asked = [(f"/datasets/{name}{rest}", {}) for name in ("people", "./people") for rest in ("", "/rows", "/columns")]
    asked += [(f"/datasets/{people}/{what}", {"to": "raw"}) for what in ("columns", "operations")]
    asked += [("/steps/people/operations", {}), ("/steps/people/profiles", {})]
    monkeypatch.chdir(root)
    for path, more in asked:
        answer = api.get(_http.BASE + path, params=more)
        if answer.status_code == 200:  # the parameter means nothing here
            assert answer.json() == api.get(_http.BASE + path).json()
        else:
            assert answer.status_code in (404, 422)
    assert api.get(f"{_http.BASE}/datasets/{people}").status_code == 200
    scope = AnswerSource(lambda: str(root / "prov"), Policy()).scope(None)
    with pytest.raises(UnknownDatasetError):
        scope.prov.select("people")
    assert len(scope.prov.select(str(root / "people"))) == 4
