"""How Spark compares values: three-valued logic, NaN as one largest value, -0.0 equal to 0.0."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from datetime import datetime, timezone
from typing import Any


def canon(value: Any) -> Hashable:
    """Name a value exactly: 1, 1.0 and True differ, -0.0 and 0.0 differ, every NaN is one."""
    if isinstance(value, float):
        return ("float", "nan" if math.isnan(value) else repr(value))
    if isinstance(value, datetime):
        return ("datetime", value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value)
    if isinstance(value, dict):
        return ("struct", *(canon(v) for v in value.values()))
    if isinstance(value, tuple):
        return ("struct", *(canon(v) for v in value))
    if isinstance(value, list):
        return ("array", *(canon(v) for v in value))
    if isinstance(value, bytearray):
        return ("bytes", bytes(value))
    return (type(value).__name__, value)


def key(value: Any) -> Hashable:
    """Name a value as grouping does: like `canon`, but -0.0 is 0.0."""
    if isinstance(value, (tuple, list, dict)):
        items = value.values() if isinstance(value, dict) else value
        return ("array" if isinstance(value, list) else "struct", *(key(v) for v in items))
    return canon(plain(value))


def plain(value: Any) -> Any:
    """Return a value as a group's key shows it: -0.0 as 0.0, within structs and arrays too."""
    if isinstance(value, float) and value == 0:
        return 0.0
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(plain(v) for v in value)
    return value


def strict(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that is None as soon as an argument is."""
    return lambda *args: None if any(a is None for a in args) else fn(*args)


def rank(value: Any) -> tuple[Any, ...]:
    """Sort key of ascending order: None first, NaN last."""
    if value is None:
        return (0,)
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    return (1, value)


eq = strict(lambda a, b: key(a) == key(b))
lt = strict(lambda a, b: rank(a) < rank(b))
plus = strict(lambda a, b: a + b)
times = strict(lambda a, b: a * b)
negate = strict(lambda a: not a)


def same(a: Any, b: Any) -> bool:
    """Null-safe equality, SQL's ``<=>``."""
    return key(a) == key(b)


def both(*terms: bool | None) -> bool | None:
    """SQL's AND."""
    return False if any(t is False for t in terms) else None if None in terms else True


def either(*terms: bool | None) -> bool | None:
    """SQL's OR."""
    return True if any(t is True for t in terms) else None if None in terms else False


def within(value: Any, options: list[Any]) -> bool | None:
    """SQL's IN: unknown where nothing equals and something is null."""
    return either(*(eq(value, o) for o in options)) if options else False
