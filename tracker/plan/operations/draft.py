"""Parses the operations that java/plan/PlanOperations.java writes."""

from __future__ import annotations

import json
from typing import Any

from provspark.model.drafts import DraftExpression, DraftOperation, Tree
from provspark.model.operations import Column, Expression, Term


def drafts(text: str) -> tuple[tuple[DraftOperation, ...], tuple[tuple[str, str], ...]]:
    """Parse the output of java/plan/PlanOperations.java into operations and the session's settings."""
    operations, checks, settings = text.rsplit("\n", 2)
    right: list[bool] = json.loads(checks)
    drafted = tuple(_operation(i, raw, right) for i, raw in enumerate(json.loads(operations)))
    return drafted, tuple((k, v) for k, v in json.loads(settings))


def _operation(index: int, raw: dict[str, Any], right: list[bool]) -> DraftOperation:
    path = raw.get("path")
    details = tuple((k, v) for k, v in raw["details"])
    if raw["sql_line"]:
        details += (("sql_line", str(raw["sql_line"])),)
    if raw["transformer"]:
        details += tuple(zip(("transformer", "uid", "parameters"), raw["transformer"].split("\0"), strict=True))
    return DraftOperation(
        index,
        raw["node"],
        tuple(raw["children"]),
        tuple(raw["subqueries"]),
        tuple(Column(*c) for c in raw["columns"]),
        tuple(_expression(e, right) for e in raw["expressions"]),
        details,
        None if path is None else tuple(path),
        raw["site"],
        raw["name"],
    )


def _expression(raw: dict[str, Any], right: list[bool]) -> DraftExpression:
    sql, why = raw["sql"], raw["why"]
    if raw["check"] >= 0 and not right[raw["check"]]:
        sql, why = "", "Spark does not read its text back"
    terms = tuple(Term(*t) for t in raw["terms"])
    details = tuple((k, v) for k, v in raw["details"])
    expression = Expression(raw["role"], sql, terms, raw["column"], details)
    return DraftExpression(expression, Tree.of(terms), raw["shown"] or raw["sql"], why)
