"""The first operators of random plans: filters, projections, joins, aggregates, set operators, windows, subqueries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oracle.operators import distinct, explode, group, intersect, join, scalar, select, subtract, union, where, window
from oracle.random_parts import COLUMNS, KEYS, Operator, fold, typed
from oracle.relation import Relation
from oracle.values import both, eq, lt, negate, same


@dataclass(frozen=True, slots=True)
class Part:
    """One spelling of a condition, a projection or an aggregate: for Spark, and for the oracle."""

    sql: str
    meaning: Callable[..., Any]


CONDITIONS = (
    Part("p > 1", lambda v: lt(1, v.p)),
    Part("q = 'a'", lambda v: eq(v.q, "a")),
    Part("NOT (q = 'a')", lambda v: negate(eq(v.q, "a"))),
    Part("r IS NULL", lambda v: v.r is None),
    Part("r IS NOT NULL AND p <= 2", lambda v: both(v.r is not None, negate(lt(2, v.p)))),
    Part("p <=> r", lambda v: same(v.p, v.r)),
    Part("false", lambda v: False),
)
PROJECTIONS = (
    (Part("p % 2", lambda v: None if v.p is None else v.p % 2), Part("q", lambda v: v.q), Part("r", lambda v: v.r)),
    (
        Part("p", lambda v: v.p),
        Part("coalesce(q, 'z')", lambda v: "z" if v.q is None else v.q),
        Part("p + r", lambda v: None if v.p is None or v.r is None else v.p + v.r),
    ),
    (
        Part("cast(r % 3 AS int)", lambda v: None if v.r is None else v.r % 3),
        Part("q", lambda v: v.q),
        Part("CASE WHEN r > 1 THEN 1 ELSE 2 END", lambda v: 1 if v.r is not None and v.r > 1 else 2),
    ),
)
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
AGGREGATES = (
    Part("sum(r)", lambda rows: fold(sum, rows)),
    Part("count(nullif(r, 0))", lambda rows: sum(v.r not in (None, 0) for v in rows)),
    Part("max(r)", lambda rows: fold(max, rows)),
    Part("count(DISTINCT r)", lambda rows: len({v.r for v in rows} - {None})),
    Part("min(r) FILTER (WHERE p > 0)", lambda rows: fold(min, [v for v in rows if v.p is not None and v.p > 0])),
)


def _where_frame(i: int, df: Any) -> Any:
    return df.where(CONDITIONS[i].sql)


def _project_frame(i: int, df: Any) -> Any:
    return df.selectExpr(*typed(*(p.sql for p in PROJECTIONS[i])))


def _project(i: int, r: Relation) -> Relation:
    return select(r, **dict(zip(COLUMNS, (p.meaning for p in PROJECTIONS[i]), strict=True)))


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


def _group_frame(keys: int, aggregate: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    made = df.groupBy(*KEYS[keys]).agg(sf.expr(AGGREGATES[aggregate].sql).alias("made"))
    return made.selectExpr(*typed(*(c if c in KEYS[keys] else "NULL" for c in ("p", "q")), "made"))


def _group(keys: int, aggregate: int, r: Relation) -> Relation:
    made = group(r, KEYS[keys], made=AGGREGATES[aggregate].meaning)
    return select(made, p=lambda v: getattr(v, "p", None), q=lambda v: getattr(v, "q", None), r=lambda v: v.made)


def _explode_frame(df: Any) -> Any:
    items = "explode(CASE WHEN p IS NOT NULL THEN array(r, CAST(p AS bigint)) ELSE array() END)"
    return df.selectExpr("p", "q", f"{items} AS r")


def _explode(r: Relation) -> Relation:
    lists = select(r, "p", "q", items=lambda v: [] if v.p is None else [v.r, v.p])
    return select(explode(lists, "items"), "p", "q", r=lambda v: v.col)


def _window_frame(keys: int, df: Any) -> Any:
    by = f"PARTITION BY {', '.join(KEYS[keys])}" if KEYS[keys] else ""
    return df.selectExpr("p", "q", f"sum(r) OVER ({by}) AS r")


def _window(keys: int, r: Relation) -> Relation:
    made = window(r, KEYS[keys], made=lambda v, rows: fold(sum, rows))
    return select(made, "p", "q", r=lambda v: v.made)


def _scalar_frame(df: Any, sub: Any) -> Any:
    from pyspark.sql import functions as sf

    both_values = sf.coalesce(df.r, sf.lit(0)) + sf.coalesce(sub.agg(sf.max("r")).scalar(), sf.lit(0))
    return df.select("p", "q", both_values.alias("r"))


def _scalar(r: Relation, sub: Relation) -> Relation:
    top = group(sub, (), made=lambda rows: fold(max, rows))
    return select(scalar(r, "made", lambda v: top), "p", "q", r=lambda v: (v.r or 0) + (v.made or 0))


CORE: dict[str, Operator] = {
    "where": Operator((len(CONDITIONS),), 1, _where_frame, lambda i, r: where(r, CONDITIONS[i].meaning)),
    "project": Operator((len(PROJECTIONS),), 1, _project_frame, _project),
    "join": Operator((len(HOWS), len(ONS)), 2, _join_frame, _join),
    "group": Operator((len(KEYS), len(AGGREGATES)), 1, _group_frame, _group),
    "distinct": Operator((), 1, lambda df: df.distinct(), distinct),
    "union": Operator((), 2, lambda a, b: a.union(b), union),
    "intersect": Operator((), 2, lambda a, b: a.intersect(b), intersect),
    "except": Operator((), 2, lambda a, b: a.subtract(b), subtract),
    "explode": Operator((), 1, _explode_frame, _explode),
    "window": Operator((len(KEYS),), 1, _window_frame, _window),
    "scalar": Operator((), 2, _scalar_frame, _scalar),
}
