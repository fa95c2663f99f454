"""Scripts run as processes of their own: what they print, raise and return is what plain Python gives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import provspark
from provspark.index_store.model import Manifest

pytestmark = pytest.mark.spark

QUICK = {
    "exit 3": "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)",
    "exit with a text": "raise SystemExit('that was it')",
    "exit with nothing": "import sys; sys.exit()",
    "ends well": "import atexit\natexit.register(print, 'bye')\nassert __name__ == '__main__' and not __doc__",
    "own argparse": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--store')\n"
        "print(p.parse_args().store)\np.error('no')"
    ),
}


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def tracked(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    store = (folder / "store").as_uri()
    options = ["--store", store, "--task-id", "the task", "--run-id", "the run"]
    return run("-m", "provspark.tracker.runner", *options, "--", *command, cwd=folder)


def script(folder: Path, text: str) -> str:
    """Write a script in a folder that isn't the working one."""
    (folder / "jobs").mkdir()
    (folder / "jobs" / "app.py").write_text(dedent(text))
    return "jobs/app.py"


def the_step(folder: Path) -> Manifest:
    (found,) = provspark.open((folder / "store").as_uri()).graph.manifests
    return found


@pytest.mark.parametrize("name", QUICK)
def test_as_plain_python(name: str, tmp_path: Path) -> None:
    app = script(tmp_path, QUICK[name])
    plain = run(app, "--store", "mine", cwd=tmp_path)
    found = tracked(tmp_path, app, "--store", "mine")
    assert (found.returncode, found.stdout, found.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    step = the_step(tmp_path)
    assert step.status == ("failed" if plain.returncode else "succeeded")
    assert (step.key.task_id, step.key.run_id) == ("the task", "the run")


def test_no_such_script(tmp_path: Path) -> None:
    plain, found = run("none.py", cwd=tmp_path), tracked(tmp_path, "none.py")
    assert found.returncode == plain.returncode == 2
    assert "none.py" in found.stderr
