"""Put what is expected and what came out side by side."""

from __future__ import annotations

from typing import Any

from _driver_scripts import Expected
from _driver_world import Outcome

_FIELDS = ("label", "data", "context", "possible", "reads", "ends", "stops")


def told(of: Expected | Outcome) -> dict[str, Any]:
    """The fields that both have, in a form that pytest compares well."""
    values = {name: getattr(of, name) for name in _FIELDS}
    return {name: value if isinstance(value, str) else sorted(value) for name, value in values.items()}
