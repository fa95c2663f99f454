"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from oracle.relation import Relation


def limit(r: Relation, n: int, skip: int = 0) -> Relation:
    """The rows from `skip` on, `n` at most."""
    return Relation(r.columns, r.rows[skip : skip + n])
