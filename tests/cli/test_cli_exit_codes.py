"""Exit codes: each line of the table in docs/reference/command-line.md is run, and the help lists the same codes."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from provspark.cli.inquiry import Inquiry
from provspark.cli.main import main

Cli = Callable[..., Result]
Case = Callable[[Cli, Path, pytest.MonkeyPatch], Iterator[Result]]

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"
TABLE = [(code, when) for code, when in re.findall(r"^\| (.+?) \| (.+?) \|$", PAGE.read_text(), re.MULTILINE)][2:]
CODES = {"the script's": 7, "128 + N": 128 + 15}


def succeeds(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    yield cli("backward", folder / "report.csv", "--row", "1")
    yield cli("ls")
    yield cli("--help")


def no_rows(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    for name in ("trace", "backward", "forward", "select", "values"):
        yield cli(name, folder / "clean.csv", "--where", "name=Nobody")


def traced_to_a_stop(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    done = cli("trace", folder / "model.csv")
    assert "was not captured" in done.stdout
    yield done


def damaged(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    next((folder / "prov").glob("steps/*/tensors/*.parquet")).write_bytes(b"")
    yield cli("verify")


def _interrupt(*args: object, **options: object) -> None:
    raise KeyboardInterrupt


def interrupted(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    monkeypatch.setattr(Inquiry, "answer", _interrupt)
    yield cli("backward", folder / "report.csv")


def with_debug(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    yield cli("--debug", "backward", folder / "gone.csv")


def wrong_usage(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    yield cli("no-such-command")
    yield cli("backward", folder / "report.csv", "--no-such-option")
    yield cli("backward")
    yield cli("backward", folder / "report.csv", "--row", "x")


def refused(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    for done in (
        cli("backward", folder / "gone.csv"),
        cli("backward", folder / "report.csv", "--row", "9"),
        cli("backward", folder / "clean.csv", "--where", "gone=1"),
        cli("ls", "--store", folder / "gone"),
    ):
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
        yield done


def not_captured(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    yield cli("backward", folder / "model.csv")


def replay_interrupted(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    monkeypatch.setattr(Inquiry, "answer", _interrupt)
    yield cli("replay", folder / "report.csv", "--row", "0")


def address_in_use(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    monkeypatch.setenv("PROVSPARK_RECEIVER_KEY", "a-key-for-the-tests")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        yield cli("receiver", "--port", port, "--catalogue", f"sqlite:///{folder / 'catalogue.db'}")


def script_exits(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    (folder / "job.py").write_text("raise SystemExit(7)")
    yield cli("run", folder / "job.py")


def script_is_killed(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Result]:
    (folder / "job.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)")
    yield cli("run", folder / "job.py")


CASES: tuple[Case, ...] = (
    succeeds,
    no_rows,
    traced_to_a_stop,
    damaged,
    interrupted,
    with_debug,
    wrong_usage,
    refused,
    not_captured,
    replay_interrupted,
    address_in_use,
    script_exits,
    script_is_killed,
)
"""In the order of the table."""


@pytest.mark.parametrize(
    ("case", "code"),
    [(case, code) for case, (code, _) in zip(CASES, TABLE, strict=True)],
    ids=[c.__name__ for c in CASES],
)
def test_exit_codes(case: Case, code: str, cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = CODES[code] if code in CODES else int(code)
    for done in case(cli, folder, monkeypatch):
        assert done.exit_code == expected, done.output


def test_the_help_lists_the_same_codes() -> None:
    said = CliRunner().invoke(main, ["--help"]).output.split("Exit codes:")[1]
    assert re.findall(r"^ +(\d)  ", said, re.MULTILINE) == list(dict.fromkeys(c for c, _ in TABLE if c not in CODES))
    assert "128 + N" in said
