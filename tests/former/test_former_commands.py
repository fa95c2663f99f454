"""Commands of the docs and the help of the last release (4e20b32) run as they are, and write what they wrote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from _answers import ANSWERS, PLACED, at_data, without, without_format_stops
from _changed import of_line
from _commands import Done, lines, run
from _coverage import missing
from _last_release import unpack

RENAMED_COLUMNS = {"source_row": "related_row", "source_column": "related_column"}
RENAMED_COMMANDS = {
    "provspark why ": "provspark why goes with the next release: it is called provspark backward",
    "provspark whynot ": "provspark whynot goes with the next release: it is called provspark why-not",
    "provspark beside ": "provspark beside goes with the next release: it is called provspark co-contributory-lines",
    "provspark profile .*--operations$": "--operations goes with the next release",
    "provspark profile .*--operation ": "--operation goes with the next release",
}
"""Commands and options that go, as patterns of a line, and what standard error says of each. A line without any says
nothing of a next release."""


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check("commands.txt", tmp_path, monkeypatch)


@pytest.mark.spark
def test_commands_that_replay(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check("commands_replay.txt", tmp_path, monkeypatch)


def check(file: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a file's commands one after the other, and compare what each writes."""
    monkeypatch.chdir(folder)
    root = folder / "data"
    root.mkdir()
    places = unpack(root)
    for line in lines(file):
        code, then = ANSWERS["commands"][line]
        done = run(line, root)
        assert done.code == code, (line, done.out, done.err)
        told = without_format_stops(at_data(done.json, places))
        then = of_line(line, told, then)
        assert not list(missing(without(told, *PLACED), without(then, *PLACED))), line
        assert_warns(line, done)


def assert_warns(line: str, done: Done) -> None:
    """What is renamed is told on standard error, once for each; nothing else goes."""
    expected = {new for old, new in RENAMED_COMMANDS.items() if re.search(old, line)}
    for former, name in RENAMED_COLUMNS.items():
        (written,) = done.json.values() if done.json else ("",)
        asked = not {"and --json", "--prov-json"} & set(done.json)
        if asked and former in str(written):
            expected.add(f"The column {former} is called {name} now. {former} goes with the next release.")
            assert name in str(written)
    said = [text for text in done.err.splitlines() if "next release" in text or "deprecated" in text.lower()]
    assert len(said) == len(expected) and all(any(e in text for text in said) for e in expected), (line, done.err)
