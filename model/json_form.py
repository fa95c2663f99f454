"""JSON form of the dataclasses of this package."""

from __future__ import annotations

from typing import Any


def jsonable(value: Any) -> Any:
    """Convert dataclasses of this package to values for ``json.dumps``; `Files` and `Boxes` have no JSON form."""
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, (tuple, list)):
        return [jsonable(v) for v in value]
    names = getattr(type(value), "__dataclass_fields__", None)
    if names is None:
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return {name: jsonable(getattr(value, name)) for name in names}
