"""No character that can't be seen, or that steers a terminal, reaches one; JSON and CSV keep values exact."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from _people import people
from _small_store import boxes, version
from click.testing import CliRunner, Result

from provspark.cli.main import main
from provspark.cli.marks import escape_json, visible
from provspark.index_store.store.store import Store
from provspark.model.pending import PendingTensor, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis, Untracked

HIDDEN = ("Cc", "Cf", "Zl", "Zp", "Cs")
HOSTILE = "a\x1b[2Jb\x9b31mc\u202ed\u200be\u2066f\ufeffg\u2028h\x07"


def shown(text: str) -> bool:
    return not any(unicodedata.category(c) in HIDDEN for c in text)


def test_every_such_character_is_escaped_and_stays_what_it_is_in_json() -> None:
    every = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) in HIDDEN]
    assert len(every) > 2200
    for c in every:
        assert shown(visible(f"a{c}b")) and visible(f"a{c}b") != "ab"
        assert json.loads(escape_json(json.dumps(f"a{c}b", ensure_ascii=False))) == f"a{c}b"
        assert shown(escape_json(json.dumps(f"a{c}b", ensure_ascii=False)))
    assert visible("x\u202ey\x1b\n\t") == "x\\u202ey\\x1b⏎⇥"
    assert visible("x\n\ty\u3164", lines=True) == "x\n\ty\\u3164"


@pytest.mark.parametrize("text", ["Ærøskøbing 東京 שלום é", "👩\u200d🚀 👨🏽\u200d🚒 ❤️\u200d🔥", "a b c"])
def test_what_can_be_seen_stays(text: str) -> None:
    assert visible(text) == text


def test_a_joiner_that_joins_no_emoji_is_escaped() -> None:
    assert visible("a\u200db 👩\u200d") == "a\\u200db 👩\\u200d"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A store whose names, columns, values and reasons hold such characters."""
    name = HOSTILE.replace("\u2028", "")
    (tmp_path / f"in{name}").write_text(f"{HOSTILE},1\n")
    (tmp_path / "out").write_text(f"{HOSTILE},1\n")
    fields = [(f"col{HOSTILE}", "string"), ("n", "int")]
    source, out = (
        version(tmp_path / n, 1, fields, False, written) for n, written in ((f"in{name}", False), ("out", True))
    )
    store = Store.open(str(tmp_path / "prov"), create=True)
    identity = [v.files.identity(v.dataset) for v in (out, source)]
    axes = (Axis("output", 1, identity[0]), Axis("input", 1, identity[1], 0, HOSTILE))
    times = {"started": "2024-05-01T10:00:00.000000+00:00", "ended": "2024-05-01T10:00:01.000000+00:00"}
    step = store.writer(StepKey(f"task{HOSTILE}", f"run{HOSTILE}", f"dag{HOSTILE}"))
    tensor = PendingTensor(0, 1, boxes([(0, 0)]))
    reason = Untracked("Node", f"why{HOSTILE}", f"site{HOSTILE}")
    step.add(PendingWrite(out, "coarse", (source,), axes, (tensor,), reason, site=f"job{HOSTILE}"))
    step.publish(status="failed", **times, error=f"error{HOSTILE}", untracked=(reason,), engine=[("spark", HOSTILE)])
    return tmp_path


def run(folder: Path, *args: Any) -> Result:
    return CliRunner(env={"COLUMNS": "400"}).invoke(
        main, [*map(str, args), "--store", str(folder / "prov")], color=True
    )


