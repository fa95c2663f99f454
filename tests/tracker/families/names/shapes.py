"""Operators of this family in random plans."""

from __future__ import annotations

from itertools import count
from typing import Any

from oracle.operators import select, union, where
from oracle.random_parts import Operator, sql
from oracle.relation import Relation
from oracle.values import lt

_names = count()
CTE = """WITH c AS (SELECT p, q, r FROM {d} WHERE p > 0), f AS (SELECT * FROM c)
SELECT * FROM f UNION ALL SELECT p, q, r + 1 FROM c"""


def _cte(first: Relation, second: Relation) -> Relation:
    some, others = (where(r, lambda v: lt(0, v.p)) for r in (first, second))
    return union(some, select(others, "p", "q", r=lambda v: None if v.r is None else v.r + 1))


def _view_frame(df: Any) -> Any:
    name = f"random_view_{next(_names)}"
    df.createOrReplaceTempView(name)
    return df.sparkSession.sql(f"SELECT v.p, v.q, v.r FROM {name} v")


SHAPES: dict[str, Operator] = {
    "cte": Operator((), 1, sql(CTE), _cte, reads=2, group="sql", spread="adding"),
    "view": Operator((), 1, _view_frame, lambda r: r, group="sql", spread="piped"),
}
