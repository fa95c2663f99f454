from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from provspark.cli.run import _of_task
from provspark.index_store.store.store import Store
from provspark.model.steps import Manifest, StepKey

SCRIPT = """
import sys
print("args", sys.argv[1:], __name__, flush=True)
if sys.argv[1:] == ["exit"]:
    sys.exit(7)
if sys.argv[1:] == ["raise"]:
    raise ValueError("no luck")
if sys.argv[1:] == ["wait"]:
    import time
    time.sleep(60)
"""


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "provspark.cli.main", "run", *args]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "job.py").write_text(SCRIPT)
    return tmp_path / "job.py"


@pytest.mark.parametrize(
    ("args", "code"), [(["--store", "x", "-v"], 0), (["exit"], 7), (["raise"], 1)], ids=["ends", "exits", "raises"]
)
def test_output_and_exit_code_are_the_scripts(script: Path, tmp_path: Path, args: list[str], code: int) -> None:
    store = str(tmp_path / "prov")
    ours = subprocess.run(
        command("--store", store, "--step", "job", str(script), *args), capture_output=True, text=True, timeout=300
    )
    alone = subprocess.run([sys.executable, str(script), *args], capture_output=True, text=True, timeout=300)
    assert (ours.returncode, ours.stdout) == (code, alone.stdout)
    assert (alone.returncode, ours.stderr) == (code, alone.stderr)
    (manifest,) = Store.open(store).manifests()
    assert manifest.key.task_id == "job"
    assert manifest.status == ("succeeded" if code == 0 else "failed")


def test_a_signal_reaches_the_script(script: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        command("--store", str(tmp_path / "prov"), str(script), "wait"), stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith("args ['wait']")
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 128 + signal.SIGTERM


def test_a_run_needs_a_store_and_a_script(script: Path, tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("PROVSPARK_")}
    none = subprocess.run(command(str(script)), capture_output=True, text=True, env=env, timeout=300)
    assert none.returncode == 2
    assert "set PROVSPARK_STORE" in none.stderr
    gone = subprocess.run(
        command(str(tmp_path / "gone.py")),
        capture_output=True,
        text=True,
        timeout=300,
        env={**env, "PROVSPARK_STORE": str(tmp_path / "prov")},
    )
    assert gone.returncode == 2
    assert "There is no script" in gone.stderr


TASK = {
    "AIRFLOW_CTX_DAG_ID": "people",
    "AIRFLOW_CTX_TASK_ID": "report",
    "AIRFLOW_CTX_DAG_RUN_ID": "scheduled__2026-01-01T00:00:00+00:00",
    "AIRFLOW_CTX_TRY_NUMBER": "2",
}
RUN = TASK["AIRFLOW_CTX_DAG_RUN_ID"]


def ran(store: Path, script: Path, env: dict[str, str], *args: str) -> None:
    theirs = {k: v for k, v in os.environ.items() if not k.startswith("AIRFLOW_CTX_")}
    done = subprocess.run(
        command("--store", str(store), *args, str(script)),
        capture_output=True,
        text=True,
        timeout=300,
        env={**theirs, **env},
    )
    assert done.returncode == 0, done.stderr


def steps(store: Path) -> list[Manifest]:
    return sorted(Store.open(str(store)).manifests(), key=lambda m: m.started)


def test_within_a_task_each_call_is_a_step_of_that_task(script: Path, tmp_path: Path) -> None:
    """A command that runs one script twice; the second time the map index is known, and the step has a name."""
    store = tmp_path / "prov"
    ran(store, script, TASK)
    ran(store, script, {**TASK, "AIRFLOW_CTX_MAP_INDEX": "3"}, "--step", "-odd")
    first, second = (m.key for m in steps(store))
    assert replace(first, call="") == StepKey("report", RUN, "people", -1, 2)
    assert replace(second, call="") == StepKey("report", RUN, "people", 3, 2)
    assert re.fullmatch("job-[0-9a-f]{8}", first.call) and re.fullmatch("-odd-[0-9a-f]{8}", second.call)
    assert first.id.startswith(f"people-report-{first.call}-")


@pytest.mark.parametrize(("number", "found"), [("0", 0), ("x", 1), ("", 1), ("-3", 1), ("9" * 30, 1), ("²", 1)])
def test_a_try_that_is_no_number_is_the_first(number: str, found: int) -> None:
    key = _of_task({**TASK, "AIRFLOW_CTX_TRY_NUMBER": number, "AIRFLOW_CTX_MAP_INDEX": number}, "job")
    assert key is not None
    assert (key.try_number, key.map_index) == (found, found if number == "0" else -1)


@pytest.mark.parametrize("missing", ["AIRFLOW_CTX_DAG_ID", "AIRFLOW_CTX_TASK_ID", "AIRFLOW_CTX_DAG_RUN_ID"])
def test_without_the_whole_key_it_is_a_run_of_its_own(missing: str, script: Path, tmp_path: Path) -> None:
    ran(tmp_path / "prov", script, {**TASK, missing: ""})
    (key,) = (m.key for m in steps(tmp_path / "prov"))
    assert (key.dag_id, key.task_id, key.try_number, key.call) == ("", "job", 1, "")
    assert key.run_id.startswith("run-")
