"""Subqueries in expressions: a view of their rows or, if they use the outer row, their SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from provspark.model.operations import Operation, Term
from provspark.replay.columns import HIDDEN, distinct, labels, named, quoted
from provspark.replay.contract import Kit, Subquery, detail, of_role
from provspark.replay.rules import replay_rule

__all__ = ["stand_in", "subqueries_of"]


def subqueries_of(operations: Sequence[Operation]) -> dict[int, Subquery]:
    """Return the subquery that each operation belongs to, by operation: the outermost one of nested subqueries."""
    by_operation: dict[int, Subquery] = {}
    for owner in reversed(operations):
        for end in owner.subqueries:
            subquery = by_operation.get(owner.index) or _subquery(operations, owner, end)
            waiting = [end]
            while waiting:
                at = waiting.pop()
                by_operation[at] = subquery
                waiting += operations[at].children
    return by_operation


def _subquery(operations: Sequence[Operation], owner: Operation, end: int) -> Subquery:
    view = re.escape(f"(SELECT * FROM {quoted(f'subquery#{end}')})")
    for e in owner.expressions:
        match = re.search(f"(EXISTS | IN ){view}", e.sql)
        if match is None:
            continue
        kind: Literal["in", "exists"] = "in" if match[1] == " IN " else "exists"
        if not replay_rule(owner.node).demands or not _demanded(e.terms):
            return Subquery(owner.index, end, kind)
        values = [f"({_before(e.sql, match.start())}) = {c}" for c in labels(operations[end].columns)]
        at, condition = _pulled_up(operations, end)
        if at < 0 or (kind == "in" and (len(values) != 1 or at != end)):
            return Subquery(owner.index, end, kind)
        return Subquery(owner.index, end, kind, at, values[0] if kind == "in" else condition)
    return Subquery(owner.index, end, "scalar")


def _pulled_up(operations: Sequence[Operation], end: int) -> tuple[int, str]:
    """Return the last operation that does not use the outer row, and the condition above it that does."""
    if not is_outer(operations, end):
        return end, "true"
    operation = operations[end]
    if replay_rule(operation.node).selects and not detail(operation, "outer columns"):
        return _pulled_up(operations, operation.children[0])
    if (
        replay_rule(operation.node).demands
        and not is_outer(operations, operation.children[0])
        and not operation.subqueries
    ):
        return operation.children[0], of_role(operation, "condition")[0].sql
    return -1, ""


def _demanded(terms: Sequence[Term]) -> bool:
    """Whether each IN and EXISTS of a condition is only below ANDs."""
    stack = [True]
    for term in terms:
        free = stack.pop()
        if term.node in ("InSubquery", "Exists") and not free:
            return False
        stack += [free and term.node == "And"] * term.children
    return True


def _before(sql: str, end: int) -> str:
    """Return the text before a position, from the innermost parenthesis that is open there."""
    depth = 0
    for at in range(end - 1, -1, -1):
        depth += (sql[at] == ")") - (sql[at] == "(")
        if depth < 0:
            return sql[at + 1 : end]
    return sql[:end]


def is_outer(operations: Sequence[Operation], end: int) -> bool:
    """Whether an operation of a subquery, or one below it, uses columns that are not those of its children."""
    operation = operations[end]
    return bool(detail(operation, "outer columns")) or any(is_outer(operations, c) for c in operation.children)


def stand_in(operation: Operation, sql: str, kit: Kit) -> str:
    """Create the views of an expression's subqueries, or insert their SQL, and return the expression's SQL."""
    for end in operation.subqueries:
        name = quoted(f"subquery#{end}")
        if name not in sql:
            continue
        if is_outer(kit.operations, end):
            sql = sql.replace(f"FROM {name}", f"FROM ({_text(kit, end)})")
        else:
            kit.whole(end).drop(*HIDDEN).createOrReplaceTempView(name)
    return sql


def _text(kit: Kit, index: int) -> str:
    """Return the operations of a subquery as one SQL query over views."""
    operation = kit.operation(index)
    if not operation.children or not is_outer(kit.operations, index):
        name = quoted(f"operation#{index}")
        kit.whole(index).drop(*HIDDEN).createOrReplaceTempView(name)
        return f"SELECT * FROM {name}"
    under = [f"({_text(kit, child)})" for child in operation.children]
    made = {e.column: kit.sql(operation, e) for e in of_role(operation, "output") if e.column >= 0}
    every = distinct(operation.columns)
    columns = ", ".join(named(made[c.id], c) if c.id in made else quoted(c.label) for c in every)
    return replay_rule(operation.node).query(operation, columns, under, kit)
