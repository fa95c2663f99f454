"""Finds the columns that an expression uses for every row, and those that it uses only for rows with some values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.operations import Expression, Operation, Term

__all__ = ["chosen", "counts_rows", "end_of", "is_pick", "part", "picked", "uses"]

ColumnUse = tuple[int, bool]
"""Id of a column, and whether it is used in a condition."""

_PICKS = {"First", "Last", "AnyValue", "NthValue", "Lag", "Lead"}
"""Functions that return the value of one row out of many."""
_WHOLE = {"UnboundedPreceding$", "UnboundedFollowing$"}
"""Bounds of a window frame that spans the whole partition."""
_COUNTS = {"Count", "RowNumber", "CountIf", "MonotonicallyIncreasingID"}


def chosen(operation: Operation) -> dict[int, set[ColumnUse]]:
    """Return for each output column the column uses that only some rows make."""
    varying: dict[int, set[ColumnUse]] = {}
    by_column: dict[int, list[Expression]] = {}
    for e in operation.expressions:
        if e.column >= 0 and not (e.role == "branch" and "child" in dict(e.details)):
            by_column.setdefault(e.column, []).append(e)
    for column, expressions in by_column.items():
        each = [list(uses(e.terms)) for e in expressions]
        made = {(c, condition) for of in each for c, condition, _ in of}
        always = {(c, condition) for of in each for c, condition, sure in of if sure}
        if len(expressions) > 1:
            # Each row gets its value from one of them, as in an unpivot.
            always = set.intersection(*({(c, condition) for c, condition, sure in of if sure} for of in each))
        if made - always:
            varying[column] = made - always
    return varying


def picked(operation: Operation) -> set[int]:
    """Return the window columns computed from only some rows of a partition, due to the frame or the function."""
    columns = set()
    for e in operation.expressions:
        nodes = {t.node for t in e.terms}
        if "WindowExpression" in nodes and (nodes & _PICKS or not nodes >= _WHOLE):
            columns.add(e.column)
    return columns


def counts_rows(expression: Expression) -> bool:
    """Whether an expression depends on the number of rows rather than on a column."""
    for at, term in enumerate(expression.terms):
        if term.node in _COUNTS and all(t.column < 0 for t in expression.terms[at : end_of(expression.terms, at)]):
            return True
    return False


def uses(terms: tuple[Term, ...]) -> Iterator[tuple[int, bool, bool]]:
    """Yield each use of a column: its id, whether it is in a condition, and whether every row makes it."""
    if not terms:
        return
    stack: list[tuple[bool, bool]] = [(False, True)]
    for term in terms:
        condition, always = stack.pop()
        if term.column >= 0:
            yield term.column, condition, always
        parts = [part(term.node, term.children, k) for k in range(term.children)]
        stack += [(condition or c, always and a) for c, a in reversed(parts)]


def part(node: str, children: int, number: int) -> tuple[bool, bool]:
    """Return whether a child of an expression is a condition, and whether every row uses it."""
    first = number == 0
    if node == "CaseWhen":
        last = number == children - 1 and children % 2 == 1
        return (number % 2 == 0 and not last), first
    if node == "If":
        return first, first
    if node == "NullIf":
        return not first, True
    if node in ("Coalesce", "Nvl", "IfNull", "NaNvl"):
        return False, first
    if node == "Nvl2" and children > 1:
        return first, first
    if node == "PivotFirst":
        return first, first
    if is_pick(node, number):
        return False, False
    if node == "AggregateExpression" and children > 1:
        return not first, not first
    return False, True


def is_pick(node: str, number: int) -> bool:
    """Whether a function returns the value of this child in one row out of many."""
    return node in _PICKS or (node in ("MaxBy", "MinBy") and number == 0)


def end_of(terms: Sequence[Term], at: int) -> int:
    """Return the index after the subtree that begins at `at`."""
    waiting = 1
    while waiting:
        waiting += terms[at].children - 1
        at += 1
    return at
