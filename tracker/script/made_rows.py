"""Decide whether rows that the script is passing to Spark may derive from rows that it read before."""

from __future__ import annotations

import os
import sys
from typing import Any

from provspark.tracker.script.row_constants import MAKERS, not_constant, rows_are_constant
from provspark.tracker.session.troubles import log

__all__ = ["not_known_before"]

_PANDAS = f"{os.sep}pyspark{os.sep}pandas{os.sep}"
_UNKNOWN = "Capture could not determine whether the rows that the script creates are constants."


def not_known_before(maker: str, data: Any = None, *, numbers: frozenset[str] = frozenset()) -> str:
    """Return why the rows of the running call are not constants of the script's text; "" if they are constants.

    Parameters
    ----------
    maker : str
        A key of `MAKERS`. If pandas on Spark makes this call, the script's own call decides instead.
    data : object, optional
        The rows that the script passed.
    numbers : frozenset of str
        As for `not_constant`.
    """
    try:
        if _by_pandas() and any(rows_are_constant(name) for name in MAKERS if name.startswith("ps.")):
            return ""
        if maker == "SparkContext.parallelize" and rows_are_constant("SparkContext.range"):
            return ""
        return not_constant(maker, data=data, numbers=numbers)
    except Exception as e:
        log.debug("provspark: Could not determine whether rows are constants", exc_info=e)
        return _UNKNOWN


def _by_pandas() -> bool:
    """Whether pandas on Spark is on the call stack."""
    if "pyspark.pandas" not in sys.modules:
        return False
    frame = sys._getframe(1)
    while frame is not None:
        if _PANDAS in frame.f_code.co_filename:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