def commands(folder: Path) -> list[list[Any]]:
    out, source = folder / "out", next(folder.glob("in*"))
    (step,) = Store.open(str(folder / "prov")).steps()
    asked = [out, "--row", "0"]
    return [
        *(["ls"], ["ls", "--steps"], ["show", step], ["show", HOSTILE], ["verify"], ["repair", "--dry-run"]),
        *(["trace", *asked], ["trace", source, "--forward"], ["trace", f"/none{HOSTILE}"], ["how", *asked]),
        *(["trace", *asked, "--where", f"{HOSTILE}=1"], ["backward", *asked], ["columns", out], ["operations", step]),
        *(["dropped", source], ["co-contributory", *asked, "--to", source], ["derivations", *asked]),
        *(["composition", *asked, "--source", source, "--column", f"col{HOSTILE}"], ["profile", out]),
        *(["correspondence", *asked, "--to", source], ["impact", step], ["history", *asked], ["export", *asked]),
        *(
            ["co-dependency", *asked, "--to", out, "--via", source],
            ["cells", *asked],
            ["forward", source],
            ["datasets"],
            ["gc", "--keep-runs", "0", "--dry-run"],
        ),
        *(
            ["steps"],
            ["values", out],
            ["select", out],
            ["locate", out],
            ["neighbourhood", out],
            ["neighbourhood", out, "--json"],
        ),
    ]


def test_no_command_sends_the_terminal_what_the_data_hold(hostile: Path) -> None:
    seen = ""
    for command in commands(hostile):
        result = run(hostile, *command)
        told = result.stdout + result.stderr
        assert result.exception is None or isinstance(result.exception, SystemExit), command
        for style in ("\x1b[0m", *(f"\x1b[{n}m" for n in (1, 2, 31, 32, 33))):
            told = told.replace(style, "")
        bad = {c for c in told if unicodedata.category(c) in HIDDEN and c != "\n"}
        assert not bad, (command, bad)
        seen += told
    assert "\\u202e" in seen and "\\x1b[2J" in seen and "\\x9b" in seen


def test_no_name_forges_a_line(tmp_path: Path) -> None:
    """A line break in a name is marked, so that what follows does not look like a line of the command's own."""
    folder = tmp_path / "first\nforged\tx\rlast"
    folder.mkdir()
    people(folder)
    seen = ""
    report, source = folder / "report.csv", folder / "people.csv"
    step = Store.open(str(folder / "prov")).steps()[0]
    several: list[list[Any]] = [
        *(["ls"], ["ls", "--steps"], ["show", step], ["datasets"], ["steps"], ["trace", report], ["backward", report]),
        *(["trace", source, "--forward"], ["how", report], ["columns", report], ["operations", report]),
        *(["dropped", source], ["derivations", report], ["select", report], ["locate", report], ["values", report]),
        *(["profile", report], ["correspondence", report, "--to", source], ["impact", step], ["cells", report]),
        *(["neighbourhood", report], ["trace", f"{folder}/none"], ["backward", report, "--csv", folder / "out"]),
    ]
    for command in several:
        told = run(folder, *command)
        assert told.exit_code in (0, 2), (command, told.output)
        for line in (told.stdout + told.stderr).split("\n"):
            assert not line.startswith("forged") and "\r" not in line and "\t" not in line, (command, line)
        seen += told.stdout + told.stderr
    assert "first⏎forged⇥x␍last" in seen


def test_json_and_csv_keep_values_exact(hostile: Path) -> None:
    told = run(hostile, "trace", hostile / "out", "--json").stdout
    assert shown(told.replace("\n", ""))
    (answer,) = json.loads(told)["answers"]
    assert answer["values"][0]["values"] == {f"col{HOSTILE}": HOSTILE, "n": 1}
    lines = json.loads(run(hostile, "ls", "--json").stdout)
    assert any(HOSTILE.replace("\u2028", "") in line["dataset"] for line in lines)
    run(hostile, "export", hostile / "out", "--csv", hostile / "found.csv")
    assert HOSTILE.replace("\u2028", "") in (hostile / "found.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [["ls", "x\u009b31m\u202ey"], ["\u202els"], ["columns", "a", "b\u202e", "c"]])
def test_errors_of_usage(arguments: list[str]) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2 and "\\u202e" in done.output
    assert not any(c in done.output for c in "\u009b\u202e")
