"""Where in the user's script an operation was written."""

from __future__ import annotations

import os
import sys
from collections import deque
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_REMEMBERED = 2048


def caller() -> str:
    """Return ``file:line`` of the innermost frame that is neither Spark's nor ours, or ""."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not _library(name):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def _library(filename: str) -> bool:
    return filename.startswith(_libraries()) or filename.endswith(("/contextlib.py", "/functools.py"))


@cache
def _libraries() -> tuple[str, ...]:
    """Where the frames between a script and us lie: Spark's, py4j's and our own."""
    found = (find_spec(name) for name in ("pyspark", "py4j"))
    folders = [str(Path(spec.origin).parent) for spec in found if spec is not None and spec.origin]
    return ("<frozen", *(folder + os.sep for folder in (str(Path(__file__).parent), *folders)))


class Sites:
    """Remembers, for the last data frames made, the line that made each."""

    def __init__(self) -> None:
        self._made: deque[tuple[Any, str]] = deque(maxlen=_REMEMBERED)

    def note(self, jdf: Any) -> None:
        """Remember the line that is making this Java Dataset."""
        self._made.append((jdf, caller()))

    def of_node(self, jvm: Any, kind: str, analysed: Any) -> str:
        """Return the line that first made a node of this kind that stands in the analysed plan, or "".

        Where there is none, normalising made it out of a subquery: then that one's line.
        """
        for wanted in (kind, ""):
            for jdf, site in list(self._made):
                if site and jvm.plans.holds(jdf.queryExecution().analyzed(), wanted, analysed):
                    return site
        return ""
