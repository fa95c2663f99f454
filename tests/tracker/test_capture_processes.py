"""Processes that a script starts: those that run Spark without capture are told, by their line and command."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provspark.tracker import attach


def started(folder: Path, start: Callable[[], Any]) -> list[tuple[str, str]]:
    """What is told of a process that the script starts: the function, and the command that it names."""
    with attach(store=(folder / "store").as_uri(), step="s") as capture:
        start()
    assert all(told.site.startswith(__file__) for told in capture.untracked)
    return [(told.node, told.why.split(" runs Spark")[0]) for told in capture.untracked]


SUBMIT = "spark-submit --conf spark.password=secret load.py 2024-01-01"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs of Spark's names that do nothing, and scripts."""
    for name in ("spark-submit", "spark-sql", "aws"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
    (tmp_path / "load.py").write_text("if False:\n    import pyspark\n")
    (tmp_path / "plain.py").write_text("print(1)\n")
    (tmp_path / "run.sh").write_text("exec spark-submit load.py\n")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (lambda: subprocess.run(SUBMIT.split(), check=True), ("subprocess.run", "spark-submit load.py")),
        (lambda: subprocess.run(SUBMIT, shell=True, check=True), ("subprocess.run", "spark-submit load.py")),
        (lambda: subprocess.check_call(["nohup", *SUBMIT.split()]), ("subprocess.check_call", "spark-submit load.py")),
        (
            lambda: subprocess.Popen(["bash", "-c", f"cd . && {SUBMIT}"]).wait(),
            ("subprocess.Popen", "spark-submit load.py"),
        ),
        (
            lambda: subprocess.run(f"# it's them\n{SUBMIT}", shell=True, check=True),
            ("subprocess.run", "spark-submit load.py"),
        ),
        (lambda: os.system(SUBMIT), ("os.system", "spark-submit load.py")),
        (lambda: os.popen(SUBMIT).close(), ("os.popen", "spark-submit load.py")),
        (
            lambda: os.waitpid(os.posix_spawnp("spark-submit", SUBMIT.split(), os.environ), 0),
            ("os.posix_spawn", "spark-submit load.py"),
        ),
        (
            lambda: asyncio.run(launched("spark-sql", "-f", "load.sql")),
            ("asyncio.create_subprocess_exec", "spark-sql load.sql"),
        ),
        (lambda: subprocess.run(["aws", "emr", "add-steps"], check=True), ("subprocess.run", "aws")),
        (lambda: subprocess.run([sys.executable, "load.py"], check=True), ("subprocess.run", "python load.py")),
        (
            lambda: subprocess.run([sys.executable, "-c", "if 0: import pyspark"], check=True),
            ("subprocess.run", "python"),
        ),
        (lambda: subprocess.run(["sh", "run.sh"], check=True), ("subprocess.run", "sh run.sh")),
        (
            lambda: subprocess.run("A=1 timeout 60s spark-submit load.py | cat", shell=True, check=True),
            ("subprocess.run", "spark-submit load.py"),
        ),
    ],
)
def test_a_process_that_runs_spark_is_told(start: Callable[[], Any], told: tuple[str, str], programs: Path) -> None:
    found = started(programs, start)
    assert [(node, name.replace(Path(sys.executable).name, "python")) for node, name in found] == [told]


async def launched(*words: str) -> None:
    await (await asyncio.create_subprocess_exec(*words)).wait()


@pytest.mark.parametrize(
    "command",
    [
        ["git", "--version"],
        [sys.executable, "plain.py"],
        ["grep", "pyspark", "load.py"],
        ["cat", "load.py", "run.sh"],
        ["sh", "-c", "echo spark-submit"],
        ["true", "spark-submit"],
        [sys.executable, "-m", "provspark.cli.main", "run", "--help", "load.py"],
        ["sh", "-c", "true 'unfinished"],
    ],
)
def test_other_processes_are_not_told(command: list[str], programs: Path) -> None:
    assert started(programs, lambda: subprocess.run(command, capture_output=True)) == []
