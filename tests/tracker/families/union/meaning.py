"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from oracle.relation import Relation


def union(first: Relation, *others: Relation) -> Relation:
    """Rows of all, by position."""
    return Relation.of(first.columns, [t for r in (first, *others) for t in r.rows])
