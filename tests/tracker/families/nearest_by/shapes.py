"""Operators of this family in random plans, on versions of Spark that have them."""

from __future__ import annotations

from typing import Any

from families.nearest_by.meaning import nearest_by
from oracle.functions import VERSION
from oracle.operators import group, select
from oracle.random_parts import Operator, typed
from oracle.relation import Relation
from oracle.values import plus, strict

NEAREST = (1, 2, 5)
difference = strict(lambda a, b: 2 * abs(a - b) + (b < a))
"""Tells any two numbers apart that are as far away."""


def _nearest_frame(nearest: int, similarity: int, outer: int, left: Any, right: Any) -> Any:
    from pyspark.sql import functions as sf

    right = right.groupBy("r").agg(sf.max("p").alias("p2")).selectExpr("r AS r2", "p2")
    ranking = "2 * abs(r - r2) + CAST(r2 < r AS INT)"
    how, direction = "LEFT OUTER" if outer else "INNER", "SIMILARITY" if similarity else "DISTANCE"
    text = f"SELECT * FROM {{d}} {how} JOIN {{e}} EXACT NEAREST {NEAREST[nearest]} BY {direction} {ranking}"
    return left.sparkSession.sql(text, d=left, e=right).selectExpr(*typed("p2", "q", "r + r2"))


def _nearest(nearest: int, similarity: int, outer: int, left: Relation, right: Relation) -> Relation:
    choice = group(right, ("r",), p2=lambda rows: max((v.p for v in rows if v.p is not None), default=None))
    choice = select(choice, r2=lambda v: v.r, p2=lambda v: v.p2)
    joined = nearest_by(
        left,
        choice,
        lambda v, x: difference(v.r, x.r2),
        NEAREST[nearest],
        outer=bool(outer),
        similarity=bool(similarity),
    )
    return select(joined, p=lambda v: v.p2, q=lambda v: v.q, r=lambda v: plus(v.r, v.r2))


SHAPES: dict[str, Operator] = (
    {"nearest": Operator((len(NEAREST), 2, 2), 2, _nearest_frame, _nearest, spread="pairing")}
    if VERSION >= (4, 2)
    else {}
)
