"""The columns of a write, by a walk of its operations' links in plain Python sets: no matrices, no bits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from provspark.index_store.query.nodes import WriteNode

DIRECT = ("identity", "transformation", "aggregation")
Way = tuple[str, bool]
"""The dependence of a path, and whether a part of it is context."""
End = tuple[Any, Any, Way]
"""Axis and column, or "outer" and the id of a column of the query around."""


def joined(first: Way, then: Way) -> Way:
    """The way of two parts, the one nearer to the output first."""
    (a, aside), (b, beside) = first, then
    kind = a if a not in DIRECT else b if b not in DIRECT else max(a, b, key=DIRECT.index)
    return kind, aside or beside


def column_paths(node: WriteNode) -> set[tuple[str | None, int, str | None, Way]]:
    """Output column, axis, column of its version, way; None for the rows themselves."""
    operations = node.operations
    names = [{c.id: c.name for c in op.columns} for op in operations]

    @lru_cache(None)
    def behind(at: int, column: int | None) -> frozenset[End]:
        op = operations[at]
        if op.axes:
            return frozenset((a, None if column is None else names[at][column], ("identity", False)) for a in op.axes)
        found: set[End] = set()
        for link in op.links:
            if link.out == (-1 if column is None else column):
                way = link.kind, link.context
                below = [i for i in (*op.children, *op.subqueries) if link.source in names[i]]
                found |= {(a, n, joined(way, w)) for i in below for a, n, w in behind(i, link.source)}
                found |= set() if below else {("outer", link.source, way)}
        if column is None:
            for i in op.subqueries:
                aside = [k.context for k in op.links if k.source in names[i]]
                way = "identity", bool(aside) and all(aside)
                found |= {(a, n, joined(way, w)) for a, n, w in behind(i, None)}
        elif any(e.column == column and counts(e.terms) for e in op.expressions):
            found |= {(a, n, joined(("aggregation", False), w)) for i in op.children for a, n, w in behind(i, None)}
        for i in op.children:
            if column is None or column in names[i]:
                found |= behind(i, column)
        return frozenset(end for one in found for end in resolved(op, one))

    def counts(terms: Any) -> bool:
        return any(t.node == "Count" for t in terms) and all(t.column < 0 for t in terms)

    def resolved(op: Any, end: End) -> set[End]:
        axis, name, way = end
        around = [i for i in op.children if op.subqueries and axis == "outer" and name in names[i]]
        return {(a, n, joined(way, w)) for i in around for a, n, w in behind(i, name)} if around else {end}

    last = len(operations) - 1
    asked = {None: None, **{name: i for i, name in names[last].items()}}
    return {(name, *end) for name, i in asked.items() for end in behind(last, i)}  # type: ignore[misc]
