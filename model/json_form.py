"""The dataclasses of this package as JSON."""

from __future__ import annotations

from typing import Any


def jsonable(value: Any) -> Any:
    """Turn the dataclasses of this module into what ``json.dumps`` takes; `Files` and `Boxes` never travel as JSON."""
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, (tuple, list)):
        return [jsonable(v) for v in value]
    names = getattr(type(value), "__dataclass_fields__", None)
    if names is None:
        raise TypeError(f"{type(value).__name__} does not travel as JSON")
    return {name: jsonable(getattr(value, name)) for name in names}
