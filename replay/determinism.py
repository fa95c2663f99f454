"""Whether an operation's text and what it reads settle what it made: where they do not, running it again may differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from provspark.model.operations import Expression, Operation
from provspark.replay.engine import Engine
from provspark.replay.rules.base import detail, of_role
from provspark.replay.rules.narrow import order

__all__ = ["unsettled"]

_BY_PLACE = frozenset(
    {"First", "Last", "NthValue", "AnyValue", "CollectList", "CollectSet", "ListAgg", "MaxBy", "MinBy", "MaxMinByK"}
    | {"Mode", "ApproximatePercentile", "HistogramNumeric", "HllSketchAgg", "TDigestAgg"}
)
"""Aggregates whose value may be another one where their rows come in another order."""
_BY_KEY = frozenset({"Rank", "DenseRank", "PercentRank", "CumeDist"})
"""Functions of a window that tell equal rows the same."""
_WHOLE = "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


def unsettled(operation: Operation, engine: Engine) -> str:
    """Say why Spark might have made other rows of the same ones; nothing where it could not.

    A limit is settled where an order stands below it in which the last row taken and the first one left differ, or
    where it leaves none; a window's order where no two rows of a partition are equal in it; an aggregate where it does
    not depend on the order of its rows. Sums of floating-point numbers count as settled: their last digits are not.

    Raises
    ------
    Refused
        What the operation reads can't be replayed.
    """
    doubts = sorted(engine.doubts.get(operation.index, ()))
    if doubts:
        return doubts[0]
    if operation.node in ("GlobalLimit", "Offset"):
        return _cut(operation, engine)
    if operation.node == "Window":
        return _windowed(operation, engine)
    for e in operation.expressions:
        taken = next(_by_place(e), "")
        if taken:
            return f"{taken} depends on the order in which Spark came to the rows"
    return ""


def _cut(operation: Operation, engine: Engine) -> str:
    n = int(detail(operation, "n", "-1"))
    child = engine.operation(operation.children[0])
    if n == 0 or engine.whole(child.index).limit(n + 1).count() <= n:
        return ""
    while child.node in ("Project", "SubqueryAlias", "ResolvedHint"):
        child = engine.operation(child.children[0])
    if child.node != "Sort" or detail(child, "global", "true") != "true":
        return "which rows Spark took, as no order stands right below it"
    keys = [engine.sql(child, e) for e in of_role(child, "order")]
    rows = engine.whole(child.children[0]).orderBy(*order(child, engine)).selectExpr(*_named(keys))
    if rows.offset(n - 1).limit(2).distinct().count() < 2:
        return "the last row that it took and the first one that it left are equal in its order"
    return ""


def _windowed(operation: Operation, engine: Engine) -> str:
    if all(_of_all(e) for e in of_role(operation, "output")):
        return ""
    keys = [engine.sql(operation, e) for role in ("partition", "order") for e in of_role(operation, role)]
    rows: Any = engine.whole(operation.children[0]).selectExpr(*_named(keys), "1 AS one")
    if rows.groupBy(*rows.columns[:-1]).count().where("count > 1").limit(1).count():
        return "rows of a partition are equal in its order, and which of them comes first decides"
    return ""


def _of_all(e: Expression) -> bool:
    """Whether a window's value is the same for each order of equal rows."""
    if any(t.node in _BY_KEY for t in e.terms):
        return True
    of_rows = not any(t.node == "AggregateExpression" for t in e.terms) or " ROWS BETWEEN " in e.sql
    return not (of_rows and _WHOLE not in e.sql) and not any(_by_place(e))


def _by_place(e: Expression) -> Iterator[str]:
    """Name the functions of an expression that depend on the order of rows; a list that is sorted does not."""
    above: list[tuple[int, tuple[str, ...]]] = []
    for term in e.terms:
        while above and not above[-1][0]:
            above.pop()
        path: tuple[str, ...] = ()
        if above:
            left, path = above.pop()
            above.append((left - 1, path))
        if term.node in _BY_PLACE and path[-2:] != ("SortArray", "AggregateExpression"):
            yield term.value or term.node
        above.append((term.children, (*path, term.node)))


def _named(keys: list[str]) -> list[str]:
    return [f"{key} AS k{i}" for i, key in enumerate(keys)]
