"""User-defined functions in a replay. They run only if this is switched on, and are imported; the script never runs."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from provspark.model.operations import USERS, Operation
from provspark.replay.contract import Refused

__all__ = ["Functions"]

_PREFIX = "function "


class Functions:
    """Registers user-defined functions in a replay's session, by their qualified names.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    allowed : bool
        Whether they may run.
    """

    def __init__(self, spark: Any, allowed: bool) -> None:
        self._spark, self._allowed = spark, allowed

    def admit(self, operation: Operation) -> None:
        """Register an operation's functions.

        Raises
        ------
        Refused
            They may not run or can't be imported, or the operation is opaque for another reason.
        """
        if not operation.opaque.startswith(USERS):
            raise Refused(operation, operation.opaque)
        if not self._allowed:
            why = "a replay runs it only with functions=True (--functions)"
            raise Refused(operation, f"{operation.opaque}; {why}")
        wanted = dict(_wanted(operation))
        if not wanted or any(not e.sql for e in operation.expressions):
            raise Refused(operation, f"{operation.opaque}, whose call was not stored")
        for name, how in wanted.items():
            self._register(operation, name, how)

    def _register(self, operation: Operation, name: str, how: str) -> None:
        from pyspark.sql.types import _parse_datatype_json_string
        from pyspark.sql.udf import UserDefinedFunction

        kind, _, kind_of_value = how.partition(" ")
        try:
            function = _imported(name)
        except (ImportError, AttributeError) as e:
            raise Refused(operation, f"{USERS} {name} can't be imported where the replay runs: {e}") from None
        made = UserDefinedFunction(function, _parse_datatype_json_string(kind_of_value), name, int(kind), True)
        self._spark._jsparkSession.udf().registerPython(name, made._judf)


def _wanted(operation: Operation) -> Iterator[tuple[str, str]]:
    for e in operation.expressions:
        for name, how in e.details:
            if name.startswith(_PREFIX):
                yield name.removeprefix(_PREFIX), how


def _imported(name: str) -> Any:
    """Import a function by its qualified name.

    Raises
    ------
    ImportError, AttributeError
    """
    parts = name.split(".")
    if "<lambda>" in parts or "<locals>" in parts:
        raise ImportError("it has no name in a module; define it with def at the top level of a module")
    if parts[0] == "__main__":
        raise ImportError("it is defined in the script, which a replay never runs; move it to a module")
    for length in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:length])
        try:
            object_: Any = importlib.import_module(module)
        except ModuleNotFoundError as e:
            if length == 1 or not module.startswith(e.name or module):
                raise
            continue
        for part in parts[length:]:
            object_ = getattr(object_, part)
        return getattr(object_, "func", object_)
    raise ImportError(f"its name {name!r} contains no module; define it with def at the top level of a module")
