"""The commands of the algebra and of exports, over the store of conftest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from _small_store import version
from click.testing import Result

from provspark.index_store.store.store import Store
from provspark.model.pending import PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Untracked

Cli = Callable[..., Result]


def answer(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["lines"] == len(said["answer"])
    return said["answer"]  # type: ignore[no-any-return]


def test_rows_of_one_derivation_and_of_one_witness(cli: Cli, folder: Path) -> None:
    people, clean, report = (folder / f"{name}.csv" for name in ("people", "clean", "report"))
    together = answer(cli("co-contributory", people, "--row", 2, "--to", clean, "--via", report, "--json"))
    assert [x["related_row"] for x in together] == [1]
    others = cli("co-dependency", clean, "--to", clean, "--via", people)
    assert others.exit_code == 2
    assert "stops at step model-" in others.output


def test_composition_of_report_rows(cli: Cli, folder: Path) -> None:
    question = ("composition", folder / "report.csv", "--source", folder / "people.csv", "--column", "age")
    assert answer(cli(*question, "--json")) == [
        {"row": 0, "value": 41, "witnesses": 1},
        {"row": 1, "value": 36, "witnesses": 1},
        {"row": 1, "value": 50, "witnesses": 1},
    ]
    together = answer(cli(*question, "--together", "--where", "city=Rome", "--json"))
    assert [(x["value"], x["witnesses"]) for x in together] == [(36, 1), (50, 1)]
    assert "did you mean age?" in cli(*question[:-1], "aeg").output


def test_correspondence_counts_rows_that_use_some(cli: Cli, folder: Path) -> None:
    question = ("correspondence", folder / "report.csv", "--to", folder / "people.csv")
    result = cli(*question, "--using", "age>=50")
    assert result.exit_code == 0, result.output
    assert "rows: 2" in result.output
    assert "edges: 3" in result.output
    assert "rows using them: 1" in result.output
    assert answer(cli(*question, "--pairs", "--using", "age>=50", "--json"))[0]["related_row"] == 0
    assert answer(cli(*question, "--json")) == [{"row": 0, "count": 1}, {"row": 1, "count": 2}]


def test_derivations_and_files(cli: Cli, folder: Path) -> None:
    clean, out = folder / "clean.csv", folder / "found.parquet"
    result = cli("derivations", clean, "--parquet", out, "--csv", folder / "found.csv")
    assert result.exit_code == 0, result.output
    assert [list(line.values()) for line in pq.read_table(out).to_pylist()] == [[0, 0], [1, 2], [2, 3]]
    assert (folder / "found.csv").read_text().splitlines()[1:] == ["0,0", "1,2", "2,3"]
    assert "… 1 more line" in cli("derivations", clean, "--limit", 2).output


@pytest.mark.parametrize("form", ["--prov-json", "--graphml", "--node-link"])
def test_export_of_a_neighbourhood(cli: Cli, folder: Path, form: str) -> None:
    out = folder / "lineage"
    result = cli("export", folder / "report.csv", "--row", 1, form, out)
    assert result.exit_code == 0, result.output
    assert "5 rows, 4 edges." in result.output
    text = out.read_text()
    assert text.startswith("<?xml") if form == "--graphml" else json.loads(text)
    assert text == cli("export", folder / "report.csv", "--row", 1, form, "-").stdout


def test_export_of_ends_and_what_it_asks_for(cli: Cli, folder: Path) -> None:
    result = cli("export", folder / "report.csv", "--csv", folder / "ends.csv")
    assert result.exit_code == 0, result.output
    assert len((folder / "ends.csv").read_text().splitlines()) == 4
    assert "There is nothing to write" in cli("export", folder / "report.csv").output
    assert "one direction" in cli("export", folder / "report.csv", "--both", "--csv", "x").output
    assert "raise limit" in cli("export", folder / "report.csv", "--limit", 1, "--graphml", "-").output


def test_runs_and_times_on_the_command_line(cli: Cli, folder: Path) -> None:
    trace = ("trace", folder / "report.csv", "--row", 1, "--json")
    latest, plain = (json.loads(cli(*trace, *more).stdout) for more in (("--run", "latest"), ()))
    assert [found.pop("versions")[0]["rule"] for found in (latest, plain)] == ["run", "disk"]
    assert latest == plain
    assert cli(*trace, "--run", "no").exit_code == 2
    assert "No run named 'no'" in cli(*trace, "--run", "no").output
    assert "No dataset" in cli(*trace, "--as-of", "2020-01-01").output


def test_located_rows_are_counted_beside_the_list_of_those_that_are_gone(cli: Cli, folder: Path) -> None:
    clean = folder / "clean.csv"
    old = version(clean, 3, [("name", "string")], False, True)
    clean.write_text("Cy,Rome,50\n")
    new = version(clean, 1, [("name", "string")], False, True)
    step = Store.open(str(folder / "prov")).writer(StepKey("again", "r2"))
    step.add(PendingWrite(new, "untracked", (), reason=Untracked("LocalRelation", "its rows are not captured")))
    time = "2024-05-02T10:00:00.000000+00:00"
    step.publish(status="succeeded", started=time, ended=time)
    ids = [v.files.identity(v.dataset) for v in (old, new)]
    question = ("locate", clean, "--row", 0, "--row", 2, "--version", ids[0])
    said = json.loads(cli(*question, "--json").stdout)
    assert (said["rows_gone"], said["target_version"], said["gone"]) == (2, ids[1], [])
    assert [line["gone"] for line in said["answer"]] == [True, True]
    said = json.loads(cli(*question, "--into", ids[0], "--json").stdout)
    assert (said["rows_gone"], said["target_version"]) == (0, ids[0])
    text = cli(*question).output
    assert f"target version: {ids[1]}" in text and "rows gone: 2" in text


@pytest.mark.parametrize(
    "command", ["co-contributory", "co-dependency", "composition", "correspondence", "derivations", "export"]
)
def test_help_shows_an_example(cli: Cli, command: str) -> None:
    text = cli(command, "--help").output
    assert f"provspark {command} /data/" in text
    assert "--as-of" in text
