"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from collections.abc import Callable

from oracle.relation import Relation, Row


def where(r: Relation, condition: Callable[[Row], bool | None]) -> Relation:
    """Keep the rows for which the condition is true, neither false nor unknown."""
    return Relation(r.columns, tuple((v, w) for v, w in r.rows if condition(v) is True))
