"""A step that can't be read: every command names it in one line on standard error, and goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from _damage import DAMAGES, manifest_of
from click.testing import Result

import provspark
from provspark.errors import CorruptIndexError

Cli = Callable[..., Result]


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_line_names_it_and_the_command_goes_on(cli: Cli, folder: Path, damage: str) -> None:
    path = manifest_of(folder / "prov", "model")
    step = path.parent.name
    DAMAGES[damage][0](path)
    report = str(folder / "report.csv")
    for command in (("ls",), ("ls", "--steps"), ("ls", "--json"), ("trace", report, "--row", "0"), ("columns", report)):
        found = cli(*command)
        assert found.exit_code == 0, found.output
        (line,) = [x for x in found.stderr.splitlines() if step in x]
        assert line.startswith(f"warning: Step {step} can't be read: steps/{step}/manifest.json: ")
        assert DAMAGES[damage][2] in line
        assert found.stderr.count("unreadable") == 0
    (stop,) = json.loads(cli("trace", report, "--row", "0", "--json").stdout)["stops"]
    assert (stop["what"], stop["step"]) == ("unreadable", step)


def test_several_are_one_line(cli: Cli, folder: Path) -> None:
    for path in (folder / "prov").glob("steps/*/manifest.json"):
        path.write_text("")
    found = cli("ls")
    assert (found.exit_code, len(found.stderr.splitlines())) == (0, 1)
    assert found.stderr.startswith("warning: 3 steps can't be read and are missing from the answers: steps/")
    assert found.stdout == f"No step of {folder / 'prov'} can be read.\n"


def test_nothing_is_said_of_a_sound_store(cli: Cli) -> None:
    assert cli("ls").stderr == ""


def test_a_damaged_tensor_file_is_named_with_what_to_do(cli: Cli, folder: Path) -> None:
    path = next(folder.glob("prov/steps/people-report-*/tensors/*"))
    path.write_bytes(path.read_bytes()[:-1])
    found = cli("trace", folder / "report.csv", "--row", "0")
    assert (found.exit_code, len(found.stderr.splitlines())) == (2, 1)
    assert str(path.relative_to(folder / "prov")) in found.stderr
    assert "Run `provspark repair`" in found.stderr
    with pytest.raises(CorruptIndexError) as caught:
        provspark.open(folder / "prov").backward(str(folder / "report.csv"), rows=[0]).table()
    assert (caught.value.file, caught.value.step) == (str(path.relative_to(folder / "prov")), path.parents[1].name)
