"""What a step did to its rows and columns: the operations of the user's plan, as they were written.

Classes here are frozen and stored as JSON (`provspark.index_store.store.manifest` serializes and parses it).
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
"""Categories as stored: TensProv's, where vertical is about columns and horizontal about rows, and two more,
``aggregate`` and ``source``."""

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
"""The same in answers, and ``imputation``, which depends on what an operation computes."""

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
"""Purpose of an expression; ``branch`` computes a column of one child of an append."""

Dependence = Literal[
    "identity", "transformation", "aggregation", "join", "filter", "group by", "sort", "window", "conditional"
]
"""OpenLineage's transformation kinds: the first three are of a value that goes into a value, the others of a value
that decides about a value or about its row."""


USERS = "function of the user's"
"""Start of `Operation.opaque` if only the user's functions keep an operation from being replayed."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column between two operations.

    `id` is unique in a write: two operations that name the same id refer to the same values, passed on unchanged.
    In SQL it is written ``name#id`` in backticks, so that equal names do not clash.
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
    """A node of an expression: Spark's class, and what distinguishes it (a literal's value, a function's name)."""

    node: str
    value: str = ""
    column: int = -1
    """The column's id if the node is a reference."""
    children: int = 0
    """Number of children; they follow it, each with its own children."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression of an operation."""

    role: ExpressionRole
    sql: str
    """Spark SQL over columns written as `Column.label` in backticks; empty if Spark could not parse such text.

    Before it is stored it is parsed under `Operations.settings`, unless it calls a user's function, which is written
    as its qualified name in backticks. A subquery is written ``(SELECT * FROM
    `subquery#K`)``, ``EXISTS (…)`` or ``x IN (…)``, where K is the index of its last operation: a view of that name
    makes it run, unless an operation of the subquery uses columns of the outer query (detail ``outer columns``).
    """
    terms: tuple[Term, ...]
    """The expression as a tree, in prefix order."""
    column: int = -1
    """Id of the column that it computes; -1 for a condition, key or order."""
    details: tuple[tuple[str, str], ...] = ()
    """For an order, its ``direction`` and the place of ``nulls``; for a branch, the number of the ``child``, or of the
    ``copy`` if one row is copied (rollup, unpivot …); for each Python function, under ``function`` and its qualified
    name, the number by which Spark calls it, and its type as JSON. The function's code is not stored."""


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """A link: column `source` of an operation's input goes into column `out` of its output, or decides about it.

    `out` is -1 if it decides about whole rows: the columns of a filter, join, group or sort.
    """

    out: int
    source: int
    kind: Dependence
    context: bool = False
    """Whether through rows that the row would exist without: a window's partition, a scalar subquery's rows."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operator of the plan; operations are in order, each after those that it reads."""

    index: int
    node: str
    """Spark's class: ``Filter``, ``Project``, ``Join``, ``Aggregate`` …"""
    categories: tuple[Category, ...]
    text: str
    """What it does, in readable form, with column names as the user wrote them."""
    children: tuple[int, ...] = ()
    """Operations whose rows it reads."""
    subqueries: tuple[int, ...] = ()
    """Last operations of the scalar, EXISTS and IN subqueries in its expressions, in order of their expressions."""
    columns: tuple[Column, ...] = ()
    """Columns that it returns, in order."""
    expressions: tuple[Expression, ...] = ()
    links: tuple[ColumnLink, ...] = ()
    """Columns passed on unchanged under the same id have none."""
    details: tuple[tuple[str, str], ...] = ()
    """Further parameters: a join's ``type``, a limit's ``n``, ``all`` of a set operator, whether a sort is ``global`` …

    ``sql_line`` is the line within SQL text; ``outer columns`` are ids of columns of the outer query;
    ``transformer``, ``uid`` and ``parameters`` (JSON) are those of the MLlib transformer that added the operation.
    """
    axes: tuple[int, ...] = ()
    """For a source: the write's axes that number its rows."""
    contextual: bool = False
    """Whether a value that it computes for one row depends on other rows (a window, an aggregate's mean …)."""
    site: str = ""
    """``file:line`` of the user's script."""
    name: str = ""
    """Name that the user gave it with `provspark.operation`."""
    rows: int = -1
    """Number of rows that it returned; -1 if that was not counted."""
    opaque: str = ""
    """Why it can't be replayed from its text (a user's function, a random value …); empty if it can."""


@dataclass(frozen=True, slots=True)
class Operations:
    """All operations of one write; the last one makes the rows that were written."""

    operations: tuple[Operation, ...] = field(default_factory=tuple)
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of the step's session under which the SQL of expressions has its meaning."""
