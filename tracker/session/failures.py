"""Cause of a call that failed with a rewritten plan: capture's code, the user's, or a cancellation."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

__all__ = ["ours", "said", "stopped"]

_STOPPED = re.compile(r"SPARK_JOB_CANCELLED|\b(?:was|been) cancelled|InterruptedException")


def ours(error: Exception, jvm: Jvm) -> bool:
    """Whether capture caused a failed call: an exception of the chain comes from our Java code or from missing it."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None:
        return False
    arises = True
    for line in jvm.jvm.org.apache.spark.util.Utils.exceptionString(java).splitlines():
        frame = line.strip().startswith("at ")
        if frame and arises and line.strip().startswith("at provspark."):
            return True
        if not frame and "provspark." in line and ("ClassNotFound" in line or "NoClassDefFound" in line):
            return True
        arises = not frame
    return False


def said(error: Exception) -> str:
    """Return the line of an error that says what happened: the first, or the last one of a Python traceback."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    if not _of_python(error):
        return lines[0] if lines else type(error).__name__
    within = takewhile(lambda line: not line.startswith("JVM stacktrace"), lines)
    return [line for line in within if not line.startswith(" ")][-1]


def _of_python(error: Exception) -> bool:
    """Whether a Python function of the user raised the error."""
    from pyspark.errors import PythonException  # here, because the tracker can be imported without Spark

    return isinstance(error, PythonException)


def stopped(error: Exception, jvm: Jvm) -> bool:
    """Whether a failed call was cancelled, so that it must not run again."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if jvm.spark.sparkContext._jsc.sc().isStopped():
        return True
    if java is None:  # before Spark 4.3, the error of a Python function has no Java exception
        return not _of_python(error)
    return _STOPPED.search(jvm.jvm.org.apache.spark.util.Utils.exceptionString(java)) is not None
