"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.operators import distinct, exists, join, lateral, limit, meets, select, sort, where
from oracle.random_parts import Operator, Part, sql_of_two
from oracle.relation import Relation
from oracle.values import both, eq, lt, same

ONS = (
    Part("p = p2 AND r <=> r2", lambda a, b: both(eq(a.p, b.p2), same(a.r, b.r2))),
    Part("r = r2", lambda a, b: eq(a.r, b.r2)),
    Part("q = q2 AND r < r2", lambda a, b: both(eq(a.q, b.q2), lt(a.r, b.r2))),
    Part("p = p2", lambda a, b: eq(a.p, b.p2)),
    Part("p <=> p2", lambda a, b: same(a.p, b.p2)),
    Part("p = p2 AND q <=> q2", lambda a, b: both(eq(a.p, b.p2), same(a.q, b.q2))),
    Part("p < p2", lambda a, b: lt(a.p, b.p2)),
)
SEMI_ONS = 3
"""A semi-join puts out nothing of its right side: the first so many conditions use its r."""
HOWS = ("inner", "left", "right", "full", "semi", "anti", "cross")


def _join_frame(how: int, on: int, left: Any, right: Any) -> Any:
    from pyspark.sql import functions as sf

    right = right.selectExpr("p AS p2", "q AS q2", "r AS r2")
    if HOWS[how] == "cross":
        joined = left.crossJoin(right)
    elif HOWS[how] in ("semi", "anti"):
        return left.join(right, sf.expr(ONS[on % SEMI_ONS].sql), HOWS[how])
    else:
        joined = left.join(right, sf.expr(ONS[on].sql), HOWS[how])
    return joined.selectExpr("coalesce(p, p2) AS p", "q2 AS q", "coalesce(r, 0) + coalesce(r2, 0) AS r")


def _join(how: int, on: int, left: Relation, right: Relation) -> Relation:
    right = select(right, p2=lambda v: v.p, q2=lambda v: v.q, r2=lambda v: v.r)
    kind: Any = HOWS[how]
    if kind in ("semi", "anti"):
        return join(left, right, ONS[on % SEMI_ONS].meaning, kind)
    joined = join(left, right) if kind == "cross" else join(left, right, ONS[on].meaning, kind)
    return select(
        joined,
        p=lambda v: v.p2 if v.p is None else v.p,
        q=lambda v: v.q2,
        r=lambda v: (v.r or 0) + (v.r2 or 0),
    )


LIMITS = (None, 1, 2)


def _lateral_frame(at_most: int, inequality: int, outer: int, left: Any, right: Any) -> Any:
    from pyspark.sql import functions as sf

    left = left.selectExpr("p AS p1", "r AS r1")
    p, p2 = sf.col("p1").outer(), sf.col("p2")
    fits = right.distinct().selectExpr("p AS p2", "q AS q2", "r AS r2").where(p2 < p if inequality else p2 == p)
    if LIMITS[at_most] is not None:
        fits = fits.orderBy("p2", "q2", "r2").limit(LIMITS[at_most])
    joined = left.lateralJoin(fits, how="left" if outer else "inner")
    return joined.selectExpr("p1 AS p", "q2 AS q", "coalesce(r1, 0) + coalesce(r2, 0) AS r")


def _lateral(at_most: int, inequality: int, outer: int, left: Relation, right: Relation) -> Relation:
    right = select(distinct(right), p2=lambda v: v.p, q2=lambda v: v.q, r2=lambda v: v.r)

    def fits(v: Any) -> Relation:
        fitting = where(right, lambda x: lt(x.p2, v.p) if inequality else eq(x.p2, v.p))
        most = LIMITS[at_most]
        return fitting if most is None else limit(sort(fitting, "p2", "q2", "r2"), most)

    joined = lateral(left, right.columns, fits, outer=bool(outer))
    return select(joined, "p", q=lambda v: v.q2, r=lambda v: (v.r or 0) + (v.r2 or 0))


def _not_in(r: Relation, other: Relation) -> Relation:
    return where(r, lambda v: all(eq(v.p, x.p) is False for x, _ in _used(other).rows))


def _flag(r: Relation, other: Relation) -> Relation:
    made = exists(r, "x", _used(other), lambda a, b: lt(a.p, b.p))
    return select(made, "p", "q", r=lambda v: int(v.x) + (v.r or 0))


def _used(r: Relation) -> Relation:
    """Keep what the condition on r in each subquery keeps: without one, Spark would not compute r there."""
    return where(r, lambda v: v.r is None or v.r >= 0)


SHAPES: dict[str, Operator] = {
    "join": Operator((len(HOWS), len(ONS)), 2, _join_frame, _join, group="core", spread="pairing"),
    "lateral": Operator((len(LIMITS), 2, 2), 2, _lateral_frame, _lateral, spread="dependent"),
    "in": Operator(
        (),
        2,
        sql_of_two("SELECT * FROM {d} WHERE p IN (SELECT p FROM {e} WHERE coalesce(r, 0) >= 0)"),
        lambda a, b: meets(a, lambda v: where(_used(b), lambda x: eq(x.p, v.p))),
        group="sql",
    ),
    "not in": Operator(
        (),
        2,
        sql_of_two("SELECT * FROM {d} WHERE p NOT IN (SELECT p FROM {e} WHERE coalesce(r, 0) >= 0)"),
        _not_in,
        group="sql",
        spread="pairing",
    ),
    "exists": Operator(
        (),
        2,
        sql_of_two("SELECT * FROM {d} a WHERE EXISTS (SELECT 1 FROM {e} b WHERE coalesce(r, 0) >= 0 AND b.p < a.p)"),
        lambda a, b: meets(a, lambda v: where(_used(b), lambda x: lt(x.p, v.p))),
        group="sql",
        spread="pairing",
    ),
    "exists any": Operator(
        (),
        2,
        sql_of_two("SELECT * FROM {d} WHERE EXISTS (SELECT 1 FROM {e} WHERE p > 1 AND coalesce(r, 0) >= 0)"),
        lambda a, b: meets(a, lambda v: where(_used(b), lambda x: lt(1, x.p))),
        group="sql",
    ),
    "not exists": Operator(
        (),
        2,
        sql_of_two(
            "SELECT * FROM {d} a WHERE NOT EXISTS (SELECT 1 FROM {e} b WHERE coalesce(r, 0) >= 0 AND b.q = a.q)"
        ),
        lambda a, b: meets(a, lambda v: where(_used(b), lambda x: eq(x.q, v.q)), keep=False),
        group="sql",
        spread="pairing",
    ),
    "flag": Operator(
        (),
        2,
        sql_of_two(
            "SELECT p, q, CASE WHEN EXISTS (SELECT 1 FROM {e} b WHERE coalesce(r, 0) >= 0 AND a.p < b.p)"
            " THEN 1L ELSE 0L END + coalesce(r, 0) AS r FROM {d} a"
        ),
        _flag,
        group="sql",
        spread="pairing",
    ),
}
