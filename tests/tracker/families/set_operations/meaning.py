"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from families.distinct.meaning import distinct
from families.join.meaning import join
from oracle.relation import Relation, Tagged, Witness
from oracle.values import key, plain


def intersect(left: Relation, right: Relation) -> Relation:
    """INTERSECT: the rows in both, once."""
    return distinct(join(left, right, lambda a, b: key(tuple(a)) == key(tuple(b)), "semi"))


def subtract(left: Relation, right: Relation) -> Relation:
    """EXCEPT: the left rows that the right has not, once."""
    return distinct(join(left, right, lambda a, b: key(tuple(a)) == key(tuple(b)), "anti"))


def intersect_all(left: Relation, right: Relation) -> Relation:
    """INTERSECT ALL: as many of each row as both have; owed to the equal rows of both sides."""
    return _counted(left, right, lambda a, b: min(len(a), len(b)), True)


def subtract_all(left: Relation, right: Relation) -> Relation:
    """EXCEPT ALL: as many of each row as the left has more; which of the equal left rows they are nobody can tell."""
    return _counted(left, right, lambda a, b: len(a) - len(b), False)


def _counted(
    left: Relation, right: Relation, times: Callable[[list[Tagged], list[Tagged]], int], both_sides: bool
) -> Relation:
    groups: dict[Any, tuple[list[Tagged], list[Tagged]]] = {}
    for side, r in enumerate((left, right)):
        for t in r.rows:
            groups.setdefault(key(tuple(t[0])), ([], []))[side].append(t)
    out = []
    for ours, theirs in groups.values():
        witnesses = frozenset[Witness]().union(*(w for _, w in (ours + theirs if both_sides else ours)))
        out += [(plain(tuple(ours[0][0])), witnesses)] * max(0, times(ours, theirs)) if ours else []
    return Relation.of(left.columns, out)
