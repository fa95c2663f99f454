"""Keys of the replayed rows as SQL literals, which Catalyst pushes down to the files, through joins and projections."""

from __future__ import annotations

import re
from collections.abc import Sequence

from provspark.model.operations import Expression, Operation, Term
from provspark.replay.columns import quoted
from provspark.replay.contract import Frame, Kit

__all__ = ["equalities", "one_of"]

_EXACT = re.compile(r"tinyint|smallint|int|bigint|date|string|decimal\(.*\)")
"""Types whose values survive a conversion to text and back."""
_MANY = 100


def one_of(some: Frame, keys: Sequence[tuple[str, str]], *, nulls: bool) -> str:
    """Return a condition that is true for all rows with the same keys as a kept row.

    Parameters
    ----------
    keys : sequence of (str, str)
        SQL of each key over the kept rows, and over the rows to filter.
    nulls : bool
        Whether null equals null.

    Returns
    -------
    str
        SQL. It may be true for other rows, too: it compares each key separately, and ignores keys with too many values
        or of types that are not exact as text.
    """
    types = [kind for _, kind in some.selectExpr(*(k for k, _ in keys)).dtypes] if keys else []
    exact = [(k, kind) for k, kind in zip(keys, types, strict=True) if _EXACT.fullmatch(kind)]
    if not exact:
        return "true"
    rows = some.selectExpr(*(f"cast({mine} AS string) AS k{i}" for i, ((mine, _), _) in enumerate(exact))).collect()
    conditions = []
    for i, ((_, theirs), kind) in enumerate(exact):
        values = {row[i] for row in rows}
        said = sorted(v for v in values if v is not None)
        if len(said) > _MANY or any("\ufffd" in v for v in said):
            continue
        parts = [f"({theirs}) IN ({', '.join(_literal(v, kind) for v in said)})"] if said else []
        if nulls and None in values:
            parts.append(f"({theirs}) IS NULL")
        conditions.append(f"({' OR '.join(parts) or 'false'})")
    return " AND ".join(conditions) or "true"


def _literal(value: str, kind: str) -> str:
    """Return a value as a hexadecimal literal, which all settings of the parser read the same way."""
    return f"cast(cast(X'{value.encode().hex()}' AS string) AS {kind})"


def equalities(operation: Operation, conditions: Sequence[Expression], kit: Kit) -> list[tuple[str, str]]:
    """Return the pairs of left and right columns, in SQL, that a join's conditions require to be equal."""
    sides = [{c.id: quoted(c.label) for c in kit.operation(child).columns} for child in operation.children]
    pairs = []
    for condition in conditions:
        for one, other in _equal(condition.terms):
            for a, b in ((one, other), (other, one)):
                if a in sides[0] and b in sides[1]:
                    pairs.append((sides[0][a], sides[1][b]))
    return pairs


def _equal(terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Return the pairs of columns that are equal whenever the expression is true."""
    pairs = []
    stack = [True]
    for at, term in enumerate(terms):
        demanded = stack.pop()
        two = terms[at + 1 : at + 3]
        if demanded and term.node == "EqualTo" and [t.node for t in two] == ["AttributeReference"] * 2:
            pairs.append((two[0].column, two[1].column))
        stack += [demanded and term.node == "And"] * term.children
    return pairs
