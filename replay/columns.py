"""Hidden columns of replay's DataFrames, which contain the source rows and the parent rows of each row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from provspark.model.operations import Column, Operation

WITNESS = "__witness"
"""The source rows that a row came from: an array of (source operation, row id)."""
PARENT = "__parent"
"""The kept rows of earlier operations that a row was made from: an array of (operation, number of the row)."""
FOCUS = "__focus"
"""Whether a row came from a selected row."""
NUMBER = "__number"
"""Number of a kept row in its DataFrame."""

WITNESSES = "array<struct<op:int,row:bigint>>"
PARENTS = "array<struct<op:int,row:int>>"
HIDDEN = {WITNESS: WITNESSES, PARENT: PARENTS, FOCUS: "boolean"}
NONE = {WITNESS: f"cast(array() as {WITNESSES})", PARENT: f"cast(array() as {PARENTS})", FOCUS: "false"}
"""SQL of the hidden columns of a row without origin."""

GATHERED = (
    f"array_distinct(flatten(collect_list({WITNESS}) FILTER (WHERE size({WITNESS}) > 0))) AS {WITNESS}",
    f"array_distinct(flatten(collect_list({PARENT}) FILTER (WHERE size({PARENT}) > 0))) AS {PARENT}",
    f"coalesce(bool_or({FOCUS}), false) AS {FOCUS}",
)
"""SQL that aggregates the hidden columns of the rows of a group."""

_PLAIN = re.compile(r"boolean|tinyint|smallint|int|bigint|float|double|string|date|decimal\(.*\)|void|(var)?char\(.*\)")


def plain(columns: Iterable[Column]) -> bool:
    """Whether the values of columns have types that survive a transfer by Python's pickle unchanged."""
    return all(_PLAIN.fullmatch(c.type) for c in columns)


def quoted(name: str) -> str:
    """Return a name quoted for SQL."""
    return "`" + name.replace("`", "``") + "`"


def distinct(columns: Iterable[Column]) -> list[Column]:
    """Return each column once: an operation may output a column twice, but its DataFrame has it once."""
    return list({c.id: c for c in columns}.values())


def labels(columns: Iterable[Column]) -> list[str]:
    """Return the quoted names of columns in replay's DataFrames, each once."""
    return [quoted(c.label) for c in distinct(columns)]


def told_names(columns: Iterable[Column], own: Mapping[int, str]) -> tuple[str, ...]:
    """Return the names of columns for display. `own` has the expressions of Spark's own columns, by id."""
    return tuple(own.get(c.id, c.name) for c in columns)


def placed(columns: Iterable[Column]) -> list[str]:
    """Return the quoted names of columns, including repeated ones."""
    return [quoted(c.label) for c in columns]


def named(sql: str, column: Column) -> str:
    """Return the SQL of an expression with the name of the column that it computes as its alias."""
    return f"{sql} AS {quoted(column.label)}"


def names_of(operation: Operation) -> dict[int, str]:
    """Return the names of an operation's columns by id: the user's name, or the label if several have this name."""
    every = distinct(operation.columns)
    many = Counter(c.name.lower() for c in every)
    return {c.id: c.name if many[c.name.lower()] == 1 else c.label for c in every}
