"""Where in the user's script an operation was written."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path
from typing import Any

_OURS = str(Path(__file__).parent.parent)
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
    return (
        filename.startswith((_OURS, "<frozen"))
        or "/provspark/" in filename
        or "/pyspark/" in filename
        or "/py4j/" in filename
        or filename.endswith(("/runpy.py", "/contextlib.py", "/functools.py"))
    )


class Sites:
    """Remembers, for the last data frames made, the line that made each."""

    def __init__(self) -> None:
        self._made: deque[tuple[Any, str]] = deque(maxlen=_REMEMBERED)

    def note(self, jdf: Any) -> None:
        """Remember the line that is making this Java Dataset."""
        self._made.append((jdf, caller()))

    def of_node(self, jvm: Any, kind: str, analysed: Any) -> str:
        """Return the line that first made a node of this kind that stands in the analysed plan, or ""."""
        for jdf, site in list(self._made):
            if site and jvm.plans.holds(jdf.queryExecution().analyzed(), kind, analysed):
                return site
        return ""
