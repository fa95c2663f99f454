"""Spark's pickled functions: what one is declared to be, and one wrapped for the executors."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

from provspark.tracker.plan.functions import shipped

ATTRIBUTE = "__provspark__"
"""What provspark.function_declarations sets."""


class _Tolerant(pickle.Unpickler):
    """Reads functions in the driver: broadcast variables, which only executors find, stay away."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("pyspark.core.broadcast", "_from_id"):
            return lambda number: None
        return super().find_class(module, name)


def declared(command: bytes) -> tuple[str, str]:
    """Return what the function is declared to be, or "", and its name."""
    try:
        loaded = _Tolerant(io.BytesIO(command)).load()
    except Exception:  # a function that only an executor can read says nothing here
        loaded = None
    if not isinstance(loaded, tuple):
        return "", ""
    function = loaded[0]
    return str(getattr(function, ATTRIBUTE, "")), str(getattr(function, "__qualname__", function))


def wrapped(command: bytes, names: tuple[str, ...], sides: tuple[int, ...], how: str, *, keyed: bool) -> bytes:
    """Return a command that wraps a command; see `shipped.rebuilt`."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(shipped)
    try:
        made: bytes = cloudpickle.dumps(_Call(shipped.rebuilt, (command, names, sides, how, keyed)))
    finally:
        cloudpickle.unregister_pickle_by_value(shipped)
    return made


class _Call:
    """Pickles as a call, of which the unpickled value is the result."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._what = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._what
