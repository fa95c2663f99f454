"""Options that name a file to write: ``-`` is standard output, which then has nothing else."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from provspark.cli.main import main
from provspark.cli.question_commands import command_of, commands
from provspark.cli.tables import FILE

Cli = Callable[..., Result]
WRITTEN = {"--csv", "--parquet", "--prov-json", "--graphml", "--node-link"}
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "composition": ("report.csv", "--source", "people.csv", "--column", "city"),
    "correspondence": ("report.csv", "--to", "clean.csv"),
    "forward": ("people.csv", "--to", "report.csv"),
    "datasets": (),
    "steps": (),
    "unfinished": (),
}
ANSWERED_ELSEWHERE = {"co-dependency", "co-contributory", "first-difference"}
"""They need other data, and show their answers as `backward` and `composition` do."""
SPARK = {"history", "why-not", "replay", "counts", "operation-profiles", "co-contributory-lines", "co-dependency-lines"}


def file_options(command: click.Command) -> list[str]:
    return [p.opts[0] for p in command.params if p.metavar == FILE and isinstance(p, click.Option)]


def every_option() -> list[tuple[str, str]]:
    made = [(name, command_of(name)) for name in commands()] + [("export", main.get_command(None, "export"))]  # type: ignore[arg-type]
    return [(name, o) for name, command in made if command and not command.hidden for o in file_options(command)]


ASKED = [pair for pair in every_option() if pair[0] not in SPARK | ANSWERED_ELSEWHERE]


def test_all_options_that_name_a_file_are_known() -> None:
    """Others that take one have this metavar, too, so that `-` is checked below."""
    options = every_option()
    assert {option for _, option in options} == WRITTEN
    assert ("export", "--csv") in options and ("derivations", "--parquet") in options


@pytest.mark.parametrize(("name", "option"), ASKED)
def test_standard_output_is_written(
    cli: Cli, folder: Path, name: str, option: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = tmp_path / "elsewhere"
    there.mkdir()
    monkeypatch.chdir(there)
    words = ARGUMENTS.get(name, ("report.csv",))
    call = [name, *(str(folder / w) if w.endswith(".csv") else w for w in words)]
    to_file, piped = cli(*call, option, str(there / "file")), cli(*call, option, "-")
    assert (to_file.exit_code, piped.exit_code) == (0, 0), piped.output
    assert [p.name for p in there.iterdir()] == ["file"]
    assert piped.stdout_bytes == (there / "file").read_bytes()
    check(option, piped.stdout_bytes)


def check(option: str, data: bytes) -> None:
    """What came is whole, and nothing else."""
    if option == "--csv":
        assert len({len(line) for line in csv.reader(io.StringIO(data.decode()))}) == 1
    elif option == "--parquet":
        pq.read_table(io.BytesIO(data))
    elif option != "--graphml":
        json.loads(data)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (["backward", "--csv", "-", "--parquet", "-"], "--csv and --parquet"),
        (["backward", "--csv", "-", "--json"], "--csv and --json"),
        (["derivations", "--parquet", "-", "--json-lines"], "--parquet and --json-lines"),
        (["neighbourhood", "--graphml", "-", "--json"], "--graphml and --json"),
        (["export", "--prov-json", "-", "--csv", "-"], "--prov-json and --csv"),
    ],
)
def test_only_one_goes_there(cli: Cli, folder: Path, call: list[str], names: str) -> None:
    result = cli(call[0], str(folder / "report.csv"), *call[1:])
    assert result.exit_code == 2 and not result.stdout
    assert f"Only one of {names} can be written to standard output" in " ".join(result.stderr.split())


def test_a_file_may_be_written_beside(cli: Cli, folder: Path, tmp_path: Path) -> None:
    result = cli("backward", str(folder / "report.csv"), "--csv", "-", "--parquet", str(tmp_path / "there.parquet"))
    assert result.exit_code == 0
    assert result.stdout.startswith('"row"') and "lines written" not in result.stdout
    assert pq.read_table(tmp_path / "there.parquet").num_rows == len(result.stdout.splitlines()) - 1


def test_where_rows_ended_goes_there_too() -> None:
    """`history` and `why_not` have a writer of their own."""
    import pyarrow as pa

    from provspark.cli.tables import ended_writer

    @click.command()
    def ended() -> None:
        write = ended_writer(json_lines=False, csv_file="-", parquet_file=None)
        assert write is not None
        write(iter([pa.table({"row": [1, 2]})]))

    result = CliRunner().invoke(ended)
    assert result.stdout == '"row"\n1\n2\n'
    assert "2 lines written to standard output." in result.stderr
