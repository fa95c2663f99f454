"""Relations of tagged tuples: every row carries the set of source rows that it is owed to."""

from __future__ import annotations

from collections import Counter, namedtuple
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from oracle.values import canon

Witness = tuple[str, int, int] | tuple[str, int, int, Literal["context"]]
"""Name of the source, occurrence (which scan of the plan), row id; a fourth part where the edge is context."""
Tagged = tuple[tuple[Any, ...], frozenset[Witness]]
Row = Any
"""A row of a relation, whose columns are its attributes."""


@lru_cache
def record(columns: tuple[str, ...]) -> Any:
    """A tuple type with these columns as attributes; a repeated name's later column at place 2 is ``_2``."""
    return namedtuple("record", columns, rename=True)  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows in an order, which only `sort` and `limit` give a meaning to."""

    columns: tuple[str, ...]
    rows: tuple[Tagged, ...]

    @classmethod
    def of(cls, columns: Iterable[str], rows: Iterable[tuple[Iterable[Any], Iterable[Witness]]]) -> Relation:
        """Build with the rows' values as records."""
        columns = tuple(columns)
        make = record(columns)
        return cls(columns, tuple((make(*values), frozenset(witnesses)) for values, witnesses in rows))

    def values(self) -> Counter[Hashable]:
        """Multiset of the rows' values."""
        return Counter(canon(tuple(v)) for v, _ in self.rows)

    def bag(self) -> Counter[Hashable]:
        """Multiset of (values, witnesses): equal rows can come in any order, so this is what is compared."""
        return Counter((canon(tuple(v)), w) for v, w in self.rows)


def context(witnesses: Iterable[Witness]) -> frozenset[Witness]:
    """Return witnesses of what only a value was computed from."""
    return frozenset((w[0], w[1], w[2], "context") for w in witnesses)


def scan(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], occurrence: int) -> Relation:
    """Read a source: row i is witnessed by itself."""
    return Relation.of(columns, [(row, {(name, occurrence, i)}) for i, row in enumerate(rows)])
