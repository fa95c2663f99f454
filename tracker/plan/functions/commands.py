"""Functions that Spark pickled: reads their declarations, and wraps them for the executors."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

from provspark.tracker.plan.functions import shipped

ATTRIBUTE = "__provspark__"
"""Attribute that `provspark.function_declarations` sets."""


class _Tolerant(pickle.Unpickler):
    """Unpickles functions in the driver, without their broadcast variables, which only executors can find."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("pyspark.core.broadcast", "_from_id"):
            return lambda number: None
        return super().find_class(module, name)


def declared(command: bytes) -> tuple[str, str]:
    """Return a function's declaration ("" if it has none) and its name."""
    try:
        loaded = _Tolerant(io.BytesIO(command)).load()
    except Exception:  # only an executor can unpickle it
        loaded = None
    if not isinstance(loaded, tuple):
        return "", ""
    function = loaded[0]
    return str(getattr(function, ATTRIBUTE, "")), str(getattr(function, "__qualname__", function))


def wrapped(command: bytes, names: tuple[str, ...], sides: tuple[int, ...], how: str, *, keyed: bool) -> bytes:
    """Return the pickled wrapper of a pickled function; see `shipped.rebuilt` for the parameters."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(shipped)
    try:
        made: bytes = cloudpickle.dumps(_Call(shipped.rebuilt, (command, names, sides, how, keyed)))
    finally:
        cloudpickle.unregister_pickle_by_value(shipped)
    return made


class _Call:
    """Object that pickles as a call: unpickling it returns the call's result."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._what = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._what
