"""What each operator means for rows and their witnesses, one short function each, by nested loops.

aggregate and distinct owe a row to the whole group; joins to the rows joined; a semi-join to the row and
every row that makes it true; an anti-join and EXCEPT to the left rows alone; INTERSECT to the equal rows of
both sides. Context: what a scalar subquery's value was computed from, a window's partition, the rows for which a
kept duplicate stands.
"""

from __future__ import annotations

from collections.abc import Callable

from families.aggregate.meaning import count, count_distinct, group, least, mean, most, total
from families.distinct.meaning import distinct, keep_first
from families.filter.meaning import where
from families.generate.meaning import explode
from families.join.meaning import How, exists, join, lateral, meets, using
from families.limit.meaning import limit
from families.project.meaning import rename, select
from families.set_operations.meaning import intersect, intersect_all, subtract, subtract_all
from families.sort.meaning import sort
from families.union.meaning import union
from families.window.meaning import window, windows
from oracle.relation import Relation, Row, context

__all__ = [
    "How",
    "count",
    "count_distinct",
    "distinct",
    "exists",
    "explode",
    "group",
    "intersect",
    "intersect_all",
    "join",
    "keep_first",
    "lateral",
    "least",
    "limit",
    "mean",
    "meets",
    "most",
    "rename",
    "scalar",
    "select",
    "sort",
    "subtract",
    "subtract_all",
    "total",
    "union",
    "using",
    "where",
    "window",
    "windows",
]


def scalar(r: Relation, name: str, subquery: Callable[[Row], Relation]) -> Relation:
    """Append the only value of the only row (None without a row) of a subquery of each row."""
    out = []
    for v, w in r.rows:
        rows = subquery(v).rows
        assert len(rows) < 2, "a scalar subquery has one row"
        value = rows[0][0][0] if rows else None
        out.append(((*v, value), w.union(*(context(y) for _, y in rows))))
    return Relation.of((*r.columns, name), out)
