"""Whether an operation's text and what it reads settle what it made: where they do not, running it again may differ."""

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
"""Aggregates whose value may be another one where their rows come in another order."""


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
    told = replay_rule(operation.node).unsettled(operation, engine)
    if told is not None:
        return told
    for e in operation.expressions:
        taken = next(by_place(e), "")
        if taken:
            return f"{taken} depends on the order in which Spark came to the rows"
    return ""


def by_place(e: Expression) -> Iterator[str]:
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


def named_keys(keys: list[str]) -> list[str]:
    """Name the texts of keys by their places."""
    return [f"{key} AS k{i}" for i, key in enumerate(keys)]
