"""Commands about rows, cells, columns and operations, over a pipeline with operations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _people import people
from click.testing import CliRunner

from provspark.cli.main import main

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PROVSPARK_STORE", people(tmp_path))
    monkeypatch.delenv("PROVSPARK_CATALOGUE", raising=False)

    def call(*args: Any) -> str:
        done = CliRunner(env={"COLUMNS": "240"}).invoke(main, [str(a) for a in args])
        assert done.exit_code == 0, done.output
        return done.stdout

    return call


def test_rows_and_cells(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.csv"
    rows = json.loads(run("backward", report, "--row", 1, "--json"))["answer"]
    assert [x["related_row"] for x in rows] == [0, 2]
    cells = json.loads(run("cells", report, "--where", "city=Rome", "--column", "first", "--existence", "--json"))[
        "answer"
    ]
    assert {(x["column"], x["related_row"], x["related_column"]) for x in cells} == {
        *((None, row, name) for row in (0, 2) for name in ("age", "city")),
        *(("first", row, "name") for row in (0, 2)),
    }
    ahead = json.loads(run("forward", tmp_path / "people.csv", "--row", 3, "--to", report, "--json"))["answer"]
    assert {x["dataset"] for x in ahead} == {report.as_uri()}


def test_how_lists_each_path(run: Run, tmp_path: Path) -> None:
    told = run("how", tmp_path / "report.csv", "--row", 1)
    assert "path 0: file://" in told
    assert "filter age is not null" in told
    assert "counted: group by city" in told
    answer = json.loads(run("how", tmp_path / "report.csv", "--row", 1, "--parts", "--json"))
    assert [x["operations"] for x in answer["operations"]] == [[0], [1], [2], [3], [0], [1]]
    assert [x["path"] for x in answer["lines"]] == [0, 0]


def test_columns_and_their_ends(run: Run, tmp_path: Path) -> None:
    answer = json.loads(run("columns", tmp_path / "report.csv", "--column", "first", "--no-existence", "--json"))[
        "answer"
    ]
    assert [(x["column"], x["related_column"], x["dependence"]) for x in answer] == [("first", "name", "aggregation")]
    (end,) = json.loads(run("dropped", tmp_path / "people.csv", "--column", "age", "--json"))["answer"]
    assert (end["text"], end["into"]) == ("drop age", ["band"])
    copied = CliRunner().invoke(main, ["columns", str(tmp_path / "copy.csv"), "--data"])
    assert "each of its columns counts as made from all columns read" in copied.stderr


def test_operations_of_a_step_and_of_a_data_set(run: Run, tmp_path: Path) -> None:
    behind = json.loads(run("operations", tmp_path / "report.csv", "--json"))
    assert [x["operations"] for x in behind] == [[0], [1], [2, 3], [0], [1]]
    told = run("operations", "people-clean", "--parts")
    assert "filter age is not null" in told
    assert "4 operations" in told
    touched = json.loads(run("operations", tmp_path / "people.csv", "--forward", "--column", "name", "--json"))
    assert {x["text"] for x in touched} >= {"group by city: n = count(1), first = min(name)"}
    assert "No operation" in run("operations", "people-copy")
    shown = run("show", "people-clean")
    assert "2–3" in shown
    assert "+band -age" in shown
    assert len(json.loads(run("show", "people-clean", "--json"))["operations"]) == 3


def test_cells_are_exported_as_prov_json(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    run("export", tmp_path / "report.csv", "--row", 0, "--column", "first", "--prov-json", file)
    assert any(name.startswith("ps:cell/") for name in json.loads(file.read_text())["entity"])
    refused = CliRunner().invoke(main, ["export", str(tmp_path / "report.csv"), "--column", "first", "--graphml", "-"])
    assert refused.exit_code == 2 and "--prov-json" in refused.stderr
