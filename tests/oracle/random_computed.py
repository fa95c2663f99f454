"""Values of built-in functions in random plans, which plain Spark computes for the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oracle.functions import SCALARS, VARIABLES, by_spark, folded
from oracle.random_parts import COLUMNS, UnknownMeaningError
from oracle.relation import Relation
from pyspark.errors import PySparkException


def computed(text: str, r: Relation) -> list[tuple[Any, ...]]:
    """Return what plain Spark computes over a relation's rows."""
    try:
        return by_spark(text, [v for v, _ in r.rows])
    except PySparkException as e:
        raise UnknownMeaningError(str(e)) from e


def with_column(r: Relation, values: Sequence[tuple[Any, ...]]) -> Relation:
    """Put values, by the rows' places, in the place of r."""
    by_place = dict(values)
    return Relation.of(COLUMNS, [((v.p, v.q, by_place[i]), w) for i, (v, w) in enumerate(r.rows)])


def scalar_text(i: int) -> str:
    """Return the query of a scalar function's values, by the rows' places."""
    return f"SELECT nr, {folded(SCALARS[i], 'r')} FROM (SELECT *, {', '.join(VARIABLES)} FROM {{rows}})"
