"""What random plans are made of: every operator takes and puts out the columns p (int), q (text) and r (long)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pyspark
from oracle.operators import distinct, sort, where
from oracle.relation import Relation

COLUMNS = ("p", "q", "r")
SCHEMA = "p INT, q STRING, r BIGINT"
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
    group: Literal["core", "shapes", "functions", "rows", "sql", "python"] = "shapes"
    """A plan draws a group first, then one of its operators: seeds mean other plans if a group changes."""
    spread: Literal["shuffled", "piped", "adding", "pairing", "dependent"] = "shuffled"
    """Its tasks: those of an exchange; those that its rows are in; of all inputs; each of one side with each of the
    other; the same, after each different row on the left was paired, shuffled, with the right."""


@dataclass(frozen=True, slots=True)
class Part:
    """One spelling of a condition, a projection or an aggregate: for Spark, and for the oracle."""

    sql: str
    meaning: Callable[..., Any]


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


def above_one(r: Relation) -> Relation:
    """Return the rows whose r is above one."""
    return where(r, lambda v: v.r is not None and v.r > 1)


def sql(text: str) -> Any:
    """Return what runs a query of ``{d}``."""
    return lambda df: df.sparkSession.sql(text, d=df)


def sql_of_two(text: str) -> Any:
    """Return what runs a query of ``{d}`` and ``{e}``."""
    return lambda df, other: df.sparkSession.sql(text, d=df, e=other)


def read_first(df: Any) -> Any:
    """Plain Spark 4.2.0 waits for ever where Arrow reads columns straight from a scan or a cache (SPARK-58241)."""
    return df.repartition(2) if pyspark.__version__.startswith("4.2.0") else df
