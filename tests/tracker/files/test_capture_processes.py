"""Processes that a script starts: the step reports those that run Spark, with the line and the command."""

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
from provspark.tracker.files.processes import spark_command


def started(folder: Path, start: Callable[[], Any]) -> list[tuple[str, str]]:
    """Return what the step reports of a process: the function that started it, and the command."""
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
        (
            lambda: subprocess.run(["x", "load.py"], executable=sys.executable, check=True),
            ("subprocess.run", "python load.py"),
        ),
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


RUNS = """
if true; then spark-submit a.py; fi
if ! spark-submit a.py; then exit 1; fi
for x in 1 2; do spark-submit a.py $x; done
while read x; do spark-submit a.py; done
f() { spark-submit a.py; }; f
{ spark-submit a.py; }
eval spark-submit a.py
`spark-submit a.py`
echo "$(spark-submit a.py)"
$SPARK_HOME/bin/spark-submit a.py
${SPARK_HOME}/bin/spark-submit a.py
>log 2>&1 spark-submit a.py
env -i PATH=/bin spark-submit a.py
sudo -u spark spark-submit a.py
timeout 1.5h spark-submit a.py
find . -name a.py -exec spark-submit {} +
docker exec box spark-submit a.py
/usr/bin/env bash -c 'spark-submit a.py'
bash -c -e 'spark-submit a.py'
bash -eu -o pipefail run.sh
. ./run.sh
./start
cd jobs && python deep.py
python -X dev load.py
python -u -W ignore load.py
python -mpyspark
python -um load
python -c'import pyspark'
uv run --with numpy python load.py
spark3-submit a.py
aws --region x emr add-steps --cluster-id j
gcloud --project p dataproc jobs submit pyspark a.py
databricks jobs run-now --job-id 1
java -cp x org.apache.spark.deploy.SparkSubmit a.py
"""
OTHERS = """
spark-submit --version
command -v spark-submit
python plain.py
python -c 'print(1)'
python -m http.server
grep pyspark load.py
ls /opt/spark/bin
echo spark-submit
aws glue get-table --name t
aws s3 cp a b
databricks fs ls
gcloud dataproc clusters list
provspark run load.py
nohup provspark run load.py
timeout 60 python -m provspark.cli.main run load.py
cat <<< 'pyspark'
python /dev/stdin
python /dev/null
"""


@pytest.mark.parametrize("text", RUNS.strip().splitlines())
def test_a_command_that_runs_spark(text: str, programs: Path) -> None:
    (programs / "jobs").mkdir()
    (programs / "jobs" / "deep.py").write_text("from pyspark.sql import SparkSession")
    (programs / "start").write_text("#!/usr/bin/env python\nimport pyspark\n")
    assert spark_command(text)
    assert spark_command(f"# nightly\nset -e  # it's\n{text}")


@pytest.mark.parametrize("text", OTHERS.strip().splitlines())
def test_a_command_that_runs_no_spark(text: str, programs: Path) -> None:
    assert spark_command(text) == ""


def test_what_belongs_to_the_process_is_not_read(programs: Path) -> None:
    """Pipes and devices give what they hold to one reader."""
    ours, theirs = os.pipe()
    os.write(theirs, b"import sys; print('from a descriptor')")
    os.close(theirs)
    os.mkfifo("load.sh")
    writer = subprocess.Popen([sys.executable, "-c", "open('load.sh', 'w').write('echo from a pipe')"])
    with attach(store=(programs / "store").as_uri(), step="s"):
        found = [
            subprocess.run(command, pass_fds=[ours], capture_output=True, text=True, timeout=60).stdout
            for command in ([sys.executable, f"/dev/fd/{ours}"], ["sh", "load.sh"])
        ]
    os.close(ours)
    assert (found, writer.wait()) == (["from a descriptor\n", "from a pipe\n"], 0)


@pytest.mark.parametrize("command", [["spark-submit", 5], [object()], []])
def test_a_call_that_python_refuses(command: list[Any], programs: Path) -> None:
    with attach(store=(programs / "store").as_uri(), step="s") as capture, pytest.raises((TypeError, IndexError)):
        subprocess.run(command, check=True)
    assert capture.untracked == ()
