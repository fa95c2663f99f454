"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from oracle.relation import Relation


def explode(r: Relation, column: str, outer: bool = False, position: bool = False) -> Relation:
    """A row for each element of an array column, place and element appended; `outer` keeps the rest."""
    empty = (None, None) if position else (None,)
    out = []
    for v, w in r.rows:
        items = getattr(v, column) or []
        out += [((*v, *((i, x) if position else (x,))), w) for i, x in enumerate(items)]
        if outer and not items:
            out.append(((*v, *empty), w))
    return Relation.of((*r.columns, *(("pos", "col") if position else ("col",))), out)
