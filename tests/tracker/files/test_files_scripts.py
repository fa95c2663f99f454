"""Files that scripts read and write in a process of their own, run as `provspark run` runs them, without Spark."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

RUN = """
import sys
from provspark.tracker import runner
from provspark.tracker.files import DriverFiles, FileRead

files = DriverFiles()
files.begin()
runner._run(sys.argv[1], sys.argv[2:])
files.end()
for each in files.take(final=True):
    kind = "read" if isinstance(each, FileRead) else "written"
    print(kind, each.file.path.rsplit("/", 1)[1], each.site.rsplit("/", 1)[-1], each.action)
for reason in (*files.lost(), *files.processes()):
    print("told", reason.node)
"""

SCRIPTS: dict[str, tuple[str, list[str]]] = {
    "a line of the script": ("open('in.csv').read()", ["read in.csv script.py:1 open"]),
    "a module beside the script": (
        "import beside\nbeside.load('in.csv')",
        ["read in.csv beside.py:2 open"],
    ),
    "a module that reads as it is imported": ("import reading", ["read in.csv reading.py:1 open"]),
    "a function of a library": (
        "import json, pandas\npandas.read_csv('in.csv').to_json('out.json')",
        ["read in.csv script.py:2 pandas.read_csv", "written out.json script.py:2 pandas.to_json"],
    ),
    "imports": ("import email.mime.text, decimal, zoneinfo\nzoneinfo.ZoneInfo('Europe/Paris')", []),
    "a thread without a line of the script": (
        "import threading, pandas\nt = threading.Thread(target=pandas.read_csv, args=['in.csv'])\nt.start()\nt.join()",
        ["read in.csv script.py pandas.read_csv"],
    ),
    "a thread of the script": (
        "import threading\ndef load():\n    open('in.csv')\nt = threading.Thread(target=load)\nt.start()\nt.join()",
        ["read in.csv script.py:3 open"],
    ),
    "compiled text": ("exec(compile(\"open('in.csv').read()\", '<made>', 'exec'))", ["read in.csv script.py:1 open"]),
    "a script that fails": (
        "f = open('out.csv', 'w')\nf.write('x')\nf.close()\nraise ValueError('no')",
        ["written out.csv script.py:1 open"],
    ),
    "a file that stays open": ("f = open('out.csv', 'w')\nf.write('x')", ["written out.csv script.py:1 open"]),
    "a packed file that stays open": (
        "import gzip, sys\nf = gzip.open('out.gz', 'w')\nf.write(b'x')\nsys.kept = f",
        ["written out.gz script.py:2 gzip.open", "told open"],
    ),
    "a log": ("import logging\nlogging.basicConfig(filename='out.log')\nlogging.warning('x')", []),
    "a pool of processes": (
        "import multiprocessing\nif __name__ == '__main__':\n"
        "    with multiprocessing.get_context('fork').Pool(1) as pool:\n        pool.map(abs, [1])",
        ["told multiprocessing.Pool"],
    ),
    "another process": ("import subprocess\nsubprocess.run(['cp', 'in.csv', 'out.csv'])", []),
    "a temporary folder of the script": (
        "import tempfile\nopen(tempfile.mkdtemp(dir='.') + '/out.csv', 'w').close()",
        ["written out.csv script.py:2 open"],
    ),
    "warnings and tracebacks": (
        "import traceback, warnings\nwarnings.warn('x')\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n"
        "    traceback.print_exc()",
        [],
    ),
}


@pytest.mark.parametrize("how", SCRIPTS)
def test_scripts(how: str, tmp_path: Path) -> None:
    script, expected = SCRIPTS[how]
    (tmp_path / "script.py").write_text(script)
    (tmp_path / "beside.py").write_text("def load(path):\n    return open(path).read()\n")
    (tmp_path / "reading.py").write_text("text = open('in.csv').read()\n")
    (tmp_path / "in.csv").write_text("a\n1\n")
    command = [sys.executable, "-c", RUN, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == expected


def test_nothing_is_noticed_when_nobody_listens(tmp_path: Path) -> None:
    """The hook stays, as Python never removes one; a next step notices its own files only."""
    script = """
    from provspark.tracker.files import DriverFiles
    open("before.csv", "w").close()
    for name in ("first.csv", "second.csv"):
        files = DriverFiles()
        files.begin()
        open(name, "w").close()
        files.end()
        open("after.csv", "w").close()
        print([each.file.path.rsplit("/")[-1] for each in files.take(final=True)])
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['first.csv']", "['second.csv']"]


def test_what_fails_in_the_hook_never_reaches_the_script(tmp_path: Path) -> None:
    script = """
    from provspark.tracker.files import DriverFiles, journal
    def look(path):
        raise RuntimeError("broken")
    files = DriverFiles()
    files.begin()
    journal.look = look
    with open("out.csv", "w") as f:
        f.write("x")
    import os, shutil
    shutil.copy("out.csv", "copy.csv")
    os.rename("copy.csv", "moved.csv")
    files.end()
    print(sorted(os.listdir()), {str(r) for r in files.lost()})
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    told = "files: a file that the driver opened was not captured: RuntimeError: broken"
    assert done.stdout.strip() == f"['moved.csv', 'out.csv'] {{'{told}'}}"
