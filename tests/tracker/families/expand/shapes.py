"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

from oracle.operators import group, select, union, where
from oracle.random_parts import Operator, fold, sql, typed
from oracle.relation import Relation


def _unpivot_frame(df: Any) -> Any:
    longs = df.selectExpr("q", "CAST(p AS bigint) AS p", "r")
    return longs.unpivot("q", ["p", "r"], "name", "value").selectExpr(*typed("length(name)", "q", "value"))


def _unpivot(r: Relation) -> Relation:
    parts = [select(r, "q", value=lambda v, c=c: getattr(v, c)) for c in ("p", "r")]
    return select(union(*parts), p=lambda v: 1, q=lambda v: v.q, r=lambda v: v.value)


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


SPANS = ("4 seconds", "4 seconds', '2 seconds")


def _time_frame(sliding: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    timed = df.selectExpr("*", "timestamp_seconds(pmod(r, 20)) AS t")
    made = timed.groupBy(sf.expr(f"window(t, '{SPANS[sliding]}')").alias("w")).agg(sf.max("p").alias("m"))
    return made.selectExpr(*typed("m", "NULL", "unix_seconds(w.start)"))


def _time(sliding: int, r: Relation) -> Relation:
    timed = where(r, lambda v: v.r is not None)

    def starting(back: int) -> Relation:
        step = 2 if sliding else 4
        return select(timed, "p", start=lambda v: v.r % 20 // step * step - back)

    every = union(starting(0), starting(2)) if sliding else starting(0)
    made = group(every, ("start",), m=lambda rows: max((v.p for v in rows if v.p is not None), default=None))
    return select(made, p=lambda v: v.m, q=lambda v: None, r=lambda v: v.start)


def _grouping_sets(r: Relation) -> Relation:
    def of(by: tuple[str, ...], grouping: int) -> Relation:
        made = group(r, by, s=lambda rows: fold(lambda values: sum(values) + grouping, rows))
        return select(made, p=lambda v: getattr(v, "p", None), q=lambda v: getattr(v, "q", None), r=lambda v: v.s)

    return union(of(("p",), 0), of(("q",), 1))


SHAPES: dict[str, Operator] = {
    "unpivot": Operator((), 1, _unpivot_frame, _unpivot, spread="piped"),
    "sets": Operator((2,), 1, _sets_frame, _sets),
    "time window": Operator((len(SPANS),), 1, _time_frame, _time, group="rows"),
    "grouping sets": Operator(
        (),
        1,
        sql("SELECT p, q, sum(r) + grouping(p) AS r FROM {d} GROUP BY GROUPING SETS ((p), (q))"),
        _grouping_sets,
        group="sql",
    ),
}
