"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from families.aggregate.meaning import group
from families.project.meaning import rename
from oracle.relation import Relation, Row, Tagged, context
from oracle.values import key, plain


def keep_first(r: Relation, by: Sequence[str]) -> Relation:
    """Of each group the row that comes first; the others are its context."""
    groups: dict[Any, list[Tagged]] = {}
    for v, w in r.rows:
        groups.setdefault(tuple(key(getattr(v, n)) for n in by), []).append((v, w))
    out = [(_keyed(rows[0][0], by), rows[0][1].union(*(context(w) for _, w in rows[1:]))) for rows in groups.values()]
    return Relation.of(r.columns, out)


def _keyed(row: Row, by: Sequence[str]) -> Row:
    return row._replace(**{n: plain(getattr(row, n)) for n in by})


def distinct(r: Relation) -> Relation:
    """One row of each set of equal ones, owed to all of them."""
    places = [f"c{i}" for i in range(len(r.columns))]
    return rename(group(rename(r, *places), places), *r.columns)
