"""Keys of the rows in question as literals: Catalyst takes them down to the files, through joins and projections."""

from __future__ import annotations

import re
from collections.abc import Sequence

from provspark.model.operations import Expression, Operation, Term
from provspark.replay.columns import quoted
from provspark.replay.contract import Frame, Kit

__all__ = ["equalities", "one_of"]

_EXACT = re.compile(r"tinyint|smallint|int|bigint|date|string|decimal\(.*\)")
"""Types whose values are the same after they were text."""
_MANY = 100


def one_of(some: Frame, keys: Sequence[tuple[str, str]], *, nulls: bool) -> str:
    """Write a condition that rows fulfil whose keys are those of some kept rows.

    Parameters
    ----------
    keys : sequence of (str, str)
        SQL of a key over the kept rows, and over those that the condition is for.
    nulls : bool
        Whether a null is equal to a null.

    Returns
    -------
    str
        SQL. It may hold for other rows, too: it does not say which keys belong together, and leaves out keys that
        are many or of types whose text is not their value.
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
    """Write a value in hexadecimal digits, which mean the same under all settings of the parser."""
    return f"cast(cast(X'{value.encode().hex()}' AS string) AS {kind})"


def equalities(operation: Operation, conditions: Sequence[Expression], kit: Kit) -> list[tuple[str, str]]:
    """Return the columns of a join's two sides that its conditions demand to be equal, left and right, in SQL."""
    sides = [{c.id: quoted(c.label) for c in kit.operation(child).columns} for child in operation.children]
    pairs = []
    for condition in conditions:
        for one, other in _equal(condition.terms):
            for a, b in ((one, other), (other, one)):
                if a in sides[0] and b in sides[1]:
                    pairs.append((sides[0][a], sides[1][b]))
    return pairs


def _equal(terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Return pairs of columns that have to be equal wherever the expression holds."""
    pairs = []
    stack = [True]
    for at, term in enumerate(terms):
        demanded = stack.pop()
        two = terms[at + 1 : at + 3]
        if demanded and term.node == "EqualTo" and [t.node for t in two] == ["AttributeReference"] * 2:
            pairs.append((two[0].column, two[1].column))
        stack += [demanded and term.node == "And"] * term.children
    return pairs
