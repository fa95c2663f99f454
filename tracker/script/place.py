"""Find the place in the script of the call that is running."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import FrameType

from provspark.tracker.script.program import beside
from provspark.tracker.script.sites import is_library


@dataclass(frozen=True, slots=True)
class CallPlace:
    """Place of a call in a script.

    Attributes
    ----------
    file : str
        File name from the frame's code object.
    line : int
    end : (int, int), optional
        Line and column (in bytes) where the call's text ends. Python 3.11 and later know it.
    """

    file: str
    line: int
    end: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def script_place() -> CallPlace | None:
    """Return the place of the innermost running call outside Spark and ProvSpark, or None."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            return CallPlace(frame.f_code.co_filename, frame.f_lineno, _end(frame))
        frame = frame.f_back
    return None


def script_files() -> list[str]:
    """Return the script's files that are on the call stack, as frames name them."""
    frame: FrameType | None = sys._getframe(1)
    files: dict[str, None] = {}
    while frame is not None:
        if beside(frame.f_code.co_filename):
            files[frame.f_code.co_filename] = None
        frame = frame.f_back
    return list(files)


def _end(frame: FrameType) -> tuple[int, int] | None:
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    for i, (_, line, _, column) in enumerate(positions()):
        if i == frame.f_lasti // 2:
            return None if line is None or column is None else (line, column)
    return None
