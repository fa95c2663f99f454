"""Scripts written for the docs of the last release (4e20b32) run as they are, over its store, and warn of what goes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from _answers import ANSWERS, at_data, without_format_stops
from _changed import of_line
from _coverage import missing
from _last_release import unpack
from _recording import Line, run

RENAMED = {
    r"prov\.ask\.(\w+)": r"prov.ask.\1 goes with the next release: prov.\1 returns the same answer",
    r"\.before_after\(": "before_after goes with the next release: it is called replay now",
    r"how\b.*\.why\(\)": "how(…).why() goes with the next release: write how(…).table()",
    r"(?:table|prov\.datasets\(\))\.(num_rows|column_names|column|to_pylist|to_pydict)\b": (
        r"answer.\1 goes with the next release: write answer.table().\1"
    ),
    r"(?:table|prov\.steps\(\)|existence=False\))(\['\w+'\])": (
        r"answer\1 goes with the next release: write answer.table()\1"
    ),
    r"table\['source_row'\]": "whose columns source_row and source_column are called related_row and related_column",
}
"""What warns, as scripts write it, and what the warning says of the new name."""
DIFFERENT = {
    "table.schema.names": "columns are there by both names",
}
"""Lines that answer otherwise, and why."""


@pytest.mark.parametrize("script", ["readme", "queries", "exports"])
def test_scripts_that_read_the_store(script: str, tmp_path: Path) -> None:
    check(script, tmp_path)


def test_a_script_with_the_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extra = {"store": str(tmp_path / "data" / "prov")}
    monkeypatch.setenv("AIRFLOW_CONN_PROVSPARK_DEFAULT", json.dumps({"conn_type": "provspark", "extra": extra}))
    check("readme_hook", tmp_path)


@pytest.mark.parametrize("script", ["recorded", "recorded_columns"])
def test_scripts_that_record_a_step(script: str, tmp_path: Path) -> None:
    """The step's name and times, and versions of files without a step before, differ from run to run."""
    own = r'"(export-\w{16}|\d{4}-\d\d-\d\dT[\d:.+]+|\w{32})"'
    check(script, tmp_path, lambda told: json.loads(re.sub(own, '"own"', json.dumps(told))))


def test_a_script_with_the_catalogue(tmp_path: Path) -> None:
    check("catalogue", tmp_path)


@pytest.mark.spark
def test_a_script_that_replays(spark: Any, tmp_path: Path) -> None:
    check("replay", tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("pipeline", ["census", "german"])
def test_the_questions_of_the_literature(spark: Any, tmp_path: Path, pipeline: str) -> None:
    """The calls of docs/questions.md, over the first rows of the pipelines."""
    check(f"literature_{pipeline}", tmp_path, archive="literature")


def check(script: str, folder: Path, normal: Any = lambda told: told, archive: str = "last_release") -> None:
    """Run a script, and compare what each line answers and warns of."""
    root = folder / "data"
    root.mkdir()
    places = unpack(root, archive)
    lines = run(script, root)
    assert len(lines) == len(ANSWERS[script])
    for line, (text, then) in zip(lines, ANSWERS[script], strict=True):
        assert line.text == text
        told = without_format_stops(at_data(line.value, places))
        if text in DIFFERENT:
            assert told != then
        else:
            now = normal(told)
            assert not list(missing(now, of_line(text, now, normal(then)))), text
        assert_warns(line, f"{script}.py")


def assert_warns(line: Line, file: str) -> None:
    """Each renamed thing of a line warns where the script uses it, and nothing else does."""
    caught = [w for w in line.warned if not issubclass(w.category, ResourceWarning)]
    assert {(w.filename, w.category) for w in caught} <= {(file, DeprecationWarning)}, line.text
    expected = {m.expand(new) for old, new in RENAMED.items() for m in re.finditer(old, line.text)}
    said = {str(w.message) for w in caught}
    assert all(any(one in message for message in said) for one in expected), (line.text, said)
    assert all(any(one in message for one in expected) for message in said), (line.text, said)
