"""Readable forms of expressions, from which families of operators build the texts of operations."""

from __future__ import annotations

import re
from collections.abc import Mapping

from provspark.model.drafts import DraftExpression, DraftOperation

__all__ = ["conditions", "keys", "made", "named", "shown", "unbracketed"]

_LABEL = re.compile(r"`((?:[^`]|``)+)#(\d+)`")
_QUERY = re.compile(r"\(SELECT \* FROM `subquery#(\d+)`\)")
_NUMBER = re.compile(r"CAST\((-?[\d.]+) AS \w+\)")
_PLAIN = re.compile(r"\w+")


def conditions(o: DraftOperation) -> str:
    """Return an operation's conditions, joined by AND."""
    return " AND ".join(unbracketed(shown(e)) for e in o.of_role("condition"))


def keys(o: DraftOperation) -> str:
    """Return what an operation groups by."""
    return ", ".join(shown(e) for e in o.of_role("group"))


def made(o: DraftOperation) -> list[str]:
    """Return each computed column with its expression."""
    names = {c.id: c.name for c in o.columns}
    return [f"{names.get(e.expression.column, '')} = {shown(e)}" for e in o.of_role("output")]


def shown(e: DraftExpression) -> str:
    """Return an expression with the user's names."""
    return named(e.shown, {})


def named(sql: str, instead: Mapping[int, str]) -> str:
    """Return SQL over `Column.label` with the user's names, or with other text for the columns in `instead`."""
    plain = _QUERY.sub(r"(operation \1)", _NUMBER.sub(r"\1", sql))

    def told(match: re.Match[str]) -> str:
        name = match[1] if _PLAIN.fullmatch(match[1]) else f"`{match[1]}`"
        return instead.get(int(match[2]), name)

    return _LABEL.sub(told, plain)


def unbracketed(text: str) -> str:
    """Remove brackets that enclose the whole text."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and i < len(text) - 1:
            return text
    return text[1:-1]
