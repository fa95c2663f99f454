"""Columns that an expression read for each row, if CASE, coalesce, FILTER or the like selects a source by value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from provspark.index_store.query.choices import is_pick, part, uses
from provspark.model.arrays import Bools
from provspark.model.operations import Expression, Operation
from provspark.replay.columns import NUMBER
from provspark.replay.contract import Frame, Refused, detail, of_role
from provspark.replay.rules import replay_rule
from provspark.replay.session import told_by_spark

if TYPE_CHECKING:
    from provspark.replay.engine import Engine

__all__ = ["ColumnRead", "choices", "copies", "element_of", "is_array"]


@dataclass(frozen=True, slots=True)
class ColumnRead:
    """A reference to a column in an expression.

    Parameters
    ----------
    source : int
        The column's id.
    condition : bool
        Whether the reference is in a condition.
    pick : bool
        Whether the value is taken from one of several rows, as with ``first``.
    holds : array of bool, optional
        For each row, by its number, whether the reference was evaluated; None if that is not known.
    """

    source: int
    condition: bool
    pick: bool
    holds: Bools | None


@dataclass(slots=True)
class _Leaf:
    source: int
    condition: bool
    pick: bool
    guard: Any
    """The condition of the reference as a Column; None if it is evaluated for every row."""
    known: bool


def choices(
    engine: Engine, operation: Operation, child: int, rows: int, column: int, element: int = -1
) -> list[ColumnRead]:
    """Return the references in the expression of a column, with the rows of the child for which each was evaluated.

    Parameters
    ----------
    rows : int
        Number of replayed rows of the child.
    element : int
        For an array column, the element whose expression to read; -1 for the whole expression.
    """
    expression = next(e for e in of_role(operation, "output") if e.column == column)
    frame = engine.kept_rows[child].frame
    try:
        tree = _resolved(engine, operation, frame, expression)
        leaves = list(
            _leaves(tree.children().apply(element) if element >= 0 else tree, replay_rule(operation.node).groups)
        )
        told = _told(frame, leaves, rows)
    except Refused:
        return [ColumnRead(c, condition, False, None) for c, condition, _ in uses(expression.terms)]
    except Exception as e:
        told_by_spark(e)
        return [ColumnRead(c, condition, False, None) for c, condition, _ in uses(expression.terms)]
    return [ColumnRead(x.source, x.condition, x.pick, holds) for x, holds in zip(leaves, told, strict=True)]


def copies(operation: Operation) -> Sequence[Mapping[int, list[tuple[int, bool, bool]]]]:
    """Return for each copy that an operation makes of a row the references of each column, as from `uses`."""
    by_copy: list[dict[int, list[tuple[int, bool, bool]]]] = [{} for _ in range(int(detail(operation, "copies", "0")))]
    for e in of_role(operation, "branch"):
        by_copy[int(dict(e.details).get("copy") or 0)][e.column] = list(uses(e.terms))
    return by_copy


def is_array(operation: Operation, column: int) -> bool:
    """Whether an aggregate computes a column as an array of values, as a pivot does."""
    made = (e for e in of_role(operation, "output") if e.column == column)
    return replay_rule(operation.node).groups and any(e.terms and e.terms[0].node == "CreateArray" for e in made)


def element_of(operation: Operation, column: int, array: int) -> int:
    """Return which element of an array column another column is; -1 if it is not a single element of it."""
    for e in of_role(operation, "output"):
        if e.column == column and [t.node for t in e.terms] == ["GetArrayItem", "AttributeReference", "Literal"]:
            of, place = e.terms[1:]
            return int(place.value) if of.column == array and place.value.isdigit() else -1
    return -1


def _resolved(engine: Engine, operation: Operation, frame: Frame, expression: Expression) -> Any:
    """Return Spark's analysed tree of an expression over a DataFrame."""
    from pyspark.sql import functions as sf

    made = sf.expr(engine.sql(operation, expression)).alias("made")
    return replay_rule(operation.node).analysed(operation, frame, made, engine)


