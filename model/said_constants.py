"""Values that a script declares to be constants."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")

_KEPT = 64
_MOST = 10_000
_said: deque[Any] = deque(maxlen=_KEPT)


def constant(value: T) -> T:
    """Declare that a value does not derive from data that the script read.

    Rows that the script makes, and values that it puts into a query, after it read rows have *possible* edges to those
    rows, unless the script's text shows that they are constants. Use this function if the text does not show it, for
    example for values of a configuration file. Without capture it does nothing.

    Parameters
    ----------
    value : object
        Rows, a list of keys, a single value … Of a list or another container, all elements are constants.

    Returns
    -------
    object
        The value itself.

    Examples
    --------
    >>> import provspark
    >>> provspark.constant(["NL", "DE"])
    ['NL', 'DE']
    """
    _said.append(value)
    return value


def forget() -> None:
    """Forget all declared constants, when a new script begins."""
    _said.clear()


def is_said(value: object) -> bool:
    """Return whether this very object was recently declared to be a constant."""
    return any(value is one for one in _said)


def said_values() -> list[Any]:
    """Return single values that were declared to be constants, taken out of their containers."""
    values: list[Any] = []
    waiting: list[Any] = list(_said)
    while waiting and len(values) < _MOST:
        value = waiting.pop()
        if isinstance(value, (str, bytes)):
            values.append(value)
        elif isinstance(value, Mapping):
            waiting += [*value, *value.values()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting += value
        else:
            values.append(value)
    return values
