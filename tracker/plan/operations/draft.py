"""An operation as java/plan/PlanOperations.java tells it, before anything is worked out from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from provspark.model.operations import Column, Expression, Term


@dataclass(frozen=True, slots=True)
class Tree:
    """A term with what is below it."""

    term: Term
    children: tuple[Tree, ...]

    @classmethod
    def of(cls, terms: tuple[Term, ...]) -> Tree:
        """Read prefix order."""
        return _tree(iter(terms))

    def walk(self) -> Iterator[Term]:
        """All terms."""
        yield self.term
        for child in self.children:
            yield from child.walk()


def _tree(terms: Iterator[Term]) -> Tree:
    term = next(terms)
    return Tree(term, tuple(_tree(terms) for _ in range(term.children)))


@dataclass(frozen=True, slots=True)
class DraftExpression:
    """An expression, what to show where it has no SQL, and why it has none."""

    expression: Expression
    tree: Tree
    shown: str
    why: str


@dataclass(frozen=True, slots=True)
class DraftOperation:
    """One operation of the plan."""

    index: int
    node: str
    children: tuple[int, ...]
    subqueries: tuple[int, ...]
    columns: tuple[Column, ...]
    expressions: tuple[DraftExpression, ...]
    details: tuple[tuple[str, str], ...]
    path: tuple[int, ...] | None
    """Of a leaf, its number and those of the leaves that hold the plan it stands in; see `Rewriter.paths`."""
    site: str
    name: str

    def detail(self, key: str) -> str:
        """Return what else decides, or ""."""
        return next((v for k, v in self.details if k == key), "")

    def of_role(self, *roles: str) -> list[DraftExpression]:
        """Return the expressions of these roles."""
        return [e for e in self.expressions if e.expression.role in roles]


def drafts(text: str) -> tuple[tuple[DraftOperation, ...], tuple[tuple[str, str], ...]]:
    """Read what java/plan/PlanOperations.java wrote: operations, and the session's settings."""
    operations, checks, settings = text.rsplit("\n", 2)
    right: list[bool] = json.loads(checks)
    found = tuple(_operation(i, raw, right) for i, raw in enumerate(json.loads(operations)))
    return found, tuple((k, v) for k, v in json.loads(settings))


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
