"""Runs a script under capture in a process for each module that capture imports, whose import fails there.

Called as ``_failing_imports.py FOLDER ON_ERROR``; prints a list in JSON of the module, the exit code, and the output.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

OTHERS = ("numpy", "pyarrow", "pyarrow.parquet", "zstandard", "pyspark", "pyspark.sql")
LATE = ("pyspark.sql.classic", "pyspark.sql.classic.dataframe", "pyspark.sql.streaming", "pyspark.sql.udf")
SCRIPT = """
import sys
print("ran", *sys.argv[1:])
with open("ran", "a") as file:
    file.write("x")
sys.exit(3)
"""


class Fails(MetaPathFinder):
    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> None:
        if name == self._name:
            raise ImportError(f"{name} is broken")


def run(folder: Path, name: str, on_error: str) -> tuple[int, str]:
    """Fork, run the script where the import of a module fails, and return the exit code and the output."""
    output = folder / "output"
    child = os.fork()
    if child == 0:
        out = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        code = 99
        try:
            for loaded in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
                del sys.modules[loaded]
            sys.meta_path.insert(0, Fails(name))
            runner = importlib.import_module("runner")
            options = ["--store", (folder / "store").as_uri(), "--on-error", on_error, "--run-id", name]
            code = runner.main([*options, "--", "script.py", "a", "b"])
        except BaseException as e:
            print(f"{type(e).__name__}: {e}", file=sys.stderr)
            code = 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), output.read_text()


def ours() -> list[str]:
    """Return the modules of ours that a run of the script imports."""
    read, write = os.pipe()
    if os.fork() == 0:
        importlib.import_module("provspark.tracker.attachment")
        os.write(write, json.dumps(sorted(m for m in sys.modules if m.startswith("provspark"))).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as names:
        found: list[str] = json.load(names)
    os.wait()
    return found


def main(folder: Path, on_error: str) -> None:
    import provspark.tracker

    package = Path(provspark.__path__[0]) / "tracker"  # not the module: it stays out
    sys.path.insert(0, str(package))
    for name in [m for m in sys.modules if m.startswith("provspark")]:
        del sys.modules[name]
    names = [*ours(), *OTHERS, *LATE]
    for name in OTHERS:  # children import them no more, but for the one that fails
        importlib.import_module(name)
    os.chdir(folder)
    Path("script.py").write_text(SCRIPT)
    results = []
    for name in names:
        Path("ran").write_text("")
        code, output = run(folder, name, on_error)
        results.append((name, code, output, Path("ran").read_text()))
    print(json.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
