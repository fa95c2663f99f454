"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oracle.random_parts import UnknownMeaningError
from oracle.relation import Relation, Row
from oracle.values import rank


def nearest_by(
    left: Relation,
    right: Relation,
    ranking: Callable[[Row, Row], Any],
    rows: int,
    *,
    outer: bool = False,
    similarity: bool = False,
) -> Relation:
    """Join each row with so many right rows of the least ranking (`similarity`: of the greatest); None ranks nothing.

    Raises
    ------
    UnknownMeaningError
        If rows that differ rank the same, and some of them are among the nearest and some are not.
    """
    out = []
    for v, w in left.rows:
        ranked = [(rank(ranking(v, x)), x, y) for x, y in right.rows if ranking(v, x) is not None]
        ranked.sort(key=lambda each: each[0], reverse=similarity)
        if len(ranked) > rows and ranked[rows - 1][0] == ranked[rows][0]:
            raise UnknownMeaningError
        out += [((*v, *x), w | y) for _, x, y in ranked[:rows]]
        if outer and not ranked:
            out.append(((*v, *[None] * len(right.columns)), w))
    return Relation.of((*left.columns, *right.columns), out)
