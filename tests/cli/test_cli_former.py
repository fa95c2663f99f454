"""Commands and options of the last release go on working, and name on standard error what they are called now."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _people import people
from click.testing import CliRunner, Result

from provspark.cli.inquiry import Inquiry
from provspark.cli.main import main
from provspark.errors import ReplayError

Run = Callable[..., Result]
BESIDE = "provspark co-contributory-lines (provspark co-dependency-lines with --shared), and --after --operation"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PROVSPARK_STORE", people(tmp_path))
    monkeypatch.delenv("PROVSPARK_CATALOGUE", raising=False)
    runner = CliRunner(env={"COLUMNS": "240"})
    return lambda *args: runner.invoke(main, [str(tmp_path / a if str(a).endswith(".csv") else a) for a in args])


@pytest.mark.parametrize("form", [[], ["--json"], ["--json-lines"]])
@pytest.mark.parametrize(
    ("former", "now"),
    [
        (["report.csv", "--row", "1"], ["backward", "report.csv", "--row", "1"]),
        (["people.csv", "--row", "3", "--forward"], ["forward", "people.csv", "--row", "3"]),
        (
            ["report.csv", "--row", "1", "--column", "first", "--context", "--all-versions"],
            ["cells", "report.csv", "--row", "1", "--column", "first", "--context"],
        ),
        (
            ["people.csv", "--column", "name", "--existence", "--forward", "--to", "report.csv"],
            ["cells", "people.csv", "--column", "name", "--existence", "--forward", "--to", "report.csv"],
        ),
    ],
)
def test_why(run: Run, former: list[str], now: list[str], form: list[str]) -> None:
    done, new = run("why", *former, *form), run(*now, *form)
    assert done.exit_code == new.exit_code == 0, done.output
    assert done.stdout == new.stdout
    said, _, rest = done.stderr.partition("\n")
    assert said.startswith("provspark why goes with the next release: it is called provspark backward (")
    assert rest == new.stderr


def test_why_settles_cells_only(run: Run) -> None:
    done = run("why", "report.csv", "--replay")
    assert done.exit_code == 2 and "name a --column" in done.stderr


def test_locate(run: Run) -> None:
    new = json.loads(run("locate", "report.csv", "--row", 1, "--json").stdout)
    done = run("locate", "report.csv", "--row", 1, "--target-version", new["target_version"], "--json")
    assert json.loads(done.stdout) == new
    assert "--target-version goes with the next release: it is called --into now." in done.stderr
    wrong = run("locate", "report.csv", "--target-version", "none", "--json")
    assert wrong.exit_code == 2 and "version" in wrong.stderr


@pytest.mark.parametrize(
    ("call", "question", "arguments", "said"),
    [
        (
            ["whynot", "report.csv", "--where", "n=9", "--version", "v", "--functions"],
            "why_not",
            {"dataset": "report.csv", "where": [("n", "=", "9")], "version": "v", "functions": True},
            "provspark whynot goes with the next release: it is called provspark why-not now.",
        ),
        (
            ["beside", "report.csv", "--row", "0", "--after", "1", "--to", "0"],
            "co_contributory_lines",
            {"dataset": "report.csv", "rows": range(1), "operation": 1, "to": 0},
            f"provspark beside goes with the next release: it is called {BESIDE} now.",
        ),
        (
            ["beside", "report.csv", "--after", "1", "--to", "1", "--via", "0", "--shared", "--step", "s"],
            "co_dependency_lines",
            {"dataset": "report.csv", "rows": None, "operation": 1, "to": 1, "via": 0, "step": "s"},
            f"provspark beside goes with the next release: it is called {BESIDE} now.",
        ),
        (
            ["profile", "report.csv", "--operations", "--column", "n"],
            "operation_profiles",
            {"step": "report.csv", "columns": ["n"]},
            "provspark profile --operations goes with the next release: it is called provspark operation-profiles now.",
        ),
        (
            ["profile", "report.csv", "--operation", "1", "--operation", "0", "--functions"],
            "operation_profiles",
            {"step": "report.csv", "operations": [1, 0], "functions": True},
            "provspark profile --operation goes with the next release: it is called provspark operation-profiles now.",
        ),
    ],
)
def test_replays(
    run: Run, monkeypatch: pytest.MonkeyPatch, call: list[str], question: str, arguments: dict[str, Any], said: str
) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    def answer(inquiry: Inquiry) -> None:
        given = {n: Path(v).name if isinstance(v, str) else v for n, v in inquiry.given.items() if n != "progress"}
        asked.append((inquiry.question.name, given))
        raise ReplayError("not here")

    monkeypatch.setattr(Inquiry, "answer", answer)
    done = run(*call)
    assert asked == [(question, arguments)]
    assert done.stderr.splitlines() == [said, "error: not here"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["beside", "report.csv", "--after", "1", "--to", "1", "--shared"], "--shared needs --via"),
        (["profile", "report.csv", "--operations", "--operation", "1"], "contradict each other"),
        (["profile", "report.csv", "--operations", "--row", "1"], "all rows of a step"),
    ],
)
def test_what_they_refuse(run: Run, call: list[str], message: str) -> None:
    done = run(*call)
    assert done.exit_code == 2 and message in done.stderr


def test_how_takes_parts(run: Run) -> None:
    alone, together = (json.loads(run("how", "report.csv", "--row", 1, *p, "--json").stdout) for p in ([], ["--parts"]))
    assert len(alone["operations"]) < len(together["operations"])
