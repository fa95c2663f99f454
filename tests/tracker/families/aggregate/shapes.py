"""Operators of this family in random plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from oracle.functions import AGGREGATES, MERGED, ORDERED_AGGREGATES, folded
from oracle.operators import count, group, select, where
from oracle.random_computed import computed
from oracle.random_parts import KEYS, Operator, Part, fixed, fold, ordered, read_first, typed
from oracle.relation import Relation

FOLDS = (
    Part("sum(r)", lambda rows: fold(sum, rows)),
    Part("count(nullif(r, 0))", lambda rows: sum(v.r not in (None, 0) for v in rows)),
    Part("max(r)", lambda rows: fold(max, rows)),
    Part("count(DISTINCT r)", lambda rows: len({v.r for v in rows} - {None})),
    Part("min(r) FILTER (WHERE p > 0)", lambda rows: fold(min, [v for v in rows if v.p is not None and v.p > 0])),
)


def _group_frame(keys: int, aggregate: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    made = df.groupBy(*KEYS[keys]).agg(sf.expr(FOLDS[aggregate].sql).alias("made"))
    return made.selectExpr(*typed(*(c if c in KEYS[keys] else "NULL" for c in ("p", "q")), "made"))


def _group(keys: int, aggregate: int, r: Relation) -> Relation:
    made = group(r, KEYS[keys], made=FOLDS[aggregate].meaning)
    return select(made, p=lambda v: getattr(v, "p", None), q=lambda v: getattr(v, "q", None), r=lambda v: v.made)


def _pivot_frame(df: Any) -> Any:
    from pyspark.sql import functions as sf

    made = df.groupBy("p").pivot("q", ["a", "b"]).agg(sf.sum("r"))
    return made.selectExpr(*typed("p", "NULL", "coalesce(a, 0) + 2 * coalesce(b, 0)"))


def _pivot(r: Relation) -> Relation:
    def of(rows: list[Any], value: str) -> int:
        return fold(sum, [v for v in rows if v.q == value]) or 0

    made = group(r, ("p",), made=lambda rows: of(rows, "a") + 2 * of(rows, "b"))
    return select(made, "p", q=lambda v: None, r=lambda v: v.made)


def _having(r: Relation) -> Relation:
    made = group(r, ("p",), s=lambda rows: fold(sum, rows), n=count())
    return select(where(made, lambda v: v.n > 1), "p", q=lambda v: None, r=lambda v: v.s)


def _having_frame(df: Any) -> Any:
    from pyspark.sql import functions as sf

    made = df.groupBy("p").agg(sf.sum("r").alias("s"), sf.count("*").alias("n"))
    return made.where("n > 1").selectExpr(*typed("p", "NULL", "s"))


def _grouped_frame(keys: Sequence[str], made: str, df: Any) -> Any:
    from pyspark.sql import functions as sf

    grouped = df.groupBy(*keys).agg(sf.expr(made).alias("made"))
    return grouped.selectExpr(*typed(*(c if c in keys else "NULL" for c in ("p", "q")), "made"))


def _grouped(keys: Sequence[str], text: str, r: Relation) -> Relation:
    values = {row[:-1]: row[-1] for row in computed(text, r)}
    made = group(r, keys, made=lambda rows: values[tuple(getattr(rows[0], k) for k in keys)])
    return select(made, p=lambda v: getattr(v, "p", None), q=lambda v: getattr(v, "q", None), r=lambda v: v.made)


def _by(keys: Sequence[str]) -> str:
    return f"GROUP BY {', '.join(keys)}" if keys else ""


def _aggregate_text(keys: Sequence[str], function: str) -> str:
    return f"SELECT {''.join(f'{k}, ' for k in keys)}{folded(function, 'max(r)')} FROM {{rows}} {_by(keys)}"


def _aggregate_frame(keys: int, i: int, df: Any) -> Any:
    return _grouped_frame(KEYS[keys], folded(AGGREGATES[i], "max(r)"), df)


def _aggregate(keys: int, i: int, r: Relation) -> Relation:
    return _grouped(KEYS[keys], _aggregate_text(KEYS[keys], AGGREGATES[i]), r)


def _in_order_frame(keys: int, i: int, df: Any) -> Any:
    return _grouped_frame(KEYS[keys], folded(ORDERED_AGGREGATES[i], "max(r)"), fixed(df))


def _in_order(keys: int, i: int, r: Relation) -> Relation:
    return _grouped(KEYS[keys], _aggregate_text(KEYS[keys], ORDERED_AGGREGATES[i]), ordered(r))


def _merged_frame(i: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    inner, outer = MERGED[i]
    return _grouped_frame(
        ("p",), folded(outer, "max(m)"), df.groupBy("p", "q").agg(sf.expr(inner).alias("s"), sf.max("r").alias("m"))
    )


def _merged(i: int, r: Relation) -> Relation:
    inner, outer = MERGED[i]
    groups = f"SELECT p, q, {inner} AS s, max(r) AS m FROM {{rows}} GROUP BY p, q"
    return _grouped(("p",), f"SELECT p, {folded(outer, 'max(m)')} FROM ({groups}) GROUP BY p", r)


def _udaf_frame(df: Any) -> Any:
    from pyspark.sql import functions as sf

    def total(x: Any) -> int:
        return int(x.sum())

    total.__annotations__ = {"x": pd.Series, "return": int}
    called = sf.pandas_udf(total, "bigint")
    made = read_first(df).groupBy("p").agg(called(sf.coalesce("r", sf.lit(0))).alias("r"))
    return made.selectExpr("p", "CAST(NULL AS STRING) AS q", "r")


def _udaf(r: Relation) -> Relation:
    return select(group(r, ("p",), s=lambda rows: fold(sum, rows) or 0), "p", q=lambda v: None, r=lambda v: v.s)


SHAPES: dict[str, Operator] = {
    "group": Operator((len(KEYS), len(FOLDS)), 1, _group_frame, _group, group="core"),
    "pivot": Operator((), 1, _pivot_frame, _pivot),
    "having": Operator((), 1, _having_frame, _having),
    "aggregate": Operator((len(KEYS), len(AGGREGATES)), 1, _aggregate_frame, _aggregate, group="functions"),
    "aggregate in order": Operator(
        (len(KEYS), len(ORDERED_AGGREGATES)), 1, _in_order_frame, _in_order, group="functions"
    ),
    "merged": Operator((len(MERGED),), 1, _merged_frame, _merged, group="functions"),
    "udaf": Operator((), 1, _udaf_frame, _udaf, group="python"),
}
