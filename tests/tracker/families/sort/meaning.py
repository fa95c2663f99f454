"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from oracle.relation import Relation
from oracle.values import rank


def sort(r: Relation, *by: str) -> Relation:
    """Order by columns; a name with ``-`` before it is descending (nulls last, as Spark's is)."""
    rows = list(r.rows)
    for name in reversed(by):
        bare = name.lstrip("-")
        rows.sort(key=lambda t, n=bare: rank(getattr(t[0], n)), reverse=name != bare)  # type: ignore[misc]
    return Relation(r.columns, tuple(rows))
