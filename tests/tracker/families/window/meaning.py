"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from oracle.relation import Relation, Row, Witness, context
from oracle.values import same


def window(r: Relation, by: Sequence[str], /, **functions: Callable[[Row, list[Row]], Any]) -> Relation:
    """Append functions of a row and all rows of its partition."""
    out = []
    for v, w in r.rows:
        mine = [(x, y) for x, y in r.rows if all(same(getattr(v, n), getattr(x, n)) for n in by)]
        values = (f(v, [x for x, _ in mine]) for f in functions.values())
        out.append(((*v, *values), w.union(*(context(y) for _, y in mine))))
    return Relation.of((*r.columns, *functions), out)


def windows(r: Relation, *parts: Relation) -> Relation:
    """Put side by side what windows over the same rows append: none of them sees another's context."""
    n = len(r.columns)
    out = []
    for lines in zip(r.rows, *(p.rows for p in parts), strict=True):
        values = (*lines[0][0], *(x for v, _ in lines[1:] for x in v[n:]))
        out.append((values, frozenset[Witness]().union(*(w for _, w in lines))))
    return Relation.of((*r.columns, *(c for p in parts for c in p.columns[n:])), out)
