"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.functions import SCALARS, VARIABLES, folded
from oracle.operators import where
from oracle.random_computed import computed, scalar_text
from oracle.random_parts import COLUMNS, Operator, Part, above_one, read_first
from oracle.relation import Relation
from oracle.values import both, eq, lt, negate, same

CONDITIONS = (
    Part("p > 1", lambda v: lt(1, v.p)),
    Part("q = 'a'", lambda v: eq(v.q, "a")),
    Part("NOT (q = 'a')", lambda v: negate(eq(v.q, "a"))),
    Part("r IS NULL", lambda v: v.r is None),
    Part("r IS NOT NULL AND p <= 2", lambda v: both(v.r is not None, negate(lt(2, v.p)))),
    Part("p <=> r", lambda v: same(v.p, v.r)),
    Part("false", lambda v: False),
)


def _where_frame(i: int, df: Any) -> Any:
    return df.where(CONDITIONS[i].sql)


def _by_function_frame(i: int, df: Any) -> Any:
    return df.selectExpr("*", *VARIABLES).where(f"{folded(SCALARS[i], 'r')} > 1").select(*COLUMNS)


def _by_function(i: int, r: Relation) -> Relation:
    kept = {place for place, value in computed(scalar_text(i), r) if value > 1}
    return Relation.of(COLUMNS, [row for place, row in enumerate(r.rows) if place in kept])


def _udf_filter_frame(df: Any) -> Any:
    from pyspark.sql import functions as sf

    large = sf.udf(lambda x: x is not None and x > 1, "boolean", useArrow=False)
    return read_first(df).where(large("r"))


SHAPES: dict[str, Operator] = {
    "where": Operator(
        (len(CONDITIONS),), 1, _where_frame, lambda i, r: where(r, CONDITIONS[i].meaning), group="core", spread="piped"
    ),
    "filter by function": Operator(
        (len(SCALARS),), 1, _by_function_frame, _by_function, group="functions", spread="piped"
    ),
    "udf filter": Operator((), 1, _udf_filter_frame, above_one, group="python"),
}
