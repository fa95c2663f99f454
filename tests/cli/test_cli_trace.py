from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

import provspark
from provspark.model.datasets import Dataset

Cli = Callable[..., Result]


def squeezed(text: str) -> str:
    return re.sub(r"[ ─]+", " ", text)


def test_backward_shows_the_way_and_the_values(cli: Cli, folder: Path) -> None:
    result = cli("trace", folder / "report.csv", "--row", 1)
    assert result.exit_code == 0, result.output
    text = squeezed(result.output)
    assert f"Selected: file://{folder}/report.csv: 1 of 2 rows" in text
    assert f"Through file://{folder}/clean.csv: 2 of 3 rows" in text
    assert f"From file://{folder}/people.csv: 2 of 5 rows" in text
    assert "0 Ada Rome 36" in text
    assert "2 Cy Rome 50" in text
    assert "Bob" not in text


def test_forward_and_conditions(cli: Cli, folder: Path) -> None:
    result = cli("trace", folder / "people.csv", "--where", "age<45", "--where", "city is not null", "--forward")
    assert result.exit_code == 0, result.output
    text = squeezed(result.output)
    assert f"Selected: file://{folder}/people.csv: 2 of 5 rows" in text
    assert "0 Ada Rome 36" in text
    assert "3 Dee Oslo 41" in text
    assert "untracked: step model-" in text
    assert "MapInPandas: its function is not looked into (model.py:3)" in text


def test_to_stops_at_a_data_set(cli: Cli, folder: Path) -> None:
    text = squeezed(cli("trace", folder / "report.csv", "--row", 0, "--to", folder / "clean.csv").output)
    assert f"From file://{folder}/clean.csv: 1 of 3 rows" in text
    assert "2 Dee Oslo 41" in text
    assert "people.csv" not in text
    text = cli("trace", folder / "report.csv", "--row", 0, "--to", folder / "report.csv").output
    assert "They are rows of" in text


def test_limits(cli: Cli, folder: Path) -> None:
    text = squeezed(cli("trace", folder / "report.csv", "--row", 1, "--limit", 1).output)
    assert "Ada" in text
    assert "Cy" not in text
    assert "… 1 more; pass --limit" in text
    text = cli("trace", folder / "report.csv", "--row", 1, "--limit", 0).output
    assert "2 of 5 rows" in text
    assert "Ada" not in text


def test_nothing_is_said_in_words(cli: Cli, folder: Path) -> None:
    assert f"No row of file://{folder}/report.csv satisfies n>10." in cli(
        "trace", folder / "report.csv", "--where", "n>10"
    ).output.replace("\n", "")
    assert (
        "No row of any dataset came from these rows."
        in cli("trace", folder / "people.csv", "--row", 1, "--forward").output
    )
    assert (
        f"No row of file://{folder}/report.csv came from these rows."
        in cli("trace", folder / "people.csv", "--row", 1, "--forward", "--to", folder / "report.csv").output
    )
    assert "No captured step wrote these rows." in cli("trace", folder / "people.csv", "--row", 1).output


def test_where_rows_ended_is_told_and_how_to_ask_for_the_operation(cli: Cli, folder: Path) -> None:
    text = cli("trace", folder / "people.csv", "--row", 1, "--forward").output.replace("\n", "")
    version = provspark.open(str(folder / "prov")).graph.latest(Dataset.parse(str(folder / "people.csv"))).version.id
    people = f"file://{folder}/people.csv"
    assert "Dropped: step " in text
    assert f"which wrote file://{folder}/clean.csv, read 1 row of {people} and kept none." in text
    assert f"these rows, run: provspark history {people} --version {version} --row 1 --direction forward" in text
    text = cli("trace", folder / "people.csv", "--forward").output.replace("\n", "")
    assert f"read 5 rows of {people} and kept 3." in text
    text = (
        cli("trace", folder / "people.csv", "--row", 0, "--forward").output + cli("trace", folder / "clean.csv").output
    )
    assert "Dropped" not in text and "which operation" not in text


def test_an_untracked_step_is_named(cli: Cli, folder: Path) -> None:
    result = cli("trace", folder / "model.csv", "--row", 0)
    assert result.exit_code == 0
    assert "No row of any dataset went into these rows in the captured lineage." in result.output
    assert "was not captured: MapInPandas" in result.output


def test_values_that_are_gone_leave_the_ids(cli: Cli, folder: Path) -> None:
    os.utime(folder / "people.csv", ns=(0, 0))
    result = cli("trace", folder / "report.csv", "--row", 1)
    assert result.exit_code == 0
    assert "people.csv was written again after it was captured" in result.output
    assert "rows 0, 2" in result.output


def test_json(cli: Cli, folder: Path) -> None:
    result = cli("trace", folder / "report.csv", "--row", 1, "--limit", 1, "--json")
    found = json.loads(result.stdout)
    assert found["asked"] == f"file://{folder}/report.csv"
    assert [n["data"]["count"] for n in found["nodes"]] == [1, 2, 2]
    (answer,) = found["answers"]
    assert (answer["dataset"], answer["rows"], answer["total"]) == (f"file://{folder}/people.csv", 2, 5)
    assert answer["values"] == [{"row": 0, "values": {"name": "Ada", "city": "Rome", "age": 36}}]
    os.utime(folder / "people.csv", ns=(0, 0))
    (answer,) = json.loads(cli("trace", folder / "report.csv", "--row", 1, "--json").stdout)["answers"]
    assert answer["values"] is None
    assert answer["first"] == [0, 2]
    assert "written again" in answer["why"]


def test_json_tells_where_rows_ended(cli: Cli, folder: Path) -> None:
    (ending,) = json.loads(cli("trace", folder / "people.csv", "--forward", "--json").stdout)["endings"]
    assert (ending["dataset"], ending["source"]) == (f"file://{folder}/clean.csv", f"file://{folder}/people.csv")
    assert (ending["read"], ending["kept"], ending["node"]) == (5, 3, 0)
    assert ending["ended"] == {"count": 2, "runs": [[1, 1], [4, 1]]}
    assert json.loads(cli("trace", folder / "clean.csv", "--json").stdout)["endings"] == []


def test_errors_are_one_line_and_exit_2(cli: Cli, folder: Path) -> None:
    cases = [
        (["trace", folder / "repor.csv", "--row", 0], "Did you mean"),
        (["trace", folder / "report.csv", "--row", 2], "row ids go from 0 to 1"),
        (["trace", folder / "report.csv", "--where", "cty=Rome"], "did you mean city?"),
        (["trace", folder / "report.csv", "--where", "n=many"], "does not fit column n"),
        (["trace", folder / "report.csv", "--where", "n"], "is not a condition"),
        (["trace", folder / "report.csv", "--row", 0, "--where", "n=1"], "not both"),
        (["trace", folder / "report.csv", "--row", 0, "--version", "x"], "version"),
    ]
    for args, message in cases:
        result = cli(*args)
        assert result.exit_code == 2, args
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        assert message in result.stderr
