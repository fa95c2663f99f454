from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from provspark.index_store.store import Store

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
    assert "there is no script" in gone.stderr
