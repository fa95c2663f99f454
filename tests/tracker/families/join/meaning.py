"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from oracle.relation import Relation, Row, Tagged, Witness
from oracle.values import eq

How = Literal["inner", "left", "right", "full", "cross", "semi", "anti"]


def join(
    left: Relation,
    right: Relation,
    on: Callable[[Row, Row], bool | None] = lambda a, b: True,
    how: How = "inner",
) -> Relation:
    """Join by a condition; the columns of both sides in a row, or the left's for semi and anti."""
    if how in ("semi", "anti"):
        return _filter_by(left, right, on, how == "semi")
    pairs: list[tuple[tuple[Any, ...], frozenset[Witness]]] = []
    met: set[int] = set()
    for v, w in left.rows:
        hits = [j for j, (x, _) in enumerate(right.rows) if on(v, x) is True]
        met.update(hits)
        pairs += [((*v, *right.rows[j][0]), w | right.rows[j][1]) for j in hits]
        if not hits and how in ("left", "full"):
            pairs.append(((*v, *[None] * len(right.columns)), w))
    if how in ("right", "full"):
        alone = [t for j, t in enumerate(right.rows) if j not in met]
        pairs += [((*[None] * len(left.columns), *x), y) for x, y in alone]
    return Relation.of((*left.columns, *right.columns), pairs)


def _filter_by(left: Relation, right: Relation, on: Callable[[Row, Row], bool | None], keep: bool) -> Relation:
    out: list[Tagged] = []
    for v, w in left.rows:
        hits = [y for x, y in right.rows if on(v, x) is True]
        if bool(hits) is keep:
            out.append((v, w.union(*hits)))
    return Relation(left.columns, tuple(out))


def lateral(r: Relation, columns: Sequence[str], subquery: Callable[[Row], Relation], outer: bool = False) -> Relation:
    """Join each row with the rows of a subquery of it; `outer` keeps the rows that have none."""
    out = []
    for v, w in r.rows:
        rows = subquery(v).rows
        out += [((*v, *x), w | y) for x, y in rows]
        if outer and not rows:
            out.append(((*v, *[None] * len(columns)), w))
    return Relation.of((*r.columns, *columns), out)


def meets(r: Relation, subquery: Callable[[Row], Relation], keep: bool = True) -> Relation:
    """Keep the rows for which a subquery of each has rows, owed to these too; or those for which it has none."""
    joined = [(v, w, [y for _, y in subquery(v).rows]) for v, w in r.rows]
    return Relation(r.columns, tuple((v, w.union(*hits)) for v, w, hits in joined if bool(hits) is keep))


def exists(r: Relation, name: str, other: Relation, on: Callable[[Row, Row], bool | None]) -> Relation:
    """Append whether the other side has a row for which the condition is true."""
    out = []
    for v, w in r.rows:
        hits = [y for x, y in other.rows if on(v, x) is True]
        out.append(((*v, bool(hits)), w.union(*hits)))
    return Relation.of((*r.columns, name), out)


def using(*names: str) -> Callable[[Row, Row], bool | None]:
    """Equality on columns of the same names, for `join`."""
    return lambda a, b: all(eq(getattr(a, n), getattr(b, n)) is True for n in names)
