"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.operators import group, lateral, limit, select, sort, where
from oracle.random_parts import Operator, typed
from oracle.relation import Relation
from oracle.values import both, lt


def _as_of_frame(outer: int, left: Any, right: Any) -> Any:
    from pyspark.sql import functions as sf

    right = right.groupBy("r").agg(sf.max("p").alias("p2")).selectExpr("r AS r2", "p2")
    joined = left._joinAsOf(right, left["r"], right["r2"], how="left" if outer else "inner")
    return joined.selectExpr(*typed("p2", "q", "r2"))


def _as_of(outer: int, left: Relation, right: Relation) -> Relation:
    choice = group(right, ("r",), p2=lambda rows: max((v.p for v in rows if v.p is not None), default=None))
    choice = select(choice, r2=lambda v: v.r, p2=lambda v: v.p2)

    def nearest(v: Any) -> Relation:
        before = where(choice, lambda x: both(x.r2 is not None and v.r is not None, not lt(v.r, x.r2)))
        return limit(sort(before, "-r2"), 1)

    return select(
        lateral(left, choice.columns, nearest, outer=bool(outer)), p=lambda v: v.p2, q=lambda v: v.q, r=lambda v: v.r2
    )


SHAPES: dict[str, Operator] = {
    "as of": Operator((2,), 2, _as_of_frame, _as_of, spread="dependent"),
}
