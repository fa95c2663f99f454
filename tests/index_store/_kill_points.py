"""Runs an act again and again, each time in a process of its own that is killed one point further on.

``python tests/index_store/_kill_points.py MODULE ACT ARGUMENTS…`` imports tests' MODULE, whose function ACT takes the
number of the point, a function to be called at every point, and the arguments. Points are numbered from 1; the last run
is the one that came to its end, and the number of points is printed. Processes are forked from one that has no threads.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

_KILLED, _MOST = 9, 5000


def killed_at_every_point(module: str, act: str, *arguments: object, every: int = 1) -> list[int]:
    """Run an act to each of its points (or to one of so many); return the points, the last of which is its end."""
    command = [sys.executable, __file__, module, act, str(every), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=540)
    assert done.returncode == 0, done.stderr[-3000:]
    return [int(word) for word in done.stdout.split()]


class Points:
    """Counts, and kills its process at one of them."""

    def __init__(self, at: int) -> None:
        self.at, self.count = at, 0

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.at:
            os._exit(_KILLED)


def _child(act: Callable[..., None], at: int, arguments: list[str]) -> int:
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        act(at, Points(at), *arguments)
        os._exit(0)
    except BaseException as e:
        print(f"at point {at}: {type(e).__name__}: {e}", file=sys.stderr, flush=True)
        os._exit(1)


def _main(module: str, name: str, every: str, *arguments: str) -> None:
    here = Path(__file__).parent
    sys.path[:0] = [str(here), str(here.parent)]
    act = getattr(importlib.import_module(module), name)
    pa.table({"x": np.zeros(1)})  # this imports what each process would else import again
    for at in range(1, _MOST, int(every)):
        code = _child(act, at, list(arguments))
        assert code in (0, _KILLED), f"exit code {code} at point {at}"
        print(at)
        if code == 0:
            return
    raise AssertionError(f"more than {_MOST} points")


if __name__ == "__main__":
    _main(*sys.argv[1:])
