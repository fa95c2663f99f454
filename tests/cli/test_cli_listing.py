from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from _steps import version, write
from click.testing import CliRunner, Result

from provspark.cli.main import main
from provspark.errors import StoreUnreachableError
from provspark.index_store.store.store import Store
from provspark.model.driver_datasets import driver_version
from provspark.model.steps import StepKey

Cli = Callable[..., Result]


def test_data_sets(cli: Cli, folder: Path) -> None:
    result = cli("ls")
    assert result.exit_code == 0, result.output
    lines = {line.split()[0].rsplit("/", 1)[-1]: line.split() for line in result.output.splitlines()}
    assert lines["people.csv"][1:3] == ["5", "source"]
    assert lines["clean.csv"][1:5] == ["3", "derived", "1", "exact"]
    assert [d["dataset"] for d in json.loads(cli("ls", "--json").stdout)] == [
        f"file://{folder}/{name}.csv" for name in ("clean", "model", "people", "report")
    ]


def test_steps(cli: Cli) -> None:
    text = cli("ls", "--steps").output
    assert "people.report, try 2" in text
    assert "untracked" in text
    steps = json.loads(cli("ls", "--steps", "--json").stdout)
    assert sorted(s["task_id"] for s in steps) == ["clean", "model", "report"]


def test_an_empty_store(tmp_path: Path) -> None:
    from provspark.index_store.store.store import Store

    Store.open(str(tmp_path / "prov"), create=True)
    result = CliRunner().invoke(main, ["ls", "--store", str(tmp_path / "prov")])
    assert (result.exit_code, "There is no step yet" in result.output) == (0, True)


def test_one_step(cli: Cli, folder: Path) -> None:
    result = cli("show", "people-clean")
    assert result.exit_code == 0, result.output
    for text in (
        "task people.clean, run r1, try 1: succeeded",
        f"write 0: file://{folder}/clean.csv, 3 rows, exact (clean.py:9)",
        f"from file://{folder}/people.csv, 5 rows",
        f"0 output (3)   1 file://{folder}/people.csv (5)   data       3",
    ):
        assert text in result.output
    assert "MapInPandas: its function is not looked into (model.py:3)" in cli("show", "model").output
    found = json.loads(cli("show", "people-clean", "--json").stdout)
    assert found["writes"][0]["tensors"][0]["edges"] == 3
    assert [(w["output"]["rows"], w["written"]) for w in found["writes"]] == [(3, 3)]
    assert json.loads(cli("show", "model", "--json").stdout)["writes"][0]["written"] is None


def test_rows_that_a_step_appended(cli: Cli, folder: Path) -> None:
    store = Store.open(str(folder / "prov"))
    for task, written, total in (("more", 1200, 3000), ("none", 0, 9)):
        files = {"a": total - written} | ({"b": written} if written else {})
        made = store.writer(StepKey(task, "r1", "appends"))
        made.add(write(version("/log", files, {"b"})))
        made.publish(status="succeeded", started="2024-05-01T10:00:00.000000", ended="2024-05-01T10:00:01.000000")
    assert "write 0: file:///log, 1,200 rows written, 3,000 in the dataset, exact" in cli("show", "appends-more").output
    assert "write 0: file:///log, no row written, 9 in the dataset, exact" in cli("show", "appends-none").output
    (more,) = json.loads(cli("show", "appends-more", "--json").stdout)["writes"]
    assert (more["output"]["rows"], more["written"]) == (3000, 1200)


def test_a_step_that_is_not_one(cli: Cli) -> None:
    result = cli("show", "nothing")
    assert result.exit_code == 2
    assert "No step named 'nothing'" in result.stderr


@pytest.mark.parametrize("command", ["show", "operations"])
def test_a_beginning_of_several_steps_names_them(cli: Cli, command: str) -> None:
    steps = sorted(s["step"] for s in json.loads(cli("ls", "--steps", "--json").stdout) if s["dag_id"] == "people")
    result = cli(command, "people-")
    assert result.exit_code == 2
    assert f"Step prefix 'people-' matches 2 steps: {', '.join(steps)}. Pass more of the id." in " ".join(
        result.stderr.split()
    )


def test_no_store_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PROVSPARK_STORE", "PROVSPARK_CATALOGUE"):
        monkeypatch.delenv(name, raising=False)
    result = CliRunner().invoke(main, ["ls"])
    assert result.exit_code == 2
    assert "pass --store URL, or set PROVSPARK_STORE" in result.stderr


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    args = ["ls", "--store", str(tmp_path / "none")]
    plain, debug = CliRunner().invoke(main, args), CliRunner().invoke(main, ["--debug", *args])
    assert (plain.exit_code, isinstance(plain.exception, SystemExit)) == (2, True)
    assert isinstance(debug.exception, StoreUnreachableError)


