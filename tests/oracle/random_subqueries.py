"""Operators of random plans with scalar subqueries, which are no nodes."""

from __future__ import annotations

from typing import Any

from oracle.operators import group, scalar, select, where
from oracle.random_parts import Operator, fold, sql_of_two
from oracle.relation import Relation
from oracle.values import eq, lt


def _scalar_frame(df: Any, sub: Any) -> Any:
    from pyspark.sql import functions as sf

    both_values = sf.coalesce(df.r, sf.lit(0)) + sf.coalesce(sub.agg(sf.max("r")).scalar(), sf.lit(0))
    return df.select("p", "q", both_values.alias("r"))


def _scalar(r: Relation, sub: Relation) -> Relation:
    top = group(sub, (), made=lambda rows: fold(max, rows))
    return select(scalar(r, "made", lambda v: top), "p", "q", r=lambda v: (v.r or 0) + (v.made or 0))


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


def _above_least(r: Relation, other: Relation) -> Relation:
    least = group(other, (), m=lambda rows: fold(min, rows))
    return select(where(scalar(r, "m", lambda v: least), lambda v: lt(v.m, v.r)), "p", "q", "r")


SUBQUERIES: dict[str, Operator] = {
    "scalar": Operator((), 2, _scalar_frame, _scalar, group="core", spread="piped"),
    "correlated": Operator((2,), 2, _correlated_frame, _correlated, spread="dependent"),
    "above least": Operator(
        (),
        2,
        sql_of_two("SELECT * FROM {d} WHERE r > (SELECT min(r) FROM {e})"),
        _above_least,
        group="sql",
        spread="piped",
    ),
}
