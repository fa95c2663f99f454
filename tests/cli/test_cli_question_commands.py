"""Each question is a command, with the parameters that the question defines and the options of its answer's view."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result

import provspark.api  # registers all questions  # noqa: F401
from provspark.cli.former import FORMER_COMMANDS, FORMER_OPTIONS
from provspark.cli.main import main
from provspark.cli.question_options import arguments, shorthands
from provspark.cli.views import view_of
from provspark.index_store.query.asking import Asking
from provspark.index_store.query.parameter_types import DatasetName, Rows
from provspark.index_store.query.parameters import parameters
from provspark.index_store.query.question import QUESTIONS, question
from provspark.index_store.query.tabular import TableAnswer

Cli = Callable[..., Result]
ASKED = [name for name, q in QUESTIONS.items() if not q.pages_of]


def command(question: str) -> click.Command:
    made = main.get_command(click.Context(main), question.replace("_", "-"))
    assert made is not None
    return made


@pytest.mark.parametrize("name", ASKED)
def test_a_command_takes_what_its_question_defines(name: str) -> None:
    asked = QUESTIONS[name]
    given = {p.name: p for p in command(name).params if not (isinstance(p, click.Option) and p.hidden)}
    defined = {p.name for p in parameters(asked) if p.takes != "progress"}
    short = {s.name for s in shorthands(asked)}
    view = {o.name for o in view_of(asked).besides(asked)}
    assert given.keys() == defined | short | view | {"store"}
    assert not view & defined
    for param in given.values():
        assert isinstance(param, click.Argument) or param.help, param.name
    for p in parameters(asked):
        if p.takes == "progress":
            continue
        made = given[p.name]
        first = p.required and p is parameters(asked)[0]
        assert isinstance(made, click.Argument) == first
        spelled = {made.opts[0].replace("-", "_").strip("_")} if made.opts else set()
        assert spelled <= {p.name, p.name.removesuffix("s")}
        assert made.required == (p.required and p.takes != "rows")
        if p.choices:
            assert isinstance(made.type, click.Choice) and tuple(made.type.choices) == p.choices


def test_there_are_no_other_commands_of_questions() -> None:
    listed = set(main.list_commands(click.Context(main)))
    own = {"run", "ls", "show", "export", "serve", "verify", "repair", "gc", "catalogue", "receiver"}
    assert listed == own | {name.replace("_", "-") for name in ASKED} | FORMER_COMMANDS.keys()
    assert FORMER_OPTIONS.keys() <= set(ASKED)


def test_the_list_of_commands_tells_each_in_a_line(cli: Cli) -> None:
    text = cli("--help").stdout
    listed = re.findall(r"^  ([a-z][\w-]+) +\S", text, re.MULTILINE)
    assert {name.replace("_", "-") for name in ASKED} <= set(listed)
    assert "Find the source rows of the given rows." in text
    assert not FORMER_COMMANDS.keys() & set(listed)


@pytest.mark.parametrize("name", ASKED)
def test_help_is_the_documentation_without_its_marks(cli: Cli, name: str) -> None:
    text = cli(name.replace("_", "-"), "--help").stdout
    about, _, listed = text.partition("Options:")
    assert "``" not in text and "`" not in listed
    assert "Parameters" not in about and "----" not in about


def test_help_fits_the_command(cli: Cli) -> None:
    def text(*call: str) -> str:
        return " ".join(cli(*call, "--help").stdout.split())

    assert "possible, where" in text("backward") and "possible" not in text("how")
    beside = text("co-contributory-lines")
    assert "--operation N The number of the operation whose output rows to start from." in beside
    assert "--to N The number of the operation whose output rows to return." in beside
    assert "--context Also follow context edges" in text("backward")
    assert "--context Follow context edges too (the default)." in text("columns")
    each = text("composition")
    assert "With --no-each, count for all rows together" in each and "[default: each]" in each
    assert "INTEGER RANGE" not in text("backward") + text("serve")
    assert "..." not in text("catalogue").partition("Commands:")[2]


@pytest.fixture
def many_rows() -> Iterator[None]:
    """A question that nothing else knows of."""
    before = dict(QUESTIONS)

    @question()
    def many_rows(prov: Asking, dataset: DatasetName, rows: Rows = None, *, twice: bool = False) -> TableAnswer:
        """Repeat row ids.

        Parameters
        ----------
        dataset : str
            A dataset.
        rows : iterable of int, optional
            Its rows; see `select`.
        twice : bool
            Each two times, as ``1, 1``.
        """
        ids = [] if rows is None else list(rows)
        return TableAnswer(pa.table({"row": pa.array(ids * (1 + twice), pa.int64())}))

    yield
    QUESTIONS.clear()
    QUESTIONS.update(before)


@pytest.mark.usefixtures("many_rows")
def test_a_new_question_is_a_command(cli: Cli, folder: Path) -> None:
    asked = ("many-rows", folder / "report.csv", "--rows", "4,6-7", "--row", 1)
    shown = cli(*asked, "--limit", 3)
    assert shown.exit_code == 0, shown.output
    assert [line.strip() for line in shown.stdout.splitlines() if line.strip().isdigit()] == ["4", "6", "7"]
    assert "… 1 more line" in shown.stdout
    told = json.loads(cli(*asked, "--twice", "--json").stdout)
    assert [x["row"] for x in told["answer"]] == [4, 6, 7, 1, 4, 6, 7, 1] and told["lines"] == 8
    lines = cli(*asked, "--json-lines").stdout.splitlines()
    assert [json.loads(line)["row"] for line in lines] == [4, 6, 7, 1]
    assert cli(*asked, "--csv", folder / "out.csv", "--parquet", folder / "out.parquet").exit_code == 0
    assert list(csv.reader((folder / "out.csv").read_text().splitlines())) == [["row"], ["4"], ["6"], ["7"], ["1"]]
    assert pq.read_table(folder / "out.parquet")["row"].to_pylist() == [4, 6, 7, 1]
    text = " ".join(cli("many-rows", "--help").stdout.split())
    assert (
        "Repeat row ids." in text and "Each two times, as 1, 1." in text and "Its rows; see provspark select." in text
    )
    assert "many-rows Repeat row ids." in " ".join(cli("--help").stdout.split())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["backward", "nowhere"], "/nowhere' in this store"),
        (["backward", "report.csv", "--kinds", "nonsense"], "'nonsense' is not one of data, context, possible"),
        (["how", "report.csv", "--kinds", "possible"], "'possible' is not one of data, context"),
        (["backward", "report.csv", "--row", "x"], "'x' is not a row id; write 17, or 1,2, or a range 5-9"),
        (["backward", "report.csv", "--row", "9-5"], "'9-5' is not a row id"),
        (["impact", "report.csv", "--was", "x"], "'x' is not a pair of column names; write it as NEW=OLD"),
        (["backward", "report.csv", "--where", "n"], "is not a condition"),
        (["backward", "report.csv", "--semantics", "heap"], "'heap' is not one of 'bag', 'set'"),
        (["neighbourhood", "report.csv", "--hops", "many"], "'many' is not a valid integer"),
        (["trace", "report.csv", "--backward", "--forward"], "--backward and --forward contradict each other"),
        (["composition", "report.csv"], "Missing option '--source'"),
        (
            ["history", "report.csv", "--column", "n", "--json-lines"],
            "--column does not apply to an answer",
        ),
        (["backwards", "report.csv"], "No such command 'backwards'"),
        (["history-pages", "report.csv"], "No such command 'history-pages'"),
    ],
)
def test_what_can_not_be_asked(cli: Cli, folder: Path, call: list[str], message: str) -> None:
    done = cli(*(folder / word if word.endswith(".csv") else word for word in call))
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_shorthands_and_lists(cli: Cli) -> None:
    forward = QUESTIONS["forward"]
    assert arguments(forward, {"dataset": "a", "kinds__context": True, "versions__all_versions": True}) == {
        "dataset": "a",
        "kinds": ("data", "context"),
        "versions": "all",
    }
    assert arguments(forward, {"rows": ((range(5, 9),),), "via": ("b", "c")}) == {
        "rows": range(5, 9),
        "via": ["b", "c"],
    }
    assert arguments(QUESTIONS["impact"], {"was": (("a", "b"),)}) == {"was": {"a": "b"}}
    assert arguments(QUESTIONS["composition"], {"each__together": True}) == {"each": False}
    assert [s.flag for s in shorthands(QUESTIONS["columns"])] == ["--context", "--data", "--backward", "--forward"]
    assert [s.flag for s in shorthands(QUESTIONS["dropped"])] == []


def test_what_is_trusted_goes_to_questions_that_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVSPARK_TRUSTED", "clean.py:12, tidy")
    assert arguments(QUESTIONS["backward"], {"trust": ("a",)}) == {"trust": ("a", "clean.py:12", "tidy")}
    assert arguments(QUESTIONS["forward"], {}) == {"trust": ("clean.py:12", "tidy")}
    assert arguments(QUESTIONS["cells"], {}).keys() == {"progress"}


def test_answers_without_a_command_before(cli: Cli, folder: Path) -> None:
    report = folder / "report.csv"
    assert [x["dataset"].rsplit("/")[-1] for x in json.loads(cli("datasets", "--json").stdout)["answer"]] == [
        *("clean.csv", "model.csv", "people.csv", "report.csv")
    ]
    assert len(json.loads(cli("steps", "--json").stdout)["answer"]) == 3
    assert json.loads(cli("unfinished", "--json").stdout)["answer"] == []
    chosen = json.loads(cli("select", report, "--where", "city=Rome", "--json").stdout)
    assert (chosen["answer"], chosen["dataset"]) == ([{"row": 1}], report.as_uri())
    assert cli("values", report, "--row", 1, "--column", "city").stdout.split()[-1] == "Rome"
    near = cli("neighbourhood", report, "--row", 1, "--graphml", "-")
    assert near.stdout == cli("export", report, "--row", 1, "--graphml", "-").stdout
    assert "5 rows, 4 edges." in near.stderr
    assert json.loads(cli("neighbourhood", report, "--row", 1, "--json").stdout)["nodes"]
    assert "raise limit" in cli("neighbourhood", report, "--limit", 1).stderr
    assert cli("forward", folder / "people.csv", "--row", 0, "--to", report, "--json").exit_code == 0


@pytest.mark.parametrize("call", [["--version"], ["run", "--help"], ["catalogue", "--help"]])
def test_commands_of_no_question_import_none(call: list[str]) -> None:
    script = (
        "import sys\nfrom provspark.cli.main import main\n"
        f"try: main({call!r})\n"
        "except SystemExit: print([m for m in sys.modules if m in ('pyarrow', 'provspark.api') or '.questions' in m])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    unneeded = json.loads(done.stdout.splitlines()[-1].replace("'", '"'))
    assert "provspark.api" not in unneeded and not any(".questions" in m for m in unneeded)
    assert call[0] == "catalogue" or unneeded == []
