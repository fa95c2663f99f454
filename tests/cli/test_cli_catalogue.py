"""`provspark catalogue`, and that no other command makes a database or a table."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from provspark.cli.main import main
from provspark.index_store.catalogue import Catalogue, schema

Cli = Callable[..., Result]
WRITERS = {"catalogue init", "catalogue upgrade", "catalogue rebuild", "receiver", "run"}
"""Commands that write; `receiver` and `run` go on until they are stopped, or run a script."""
SERVERS = {"serve"}
LINKS = [
    ("people-clean-b6c6ad12e3ffe996", "people-report-d5b25e8267927170"),
    ("people-report-d5b25e8267927170", "model-8aae2d285d566e08"),
]
"""Of the fixtures, as the release that made the first of them told them."""
FIXTURES = Path(__file__).parents[1] / "index_store" / "fixtures"


MORE = {"export": ["--csv", "-"], "gc": ["--keep-runs", "1"]}
"""Options without which a command does nothing."""


def commands(group: click.Group = main, before: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, command


READERS = [name for name, _ in commands() if name not in WRITERS | SERVERS]


def called(name: str, url: str) -> list[str]:
    """Return a call of a command that reads from a URL, with something for all that it asks for."""
    command = dict(commands())[name]
    options = {o for p in command.params if isinstance(p, click.Option) for o in p.opts}
    given = [next(o for o in ("--store", "--url") if o in options), url]
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and parameter.required:
            given.append("/data/x")
        elif parameter.required:
            given += [parameter.opts[0], "/data/x" if parameter.type is click.STRING else "1"]
    return [*name.split(), *given, *MORE.get(name, ())]


def others(path: Path) -> bytes:
    """Make a database of another application, and return its content."""
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE dag (id)")
        connection.execute("INSERT INTO dag VALUES (1)")
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize("name", READERS)
def test_commands_that_read_never_write(name: str, cli: Cli, tmp_path: Path) -> None:
    for path, there in ((tmp_path / "typo.db", None), (tmp_path / "airflow.db", others(tmp_path / "airflow.db"))):
        done = cli(*called(name, f"sqlite:///{path}"))
        assert done.exit_code == 2, done.output
        assert "catalogue" in done.output or "sqlite" in done.output, done.output
        assert (path.read_bytes() if path.exists() else None) == there
        assert sorted(p.name for p in tmp_path.glob("*.db*")) == ["airflow.db"]


@pytest.mark.parametrize("name", ["ls", "trace", "catalogue ls", "show"])
def test_what_is_wrong_is_said(name: str, cli: Cli, tmp_path: Path) -> None:
    done = cli(*called(name, f"sqlite:///{tmp_path}/typo.db"))
    assert f"There is no catalogue at sqlite:///{tmp_path}/typo.db" in done.output
    assert "provspark catalogue init" in done.output


def test_init_makes_a_catalogue_once(cli: Cli, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/new.db"
    for _ in range(2):
        done = cli("catalogue", "init", "--url", url)
        assert (done.exit_code, "is ready. It contains no step." in done.output) == (0, True), done.output
    assert "contains no step yet" in cli("catalogue", "ls", "--url", url).output


@pytest.mark.parametrize("call", [["init"], ["rebuild", "--store", "PROV"]])
def test_tables_are_not_made_among_others(call: list[str], cli: Cli, folder: Path) -> None:
    before = others(folder / "airflow.db")
    url = f"sqlite:///{folder}/airflow.db"
    call = [str(folder / "prov") if word == "PROV" else word for word in call]
    done = cli("catalogue", *call, "--url", url)
    assert done.exit_code == 2 and "contains tables of another application (dag)" in done.output
    assert "provspark catalogue init --beside-others" in done.output
    assert (folder / "airflow.db").read_bytes() == before
    assert cli("catalogue", "init", "--beside-others", "--url", url).exit_code == 0
    assert cli("catalogue", *call, "--url", url).exit_code == 0
    with sqlite3.connect(folder / "airflow.db") as connection:
        assert connection.execute("SELECT id FROM dag").fetchall() == [(1,)]
    connection.close()


def test_upgrade_needs_a_catalogue(cli: Cli, tmp_path: Path) -> None:
    done = cli("catalogue", "upgrade", "--url", f"sqlite:///{tmp_path}/typo.db")
    assert done.exit_code == 2 and "There is no catalogue" in done.output
    assert not (tmp_path / "typo.db").exists()


def test_an_older_schema_says_upgrade(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "catalogue-0001.db", tmp_path / "old.db")
    url = f"sqlite:///{tmp_path}/old.db"
    done = cli("catalogue", "ls", "--url", url)
    assert done.exit_code == 2 and "has schema 0001" in done.output and "provspark catalogue upgrade" in done.output


def test_a_catalogue_of_the_first_release_goes_on_working(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "catalogue-0001.db", tmp_path / "old.db")
    url = f"sqlite:///{tmp_path}/old.db"
    assert cli("catalogue", "upgrade", "--url", url).exit_code == 0
    with Catalogue.open(url) as catalogue:
        assert [(a.producer.step, a.consumer.step) for a in catalogue.links()] == LINKS
        assert {v.unit for v in catalogue.versions()} == {"row"}
        assert {(s.key.attempt, s.key.call) for s in catalogue.steps() if s.key} == {(0, "")}
    listed = cli("catalogue", "ls", "--json", "--url", url)
    assert listed.exit_code == 0 and listed.output.count('"status": "succeeded"') == 3


def dumps(tmp_path: Path, *names: str) -> Iterator[dict[str, Any]]:
    for name in names:
        shutil.copy(FIXTURES / f"catalogue-{name}.db", tmp_path)
        with Catalogue.open(f"sqlite:///{tmp_path}/catalogue-{name}.db") as catalogue:
            yield catalogue.dump()


def test_a_catalogue_of_the_second_schema_goes_on_working(tmp_path: Path) -> None:
    """The second fixture is the first one, upgraded, with a step more: attempt 1 of `load`, which wrote a file."""
    old, new = dumps(tmp_path, "0001", "0002")
    more = [s for s in new["steps"] if s not in old["steps"]]
    assert [(s["key"]["task_id"], s["key"]["attempt"]) for s in more] == [("load", 1)]
    assert {s["key"]["call"] for s in new["steps"]} == {""}
    more = [v for v in new["versions"] if v not in old["versions"]]
    assert [(v["dataset"]["name"], v["rows"], v["unit"]) for v in more] == [("/data/load.csv", 1, "file")]
    assert new["links"] == old["links"]


def test_a_catalogue_of_the_present_schema_is_as_an_upgraded_one(tmp_path: Path) -> None:
    """The third fixture is the second one, upgraded, with a call of `load`, and a job that nobody captured."""
    old, new = dumps(tmp_path, "0002", "0003")
    shutil.copy(FIXTURES / "catalogue-0003.db", tmp_path / "as-it-is.db")
    with Catalogue.open(f"sqlite:///{tmp_path}/as-it-is.db", migrate=False) as catalogue:
        assert catalogue.dump() == new
    more = [s for s in new["steps"] if s not in old["steps"]]
    assert [(s["key"]["task_id"], s["key"]["call"], s["answers"]) for s in more] == [("load", "load-0123abcd", True)]
    assert all(s in new["steps"] for s in old["steps"]) and old["declarations"] == []
    (said,) = new["declarations"]
    assert (said["dag_id"], said["task_id"], said["outputs"]) == (
        *("people", "export"),
        ({"namespace": "file", "name": "/data/export"},),
    )
    assert new["links"] == old["links"]


@pytest.mark.parametrize("name", ["0001", "0002"])
def test_an_upgrade_makes_the_tables_of_a_new_catalogue(name: str, tmp_path: Path) -> None:
    """Column by column, so that a migration and the tables that the code knows are one."""
    shutil.copy(FIXTURES / f"catalogue-{name}.db", tmp_path / "old.db")
    columns = []
    for file in ("old", "new"):
        Catalogue.open(f"sqlite:///{tmp_path}/{file}.db").close()
        with sqlite3.connect(tmp_path / f"{file}.db") as connection:
            tables = [t for (t,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            columns.append({t: sorted(connection.execute(f"PRAGMA table_info({t})")) for t in tables})
        connection.close()
    assert columns[0] == columns[1]
    known = {t.name: {c.name for c in t.columns} for t in schema.metadata.sorted_tables}
    assert known == {t: {c[1] for c in found} for t, found in columns[1].items() if t in known}
