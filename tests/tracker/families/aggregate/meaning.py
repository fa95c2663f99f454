"""What the operators of this family mean for rows and their witnesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from oracle.relation import Relation, Row, Tagged, Witness
from oracle.values import key, plain, rank


def group(r: Relation, by: Sequence[str], **aggregates: Callable[[list[Row]], Any]) -> Relation:
    """Group by columns (none: one row, even over no input); aggregates are functions of the group."""
    groups: dict[Any, list[Tagged]] = {} if by else {(): []}
    for v, w in r.rows:
        groups.setdefault(tuple(key(getattr(v, n)) for n in by), []).append((v, w))
    out = []
    for members in groups.values():
        rows = [v for v, _ in members]
        keys = [plain(getattr(rows[0], n)) for n in by]
        values = (*keys, *(f(rows) for f in aggregates.values()))
        out.append((values, frozenset[Witness]().union(*(w for _, w in members))))
    return Relation.of((*by, *aggregates), out)


def count(column: str | None = None) -> Callable[[list[Row]], int]:
    """COUNT(*), or of a column's non-null values."""
    return lambda rows: sum(column is None or getattr(v, column) is not None for v in rows)


def count_distinct(column: str) -> Callable[[list[Row]], int]:
    """COUNT(DISTINCT column)."""
    return lambda rows: len({key(getattr(v, column)) for v in rows} - {key(None)})


def total(column: str) -> Callable[[list[Row]], Any]:
    """SUM: None over no value."""
    return _over(column, sum)


def least(column: str) -> Callable[[list[Row]], Any]:
    """MIN."""
    return _over(column, lambda values: min(values, key=rank))


def most(column: str) -> Callable[[list[Row]], Any]:
    """MAX: NaN is the largest."""
    return _over(column, lambda values: max(values, key=rank))


def mean(column: str) -> Callable[[list[Row]], Any]:
    """AVG."""
    return _over(column, lambda values: sum(values) / len(values))


def _over(column: str, fold: Callable[[list[Any]], Any]) -> Callable[[list[Row]], Any]:
    def aggregate(rows: list[Row]) -> Any:
        values = [x for x in (getattr(v, column) for v in rows) if x is not None]
        return fold(values) if values else None

    return aggregate
