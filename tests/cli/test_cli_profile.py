"""Profiles and what a step did to them, over the store of conftest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Cli = Callable[..., Result]


def test_a_data_set(cli: Cli, folder: Path) -> None:
    result = cli("profile", folder / "people.csv")
    assert result.exit_code == 0, result.output
    assert "people.csv: 5 rows" in result.output
    (age,) = (line.split() for line in result.output.splitlines() if line.startswith("age"))
    assert age[:6] == ["age", "int", "4", "1", "4", "0"]
    assert age[6:8] == ["39.0", "8.83176"]


def test_a_column_and_some_rows(cli: Cli, folder: Path) -> None:
    shown = cli("profile", folder / "people.csv", "--column", "city", "--column", "age").output
    assert "city: 2 values, the most frequent" in shown
    assert ["Oslo", "2", "40.0%"] in [line.split() for line in shown.splitlines()]
    assert "age: histogram" in shown
    result = cli("profile", folder / "people.csv", "--column", "age", "--where", "city=Rome", "--json")
    told = json.loads(result.stdout)
    assert (told["rows"], told["columns"][0]["mean"]) == (2, 43.0)
    assert told["columns"][0]["top"] == [{"value": "36", "count": 1}, {"value": "50", "count": 1}]


def test_a_step(cli: Cli, folder: Path) -> None:
    shares = json.loads(cli("impact", folder / "clean.csv", "--column", "city", "--shares", "--json").stdout)
    assert [(x["value"], x["before"], x["after"]) for x in shares["answer"]] == [
        ("Oslo", 0.4, 1 / 3),
        ("Rome", 0.4, 2 / 3),
        (None, 0.2, 0.0),
    ]
    whole = json.loads(cli("impact", folder / "clean.csv", "--json").stdout)["answer"]
    assert {(x["column"], x["measure"]): x["change"] for x in whole}["age", "nulls"] == -1
    assert (whole[0]["measure"], whole[0]["change"]) == ("rows", -2)
    renamed = json.loads(cli("impact", folder / "report.csv", "--was", "n=age", "--column", "n", "--json").stdout)
    assert {x["measure"]: x["before"] for x in renamed["answer"]}["mean"] == 127 / 3


def test_what_can_not_be_told(cli: Cli, folder: Path) -> None:
    for args, said in (
        (("profile", folder / "people.csv", "--column", "agge"), "no column 'agge'; did you mean age?"),
        (("profile", folder / "poeple.csv"), "Did you mean"),
        (("impact", folder / "clean.csv", "--column", "cty"), "no column 'cty'; did you mean city?"),
        (("impact", folder / "clean.csv", "--was", "age"), "write it as NEW=OLD"),
        (("impact", folder / "people.csv"), "No step of this store wrote"),
        (("impact", folder / "clean.csv", "--source", folder / "cleen.csv"), "No dataset named"),
        (("impact", folder / "nothing"), "No dataset named"),
    ):
        result = cli(*args)
        assert result.exit_code == 2
        assert said in result.output, result.output


def test_questions_that_follow_no_context_have_no_such_option(cli: Cli, folder: Path) -> None:
    for command in ("profile", "derivations", "history", "replay"):
        result = cli(command, folder / "people.csv", "--context")
        assert result.exit_code == 2
        assert "No such option '--context'" in result.output
