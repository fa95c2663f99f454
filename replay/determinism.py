"""Whether an operation's text and its input determine its output. If not, a replay may compute other rows."""

from __future__ import annotations

from collections.abc import Iterator

from provspark.model.operations import Expression, Operation
from provspark.replay.engine import Engine
from provspark.replay.rules import replay_rule

__all__ = ["by_place", "named_keys", "unsettled"]

_BY_PLACE = frozenset(
    {"First", "Last", "NthValue", "AnyValue", "CollectList", "CollectSet", "ListAgg", "MaxBy", "MinBy", "MaxMinByK"}
    | {"Mode", "ApproximatePercentile", "HistogramNumeric", "HllSketchAgg", "TDigestAgg"}
)
"""Aggregate functions whose value may depend on the order of their rows."""


def unsettled(operation: Operation, engine: Engine) -> str:
    """Return why Spark might have computed other rows from the same input; "" if it could not.

    A limit is determined if it drops no row, or if it follows a sort by which the last row that it keeps and the first
    one that it drops differ. A window's order is determined if no two rows of a partition are equal in it. An aggregate
    is determined if it does not depend on the order of its rows. Sums of floating-point numbers count as determined,
    although their last digits may differ.

    Raises
    ------
    Refused
        The operation's input can't be replayed.
    """
    doubts = sorted(engine.doubts.get(operation.index, ()))
    if doubts:
        return doubts[0]
    told = replay_rule(operation.node).unsettled(operation, engine)
    if told is not None:
        return told
    for e in operation.expressions:
        taken = next(by_place(e), "")
        if taken:
            return f"{taken} depends on the order in which Spark came to the rows"
    return ""


def by_place(e: Expression) -> Iterator[str]:
    """Yield the functions of an expression that depend on the order of rows, except those whose list is sorted."""
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


def named_keys(keys: list[str]) -> list[str]:
    """Return the SQL of keys with their positions as aliases: ``k0``, ``k1`` …"""
    return [f"{key} AS k{i}" for i, key in enumerate(keys)]
