"""Whether an answer of today has what the last release's had: it may have more, and what `_changed` names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from _changed import of_key

FORMER = {"related_row": "source_row", "related_column": "source_column", "paper_categories": "categories"}
"""Columns that have another name now, and stand where they did."""
_MISSING = object()


def missing(now: Any, then: Any, at: str = "") -> Iterator[str]:
    """Say where an answer differs: tables may have further columns at their ends, and objects further keys."""
    if isinstance(then, dict) and set(then) == {"columns", "lines"} and isinstance(now, dict) and "columns" in now:
        first = [FORMER.get(name, name) for name in now["columns"][: len(then["columns"])]]
        if first != then["columns"] or not set(first) <= set(now["columns"]):
            yield f"{at}: columns {then['columns']} are {now['columns']}"
        yield from missing(now["lines"], then["lines"], at)
    elif isinstance(then, dict) and isinstance(now, dict):
        for key, value in then.items():
            if key in now and now[key] != value and of_key(key, now, then):
                continue
            yield from missing(now.get(key, _MISSING), value, f"{at}.{key}")
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for i, (one, other) in enumerate(zip(now, then, strict=True)):
            yield from missing(one, other, f"{at}[{i}]")
    elif isinstance(now, float) and isinstance(then, float) and math.isclose(now, then, rel_tol=1e-9):
        return  # the last digits of a sum depend on the processor
    elif type(now) is not type(then) or now != then:
        yield f"{at}: {str(then)[:200]} is {'missing' if now is _MISSING else str(now)[:200]}"
