"""More operators of random plans: correlated subqueries, as-of joins, and what takes rows apart or counts them.

Which of several rows a limit or an as-of join takes has to be sure: they choose among rows that are all different.
"""

from __future__ import annotations

from typing import Any

from oracle.functions import VERSION
from oracle.operators import (
    count,
    distinct,
    group,
    intersect_all,
    lateral,
    limit,
    scalar,
    select,
    sort,
    subtract_all,
    union,
    where,
    window,
)
from oracle.random_parts import KEYS, Operator, fold, typed
from oracle.relation import Relation
from oracle.values import both, eq, lt, rank

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
        found = where(right, lambda x: lt(x.p2, v.p) if inequality else eq(x.p2, v.p))
        most = LIMITS[at_most]
        return found if most is None else limit(sort(found, "p2", "q2", "r2"), most)

    joined = lateral(left, right.columns, fits, outer=bool(outer))
    return select(joined, "p", q=lambda v: v.q2, r=lambda v: (v.r or 0) + (v.r2 or 0))


def _correlated_frame(inequality: int, df: Any, sub: Any) -> Any:
    from pyspark.sql import functions as sf

    p, p2 = sf.col("p1").outer(), sf.col("p2")
    fits = sub.selectExpr("p AS p2", "r AS r2").where(p2 < p if inequality else p2 == p)
    made = sf.coalesce(fits.select(sf.max("r2")).scalar(), sf.lit(0))
    outer = df.selectExpr("p AS p1", "q", "r AS r1")
    return outer.select(sf.col("p1").alias("p"), "q", (sf.coalesce("r1", sf.lit(0)) + made).alias("r"))


def _correlated(inequality: int, r: Relation, sub: Relation) -> Relation:
    def top(v: Any) -> Relation:
        fits = where(sub, lambda x: lt(x.p, v.p) if inequality else eq(x.p, v.p))
        return group(fits, (), made=lambda rows: fold(max, rows))

    return select(scalar(r, "made", top), "p", "q", r=lambda v: (v.r or 0) + (v.made or 0))


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


def _unpivot_frame(df: Any) -> Any:
    longs = df.selectExpr("q", "CAST(p AS bigint) AS p", "r")
    return longs.unpivot("q", ["p", "r"], "name", "value").selectExpr(*typed("length(name)", "q", "value"))


def _unpivot(r: Relation) -> Relation:
    parts = [select(r, "q", value=lambda v, c=c: getattr(v, c)) for c in ("p", "r")]
    return select(union(*parts), p=lambda v: 1, q=lambda v: v.q, r=lambda v: v.value)


def _pivot_frame(df: Any) -> Any:
    from pyspark.sql import functions as sf

    made = df.groupBy("p").pivot("q", ["a", "b"]).agg(sf.sum("r"))
    return made.selectExpr(*typed("p", "NULL", "coalesce(a, 0) + 2 * coalesce(b, 0)"))


def _pivot(r: Relation) -> Relation:
    def of(rows: list[Any], value: str) -> int:
        return fold(sum, [v for v in rows if v.q == value]) or 0

    made = group(r, ("p",), made=lambda rows: of(rows, "a") + 2 * of(rows, "b"))
    return select(made, "p", q=lambda v: None, r=lambda v: v.made)


def _sets_frame(cube: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    grouped = (df.cube if cube else df.rollup)("p", "q")
    return grouped.agg(sf.sum("r").alias("s"), sf.grouping_id().alias("g")).selectExpr(
        *typed("p", "q", "coalesce(s, 0) * 4 + g")
    )


def _sets(cube: int, r: Relation) -> Relation:
    def of(by: tuple[str, ...], number: int) -> Relation:
        made = group(r, by, made=lambda rows: (fold(sum, rows) or 0) * 4 + number)
        return select(made, p=lambda v: getattr(v, "p", None), q=lambda v: getattr(v, "q", None), r=lambda v: v.made)

    parts = [of(("p", "q"), 0), of(("p",), 1), *([of(("q",), 2)] if cube else ()), *([of((), 3)] if r.rows else ())]
    return union(*parts)


def _rank_frame(keys: int, df: Any) -> Any:
    by = f"PARTITION BY {', '.join(KEYS[keys])}" if KEYS[keys] else ""
    return df.selectExpr("p", "q", f"CAST(rank() OVER ({by} ORDER BY r) AS bigint) AS r")


def _rank(keys: int, r: Relation) -> Relation:
    made = window(r, KEYS[keys], made=lambda v, rows: 1 + sum(rank(x.r) < rank(v.r) for x in rows))
    return select(made, "p", "q", r=lambda v: v.made)


def _having(r: Relation) -> Relation:
    made = group(r, ("p",), s=lambda rows: fold(sum, rows), n=count())
    return select(where(made, lambda v: v.n > 1), "p", q=lambda v: None, r=lambda v: v.s)


def _having_frame(df: Any) -> Any:
    from pyspark.sql import functions as sf

    made = df.groupBy("p").agg(sf.sum("r").alias("s"), sf.count("*").alias("n"))
    return made.where("n > 1").selectExpr(*typed("p", "NULL", "s"))


def _cached(df: Any) -> Any:
    return df.cache()


SHAPES: dict[str, Operator] = {
    "lateral": Operator((len(LIMITS), 2, 2), 2, _lateral_frame, _lateral),
    "correlated": Operator((2,), 2, _correlated_frame, _correlated),
    "as of": Operator((2,), 2, _as_of_frame, _as_of),
    "unpivot": Operator((), 1, _unpivot_frame, _unpivot),
    "pivot": Operator((), 1, _pivot_frame, _pivot),
    "sets": Operator((2,), 1, _sets_frame, _sets),
    "rank": Operator((len(KEYS),), 1, _rank_frame, _rank),
    "having": Operator((), 1, _having_frame, _having),
    "intersect all": Operator((), 2, lambda a, b: a.intersectAll(b), intersect_all),
    "except all": Operator((), 2, lambda a, b: a.exceptAll(b), subtract_all),
    "cache": Operator((), 1, _cached, lambda r: r),
}
if VERSION >= (4, 3):
    SHAPES["zip"] = Operator((), 1, lambda df: df.select("p", "q").zip(df.select("r")), lambda r: r)