def test_verify_says_what_is_wrong(cli: Cli, folder: Path) -> None:
    result = cli("verify")
    assert (result.exit_code, "3 steps checked" in result.output) == (0, True)
    assert json.loads(cli("verify", "--json").stdout) == []
    tensor = next((folder / "prov" / "steps").glob("people-clean-*/tensors/*.parquet"))
    data = bytearray(tensor.read_bytes())
    data[len(data) // 2] ^= 1
    tensor.write_bytes(data)
    result = cli("verify")
    assert result.exit_code == 1
    assert f"tensors/{tensor.name}" in result.output
    assert json.loads(cli("verify", "--json").stdout)[0]["path"].endswith(tensor.name)
    healthy = next((folder / "prov" / "steps").glob("people-report-*")).name
    assert cli("verify", healthy).exit_code == 0
    assert cli("verify", "none").exit_code == 2


def test_the_catalogue_is_rebuilt_from_stores(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{folder}/catalogue.db"
    result = cli("catalogue", "rebuild", "--store", folder / "prov", "--url", url)
    assert result.exit_code == 0, result.output
    assert "The catalogue contains 3 steps." in result.output
    listed = json.loads(cli("catalogue", "ls", "--url", url, "--json").stdout)
    assert [s["status"] for s in listed] == ["succeeded"] * 3
    assert "people-clean" in cli("catalogue", "ls", "--url", url).output
    monkeypatch.delenv("PROVSPARK_STORE")
    monkeypatch.setenv("PROVSPARK_CATALOGUE", url)
    assert "people.csv: 2 of 5 rows" in cli("trace", folder / "report.csv", "--row", 1).output


def test_the_catalogue_is_rebuilt_from_events(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from openlineage.client.serde import Serde

    from provspark.airflow.events import events_from_store

    lines = [Serde.to_json(e) for e in events_from_store(str(folder / "prov"))]
    (folder / "events.json").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("AIRFLOW_HOME", str(folder / "home"))
    result = cli("catalogue", "rebuild", "--events", folder / "events.json")
    assert result.exit_code == 0, result.output
    assert (folder / "home" / "provspark.db").is_file()
    assert len(json.loads(cli("catalogue", "ls", "--json").stdout)) == 3


def test_a_rebuild_needs_one_source(cli: Cli, folder: Path) -> None:
    result = cli("catalogue", "rebuild")
    assert (result.exit_code, "one of them" in result.stderr) == (2, True)


def test_an_empty_catalogue(cli: Cli, folder: Path) -> None:
    assert cli("catalogue", "init", "--url", f"sqlite:///{folder}/new.db").exit_code == 0
    result = cli("catalogue", "ls", "--url", f"sqlite:///{folder}/new.db")
    assert "contains no step yet" in result.output


@pytest.mark.parametrize(
    "command", [[], ["ls"], ["show"], ["trace"], ["run"], ["verify"], ["repair"], ["gc"], ["catalogue", "rebuild"]]
)
def test_help_has_examples(command: list[str]) -> None:
    result = CliRunner().invoke(main, [*command, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output


def test_unfinished_steps_are_listed(cli: Cli, folder: Path) -> None:
    store = Store.open(str(folder / "prov"))
    writer = store.writer(StepKey("slow", "r2", "people", try_number=3))
    result = cli("ls", "--steps")
    assert "people.slow, try 3" in result.output and "unfinished" in result.output
    assert "Run `provspark repair` to save the lineage of killed steps." in result.output
    lines = json.loads(cli("ls", "--steps", "--json").output)
    assert [line["task_id"] for line in lines if line["status"] == "unfinished"] == ["slow"]
    writer.abandon()
    assert "people.slow" not in cli("ls", "--steps").output


def test_a_step_says_what_its_driver_read(tmp_path: Path) -> None:
    writer = Store.open(str(tmp_path), create=True).writer(key := StepKey("clean", "run"))
    read = write(driver_version(key.id, 0, "clean.py:3", 2), [(version("/src", {"a": 4}), [(0, 1), (1, 3)])])
    writer.add_read(replace(read, action="DataFrame.collect", site="/jobs/clean.py:3"))
    writer.publish(status="succeeded", started="2026-01-01T00:00:00", ended="2026-01-01T00:00:01")
    shown = CliRunner().invoke(main, ["show", key.id, "--store", str(tmp_path)]).output
    assert "read 0: 2 rows by DataFrame.collect, exact (/jobs/clean.py:3)\n    from file:///src, 4 rows\n" in shown
