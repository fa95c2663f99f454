"""Whole numbers of requests, without the values that pydantic would convert to one."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

__all__ = ["WHOLE"]

_SHOWN = 60


def _whole(value: Any) -> Any:
    """Reject true, false, strings and numbers such as 1.0."""
    if not isinstance(value, int) or isinstance(value, bool):
        text = json.dumps(value, ensure_ascii=False)
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise PydanticCustomError("whole_number", "must be a whole number, found {value}", {"value": shown})
    return value


WHOLE = BeforeValidator(_whole)
"""Annotation of an `int`, after its `Field`: before it, pydantic would describe the limits in words of its own."""
