"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.operators import select, where
from oracle.random_parts import SCHEMA, Operator, read_first, same
from oracle.relation import Relation


def _arrow_frame(df: Any) -> Any:
    from provspark import rowwise

    @rowwise
    def passed(batches: Any) -> Any:
        yield from batches

    return read_first(df).mapInArrow(passed, SCHEMA)


def _pandas_frame(df: Any) -> Any:
    from provspark import keeps_index

    @keeps_index
    def large(batches: Any) -> Any:
        for batch in batches:
            yield batch[batch.r > 1]

    return read_first(df).selectExpr("coalesce(p, 0) AS p", "q", "coalesce(r, 0) AS r").mapInPandas(large, SCHEMA)


def _pandas(r: Relation) -> Relation:
    return where(select(r, p=lambda v: v.p or 0, q=lambda v: v.q, r=lambda v: v.r or 0), lambda v: v.r > 1)


SHAPES: dict[str, Operator] = {
    "map in Arrow": Operator((), 1, _arrow_frame, same, group="python"),
    "map in pandas": Operator((), 1, _pandas_frame, _pandas, group="python"),
}
