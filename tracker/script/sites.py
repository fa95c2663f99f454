"""Find the line of the user's script that a call or a plan node comes from."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from traceback import walk_stack
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

_DEPTH = 20
"""Number of frames above a thread's innermost in which it may wait for the JVM: py4j sends a command in a few."""
_thread = threading.local()
"""`frame`: where the script waits for what this thread does, if it works for another thread."""


def caller() -> str:
    """Return ``file:line`` of the innermost frame outside Spark, Python's standard library and ProvSpark.

    If there is none, as in a thread of Spark, return the script's file, or "".
    """
    frame = getattr(_thread, "frame", None) or sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_library(name):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return str(getattr(sys.modules.get("__main__"), "__file__", None) or "")


def of_script(site: Any) -> Any:
    """Return a call site of PySpark's (function, file and line) with the script's line in place of one of ours.

    PySpark takes the line that calls its outermost function on the stack.
    """
    if site is None or not site.file.startswith(_OURS):
        return site
    stack = [(frame.f_code.co_filename, line) for frame, line in walk_stack(sys._getframe(1))]
    of_spark = [i for i, (file, _) in enumerate(stack) if file.startswith(_libraries()[2:])]
    for file, line in stack[of_spark[-1] :]:
        if not file.startswith(_libraries()):
            return site._replace(file=file, linenum=line)
    return site


@dataclass(frozen=True, slots=True)
class Waiting:
    """Thread of the script that waits for the JVM, and its innermost frame. 0 and None if it is not known."""

    thread: int = 0
    frame: FrameType | None = None


def waiting_on(connection: str) -> Waiting:
    """Return the thread that waits on a connection of py4j.

    Parameters
    ----------
    connection : str
        Ports of the JVM's socket, remote and local, or "".
    """
    if not connection:
        return Waiting()
    ports = tuple(map(int, connection.split()))
    for thread, innermost in sys._current_frames().items():
        frame: FrameType | None = innermost
        for _ in range(_DEPTH):
            if frame is None:
                break
            if frame.f_code.co_name == "send_command" and "py4j" in frame.f_code.co_filename:
                socket = getattr(frame.f_locals.get("self"), "socket", None)
                if socket is not None and (socket.getsockname()[1], socket.getpeername()[1]) == ports:
                    return Waiting(thread, frame)
            frame = frame.f_back
    return Waiting()


@contextmanager
def on_behalf_of(waiting: Waiting) -> Iterator[None]:
    """Let `caller` find the line of another thread of the script within the block."""
    _thread.frame = waiting.frame
    try:
        yield
    finally:
        _thread.frame = None


def is_library(filename: str) -> bool:
    """Whether a file belongs to Spark, Python's standard library or ProvSpark."""
    if filename.startswith(_OF_PYTHON):
        return not filename.startswith(("site-packages", "dist-packages"), len(_OF_PYTHON))
    return filename.startswith(_libraries()) or filename.endswith(_DELTA)


_OURS = str(Path(__file__).parents[1]) + os.sep
_DELTA = f"{os.sep}delta{os.sep}tables.py"
"""Python side of Delta Lake, which may come from pip or from a jar."""
_OF_PYTHON = str(Path(os.__file__).parent) + os.sep


@cache
def _libraries() -> tuple[str, ...]:
    """Return the prefixes of files to skip between a script and this code: of Spark, py4j and ProvSpark."""
    specs = (find_spec(name) for name in ("pyspark", "py4j"))
    folders = [str(Path(spec.origin).parent) + os.sep for spec in specs if spec is not None and spec.origin]
    return ("<frozen", _OURS, *folders)


def of_node(jvm: Jvm, kind: str, analysed: Any) -> str:
    """Return the script's line that made the first node of this kind in an analysed plan, or "".

    If the plan has no such node, normalising made it from a subquery: then return the first line of any node.
    """
    return str(jvm.plans.site(analysed, kind)) or str(jvm.plans.site(analysed, ""))
