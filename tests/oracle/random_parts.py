"""What random plans are made of: every operator takes and puts out the columns p (int), q (text) and r (long)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oracle.operators import distinct, sort
from oracle.relation import Relation

COLUMNS = ("p", "q", "r")
KEYS = (("p",), ("q",), ("p", "q"), ())


@dataclass(frozen=True, slots=True)
class Operator:
    """How many ways each of its parameters has, how many inputs it takes, and what it is."""

    choices: tuple[int, ...]
    inputs: int
    frame: Callable[..., Any]
    meaning: Callable[..., Relation]
    reads: int = 1
    """How often the plan reads its only input; `meaning` gets as many relations."""


class UnknownMeaningError(Exception):
    """The oracle can't say what a plan makes: Spark raises an error for some row, if it computes it."""


def fold(f: Callable[[list[int]], int], rows: list[Any]) -> Any:
    """A function of the values of r; None over none."""
    values = [v.r for v in rows if v.r is not None]
    return f(values) if values else None


def typed(*columns: str) -> list[str]:
    """Expressions in SQL as p, q and r of their types."""
    return [f"CAST({c} AS {t}) AS {n}" for c, n, t in zip(columns, COLUMNS, ("int", "string", "bigint"), strict=True)]


def fixed(df: Any) -> Any:
    """Rows that all differ, in one order and one partition: which of them come first is the same each time."""
    return df.distinct().repartition(1).sortWithinPartitions(*COLUMNS)


def ordered(r: Relation) -> Relation:
    """Return the rows of `fixed` in their order."""
    return sort(distinct(r), *COLUMNS)


def same(r: Relation) -> Relation:
    """Return the rows as they are."""
    return r
