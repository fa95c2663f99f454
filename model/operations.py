"""What a step did to its rows and columns: the operations of the user's plan, as they were written.

Every class here is frozen and travels as JSON (`provspark.index_store.store.manifest` seals and reads it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Category = Literal[
    "source",
    "transformation",
    "vertical reduction",
    "vertical augmentation",
    "horizontal reduction",
    "horizontal augmentation",
    "join",
    "append",
    "aggregate",
]
"""What is stored: TensProv's categories; vertical is about columns, horizontal about rows. ``aggregate`` and ``source``
are ours."""

PlainCategory = Literal[
    "read",
    "changed column",
    "dropped column",
    "added column",
    "filter",
    "added rows",
    "join",
    "union",
    "aggregate",
    "imputation",
]
"""The same in answers, and ``imputation``, which is told by what an operation computes."""

PLAIN_CATEGORIES: Mapping[Category, PlainCategory] = {
    "source": "read",
    "transformation": "changed column",
    "vertical reduction": "dropped column",
    "vertical augmentation": "added column",
    "horizontal reduction": "filter",
    "horizontal augmentation": "added rows",
    "join": "join",
    "append": "union",
    "aggregate": "aggregate",
}

ExpressionRole = Literal["output", "condition", "group", "order", "partition", "generator", "branch"]
"""What an expression is for; ``branch`` computes a column of one child of an append."""

Dependence = Literal[
    "identity", "transformation", "aggregation", "join", "filter", "group by", "sort", "window", "conditional"
]
"""OpenLineage's transformation kinds: the first three say how a value goes into a value, the others how a value
decides about a value or about its row."""


USERS = "function of the user's"
"""How `Operation.opaque` begins where nothing but functions of the user's keeps it from being replayed."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column between two operations.

    `id` is unique in a write: two operations that name the same id speak of the same values, handed on unchanged.
    In SQL it is written ``name#id`` in backticks, so that equal names do not meet.
    """

    id: int
    name: str
    type: str
    """Spark's ``simpleString``."""

    @property
    def label(self) -> str:
        """The column's name in the SQL of expressions, without its backticks."""
        return f"{self.name}#{self.id}"


@dataclass(frozen=True, slots=True)
class Term:
    """A node of an expression: Spark's class, and what tells it apart (a literal's value, a function's name)."""

    node: str
    value: str = ""
    column: int = -1
    """The column's id where the node is a reference."""
    children: int = 0
    """How many; they follow it, each with its own."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression of an operation."""

    role: ExpressionRole
    sql: str
    """Spark SQL over columns written as `Column.label` in backticks; empty where Spark reads no such text back.

    It was read back, under `Operations.settings`, before it was stored, unless it calls a function of the user's, by
    its qualified name in backticks. A subquery reads ``(SELECT * FROM
    `subquery#K`)``, ``EXISTS (…)`` or ``x IN (…)``, where K is the index of its last operation: a view of that name
    makes it run, unless an operation of the subquery uses columns of the query around it (detail ``outer columns``).
    """
    terms: tuple[Term, ...]
    """The expression as a tree, in prefix order."""
    column: int = -1
    """The id of the column that it makes; -1 for a condition, key or order."""
    details: tuple[tuple[str, str], ...] = ()
    """Of an order its ``direction`` and place of ``nulls``; of a branch the number of the ``child``, or of the ``copy``
    where one row is copied (rollup, unpivot …); of each Python function, under ``function`` and its qualified name, the
    number by which Spark calls it, and its type as JSON. The function's code is not stored."""


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """That column `source` of what an operation reads goes into column `out` of what it makes, or decides about it.

    `out` is -1 where it decides about whole rows: a filter's, join's, group's or sort's columns.
    """

    out: int
    source: int
    kind: Dependence
    context: bool = False
    """Whether by rows that the row's existence is not owed to: a window's partition, a scalar subquery's rows."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operator of the plan; operations stand in order, each after those that it reads."""

    index: int
    node: str
    """Spark's class: ``Filter``, ``Project``, ``Join``, ``Aggregate`` …"""
    categories: tuple[Category, ...]
    text: str
    """For people: what it does, over column names as the user wrote them."""
    children: tuple[int, ...] = ()
    """Operations whose rows it reads."""
    subqueries: tuple[int, ...] = ()
    """Last operations of the scalar, EXISTS and IN subqueries in its expressions, in order of their expressions."""
    columns: tuple[Column, ...] = ()
    """What it hands on, in order."""
    expressions: tuple[Expression, ...] = ()
    links: tuple[ColumnLink, ...] = ()
    """Columns handed on unchanged under the same id need none."""
    details: tuple[tuple[str, str], ...] = ()
    """What else decides: a join's ``type``, a limit's ``n``, ``all`` of a set operator, whether a sort is ``global`` …

    ``sql_line`` is the line within SQL text; ``outer columns`` are ids of the query around a subquery;
    ``transformer``, ``uid`` and ``parameters`` (JSON) are those of the MLlib transformer that did it.
    """
    axes: tuple[int, ...] = ()
    """Of a source: the write's axes that number its rows."""
    contextual: bool = False
    """Whether a value that it makes of one row takes other rows into account (a window, an aggregate's mean …)."""
    site: str = ""
    """``file:line`` of the user's script."""
    name: str = ""
    """What the user named it with `provspark.operation`."""
    rows: int = -1
    """Rows that it handed on; -1 where that was not counted."""
    opaque: str = ""
    """Why it can't be replayed from its text (a function of the user's, a random value …); empty where it can."""


@dataclass(frozen=True, slots=True)
class Operations:
    """All operations of one write; the last one makes the rows that were written."""

    operations: tuple[Operation, ...] = field(default_factory=tuple)
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of the step's session under which the SQL of expressions means what it meant there."""
