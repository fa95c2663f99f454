"""Find the line of the user's script that a call or a plan node comes from."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm


def caller() -> str:
    """Return ``file:line`` of the innermost frame outside Spark, Python's standard library and ProvSpark.

    If there is none, as in a thread of Spark, return the script's file, or "".
    """
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_library(name):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return str(getattr(sys.modules.get("__main__"), "__file__", None) or "")


def is_library(filename: str) -> bool:
    """Whether a file belongs to Spark, Python's standard library or ProvSpark."""
    if filename.startswith(_OF_PYTHON):
        return not filename.startswith(("site-packages", "dist-packages"), len(_OF_PYTHON))
    return filename.startswith(_libraries())


_OF_PYTHON = str(Path(os.__file__).parent) + os.sep


@cache
def _libraries() -> tuple[str, ...]:
    """Return the prefixes of files to skip between a script and this code: of Spark, py4j and ProvSpark."""
    specs = (find_spec(name) for name in ("pyspark", "py4j"))
    folders = [str(Path(spec.origin).parent) for spec in specs if spec is not None and spec.origin]
    return ("<frozen", *(folder + os.sep for folder in (str(Path(__file__).parents[1]), *folders)))


def of_node(jvm: Jvm, kind: str, analysed: Any) -> str:
    """Return the script's line that made the first node of this kind in an analysed plan, or "".

    If the plan has no such node, normalising made it from a subquery: then return the first line of any node.
    """
    return str(jvm.plans.site(analysed, kind)) or str(jvm.plans.site(analysed, ""))
