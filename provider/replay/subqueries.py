"""Subqueries of expressions: views of their rows, or, where they look at the outer row, their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.operations import Operation
from provspark.replay.columns import HIDDEN, distinct, named, quoted
from provspark.replay.rules.base import Refused, detail, of_role

if TYPE_CHECKING:
    from provspark.replay.engine import Engine


def stand_in(operation: Operation, sql: str, engine: Engine) -> str:
    """Make what an expression says of subqueries meaningful, and return its text."""
    for end in operation.subqueries:
        name = quoted(f"subquery#{end}")
        if name not in sql:
            continue
        if _outer(engine, end):
            sql = sql.replace(f"FROM {name}", f"FROM ({_text(engine, end)})")
        else:
            engine.whole(end).drop(*HIDDEN).createOrReplaceTempView(name)
    return sql


def _outer(engine: Engine, end: int) -> bool:
    """Whether an operation below uses columns that none of its children hands it."""
    operation = engine.operation(end)
    had = {c.id for child in operation.children for c in engine.operation(child).columns}
    uses = {t.column for e in operation.expressions for t in e.terms if t.column >= 0}
    inner = bool(operation.children) and not uses <= had
    return inner or any(_outer(engine, child) for child in operation.children)


def _text(engine: Engine, index: int) -> str:
    """Write a subquery's operations as one query over views of its sources."""
    operation = engine.operation(index)
    if not operation.children or not _outer(engine, index):
        name = quoted(f"operation#{index}")
        engine.whole(index).drop(*HIDDEN).createOrReplaceTempView(name)
        return f"SELECT * FROM {name}"
    under = [f"({_text(engine, child)})" for child in operation.children]
    made = {e.column: engine.sql(operation, e) for e in of_role(operation, "output") if e.column >= 0}
    every = distinct(operation.columns)
    columns = ", ".join(named(made[c.id], c) if c.id in made else quoted(c.label) for c in every)
    conditions = " AND ".join(f"({engine.sql(operation, e)})" for e in of_role(operation, "condition")) or "true"
    if operation.node == "Filter":
        return f"SELECT {columns} FROM {under[0]} WHERE {conditions}"
    if operation.node == "Aggregate":
        keys = ", ".join(engine.sql(operation, e) for e in of_role(operation, "group"))
        return f"SELECT {columns} FROM {under[0]}" + (f" GROUP BY {keys}" if keys else "")
    if operation.node in ("Project", "SubqueryAlias", "View"):
        return f"SELECT {columns} FROM {under[0]}"
    if operation.node == "Distinct":
        return f"SELECT DISTINCT {columns} FROM {under[0]}"
    if operation.node == "Join" and detail(operation, "type").lower() in ("inner", "cross"):
        return f"SELECT {columns} FROM {under[0]} JOIN {under[1]} ON {conditions}"
    raise Refused(operation, f"{operation.node} in a subquery that looks at the outer row is not replayed")