def _told(frame: Frame, leaves: list[_Leaf], rows: int) -> list[Bools | None]:
    """Evaluate the conditions of all references in one query or, if it fails, one by one."""
    from pyspark.sql import functions as sf

    def asked(some: list[_Leaf]) -> list[Bools]:
        columns = [x.guard.alias(f"guard{i}") for i, x in enumerate(some)]
        truths = np.zeros((len(some), rows), dtype=np.bool_)
        for row in frame.select(sf.col(NUMBER), *columns).collect():
            truths[:, row[0]] = [bool(v) for v in row[1:]]
        return list(truths)

    everyone = np.ones(rows, dtype=np.bool_)
    guarded = [x for x in leaves if x.guard is not None and x.known]
    try:
        answers: list[Bools | None] = list(asked(guarded)) if guarded else []
    except Exception as e:
        told_by_spark(e)
        answers = [_alone(asked, x) for x in guarded]
    left = iter(answers)
    return [None if not x.known else everyone if x.guard is None else next(left) for x in leaves]


def _alone(asked: Callable[[list[_Leaf]], list[Bools]], leaf: _Leaf) -> Bools | None:
    try:
        return asked([leaf])[0]
    except Exception as e:
        told_by_spark(e)
        return None


def _leaves(tree: Any, grouped: bool) -> Iterator[_Leaf]:
    """Yield the references in an expression. Choices above an aggregate function depend on the group, not on rows."""
    stack = [(tree, _Leaf(-1, False, False, None, True), not grouped)]
    while stack:
        e, at, of_row = stack.pop()
        name = e.getClass().getSimpleName()
        if name == "AttributeReference":
            at.source = int(e.name().rpartition("#")[2])
            yield at
            continue
        of_row = of_row or name == "AggregateExpression"
        children = [e.children().apply(i) for i in range(e.children().size())]
        for number, child in enumerate(children):
            condition, always = part(name, len(children), number)
            pick = is_pick(name, number)
            guard, known = at.guard, at.known
            if not always and not pick:
                local = _guard(name, children, number) if of_row else None
                known = known and local is not None
                guard = _both(guard, local) if local is not None else guard
            below = _Leaf(-1, at.condition or condition, at.pick or pick, guard, known)
            stack.append((child, below, of_row))


def _guard(name: str, children: list[Any], number: int) -> Any:
    """Return the condition under which a child of an expression is evaluated; None if it is not known."""
    from pyspark.sql import functions as sf

    if name == "CaseWhen":
        taken = number % 2 == 1 and number < len(children)
        before = [children[i] for i in range(0, number - (1 if taken else 0), 2)]
        here = _column(children[number - 1]) if taken else sf.lit(True)
        for condition in reversed(before):
            here = sf.when(_column(condition), sf.lit(False)).otherwise(here)
        return here
    if name == "If":
        first = sf.coalesce(_column(children[0]), sf.lit(False))
        return first if number == 1 else ~first
    if name == "Coalesce":
        here = sf.lit(True)
        for other in reversed(children[:number]):
            here = sf.when(_column(other).isNotNull(), sf.lit(False)).otherwise(here)
        return here
    if name == "NaNvl":
        return sf.coalesce(sf.isnan(_column(children[0])), sf.lit(False))
    if name == "AggregateExpression":
        return sf.coalesce(_column(children[-1]), sf.lit(False))
    return None


def _both(outer: Any, inner: Any) -> Any:
    """Combine two conditions. The inner one is evaluated only if the outer one is true, as in the expression itself."""
    from pyspark.sql import functions as sf

    return inner if outer is None else sf.when(outer, inner).otherwise(sf.lit(False))


def _column(expression: Any) -> Any:
    from pyspark import SparkContext
    from pyspark.sql.classic.column import Column

    jvm: Any = SparkContext._active_spark_context._jvm
    return Column(getattr(jvm, "org.apache.spark.sql.classic.ExpressionUtils").column(expression))
