"""Runs commands as they were written for /data, and keeps what they write; it runs on the last release's code, too."""

from __future__ import annotations

import csv
import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from click.testing import CliRunner

HERE = Path(__file__).parent
FILES = ("--csv", "--prov-json", "--graphml", "--node-link", "--parquet")


@dataclass
class Done:
    """What a command wrote: JSON by what it came from."""

    code: int
    json: dict[str, Any]
    out: str
    err: str


def lines(file: str) -> list[str]:
    """The commands of a file."""
    return (HERE / file).read_text().splitlines()


def run(line: str, root: Path) -> Done:
    """Run a command in the folder of `root`, and again with ``--json`` where it takes that."""
    from provspark.cli.main import main

    words = shlex.split(line.replace("/data/", f"{root}/"))[1:]
    os.chdir(root)
    runner = CliRunner(env={"PROVSPARK_STORE": str(root / "prov"), "COLUMNS": "240"})
    done = runner.invoke(main, words)
    answers: dict[str, Any] = {}
    if "--json" in words:
        answers["--json"] = json.loads(done.stdout)
    elif "--json-lines" in words:
        answers["--json-lines"] = [json.loads(text) for text in done.stdout.splitlines()]
    elif named := [(option, root / words[words.index(option) + 1]) for option in FILES if option in words]:
        answers |= {option: _read(path) for option, path in named}
    elif (again := runner.invoke(main, [*words, "--json"])).exit_code == done.exit_code and "{" in again.stdout:
        answers["and --json"] = json.loads(again.stdout)
    return Done(done.exit_code, answers, done.stdout, done.stderr)


def _read(path: Path) -> Any:
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            rows = csv.DictReader(file)
            return {"columns": rows.fieldnames, "lines": list(rows)}
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return {"columns": table.column_names, "lines": table.to_pylist()}
    return json.loads(path.read_text()) if path.suffix == ".json" else path.read_text().count("<edge")
