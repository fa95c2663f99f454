"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.random_parts import COLUMNS, SCHEMA, Operator, read_first, same
from oracle.relation import Relation


def _groups_frame(df: Any) -> Any:
    from provspark import rowwise

    @rowwise
    def counted(group: Any) -> Any:
        return group.assign(r=len(group))

    given = read_first(df).selectExpr("coalesce(p, 0) AS p", "q", "coalesce(r, 0) AS r")
    return given.groupBy("p").applyInPandas(counted, SCHEMA)


def _tables_frame(df: Any) -> Any:
    from provspark import rowwise

    @rowwise
    def passed(table: Any) -> Any:
        return table

    return read_first(df).groupBy("q").applyInArrow(passed, SCHEMA)


def _groups(r: Relation) -> Relation:
    """Each row comes from itself alone, as the function declares."""
    keys = [v.p or 0 for v, _ in r.rows]
    return Relation.of(COLUMNS, [((k, v.q, keys.count(k)), w) for k, (v, w) in zip(keys, r.rows, strict=True)])


SHAPES: dict[str, Operator] = {
    "groups in pandas": Operator((), 1, _groups_frame, _groups, group="python"),
    "groups in Arrow": Operator((), 1, _tables_frame, same, group="python"),
}
