"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.operators import select, union
from oracle.random_parts import Operator


def _by_name_frame(a: Any, b: Any) -> Any:
    from pyspark.sql import functions as sf

    return a.unionByName(b.select("r", "p"), allowMissingColumns=True).withColumn("q", sf.col("q"))


SHAPES: dict[str, Operator] = {
    "union": Operator((), 2, lambda a, b: a.union(b), union, group="core", spread="adding"),
    "union by name": Operator(
        (),
        2,
        _by_name_frame,
        lambda a, b: union(a, select(b, "p", q=lambda v: None, r=lambda v: v.r)),
        group="rows",
        spread="adding",
    ),
}
