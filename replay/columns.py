"""Columns that replay's frames have beside the plan's: where a row came from, in the source and one operation back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from provspark.model.operations import Column, Operation

WITNESS = "__witness"
"""The rows of sources that a row derives from: an array of (source operation, row id)."""
PARENT = "__parent"
"""The kept rows of the operations before that it was made from: an array of (operation, the row's number there)."""
FOCUS = "__focus"
"""Whether it derives from a row in question."""
NUMBER = "__number"
"""A kept row's number in its frame."""

WITNESSES = "array<struct<op:int,row:bigint>>"
PARENTS = "array<struct<op:int,row:int>>"
HIDDEN = {WITNESS: WITNESSES, PARENT: PARENTS, FOCUS: "boolean"}
NONE = {WITNESS: f"cast(array() as {WITNESSES})", PARENT: f"cast(array() as {PARENTS})", FOCUS: "false"}
"""SQL of no origin."""

GATHERED = (
    f"array_distinct(flatten(collect_list({WITNESS}) FILTER (WHERE size({WITNESS}) > 0))) AS {WITNESS}",
    f"array_distinct(flatten(collect_list({PARENT}) FILTER (WHERE size({PARENT}) > 0))) AS {PARENT}",
    f"coalesce(bool_or({FOCUS}), false) AS {FOCUS}",
)
"""SQL of the origins of a group's members together."""

_PLAIN = re.compile(r"boolean|tinyint|smallint|int|bigint|float|double|string|date|decimal\(.*\)|void|(var)?char\(.*\)")


def plain(columns: Iterable[Column]) -> bool:
    """Whether the values of columns are of types that Python's pickle brings over as they are."""
    return all(_PLAIN.fullmatch(c.type) for c in columns)


def quoted(name: str) -> str:
    """Write a name in SQL."""
    return "`" + name.replace("`", "``") + "`"


def distinct(columns: Iterable[Column]) -> list[Column]:
    """Return columns each once: an operation may hand one on twice, its frame has it once."""
    return list({c.id: c for c in columns}.values())


def labels(columns: Iterable[Column]) -> list[str]:
    """Write columns in SQL, as replay's frames name them, each once."""
    return [quoted(c.label) for c in distinct(columns)]


def told_names(columns: Iterable[Column], own: Mapping[int, str]) -> tuple[str, ...]:
    """Name columns for people; one of Spark's own by the expression that it stands for, as `own` has it by id."""
    return tuple(own.get(c.id, c.name) for c in columns)


def placed(columns: Iterable[Column]) -> list[str]:
    """Write columns in SQL, place by place."""
    return [quoted(c.label) for c in columns]


def named(sql: str, column: Column) -> str:
    """Write an expression with the name of the column that it makes."""
    return f"{sql} AS {quoted(column.label)}"


def names_of(operation: Operation) -> dict[int, str]:
    """Name an operation's columns: as the user did, with the column's number where two have one name."""
    every = distinct(operation.columns)
    many = Counter(c.name.lower() for c in every)
    return {c.id: c.name if many[c.name.lower()] == 1 else c.label for c in every}
