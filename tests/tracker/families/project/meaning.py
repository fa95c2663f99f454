"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oracle.relation import Relation, Row


def select(r: Relation, /, *names: str, **computed: Callable[[Row], Any]) -> Relation:
    """Keep columns by name, then add computed ones."""
    return Relation.of(
        (*names, *computed),
        [((*(getattr(v, n) for n in names), *(f(v) for f in computed.values())), w) for v, w in r.rows],
    )


def rename(r: Relation, *names: str) -> Relation:
    """Give the columns other names."""
    return Relation.of(names, r.rows)
