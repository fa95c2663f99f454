"""Operators of random plans that compute any built-in function: of a row, a group, a window; and generators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oracle.functions import (
    AGGREGATES,
    GENERATORS,
    MERGED,
    ORDERED_AGGREGATES,
    SCALARS,
    TABLE_FUNCTIONS,
    VARIABLES,
    WINDOWS,
    by_spark,
    folded,
)
from oracle.operators import group, select, window
from oracle.random_parts import COLUMNS, KEYS, Operator, UnknownMeaningError, fixed, ordered, typed
from oracle.relation import Relation
from pyspark.errors import PySparkException

SIDES = ("LATERAL VIEW", "LATERAL VIEW OUTER")
JOINS = (", LATERAL", " LEFT JOIN LATERAL")


def _computed(text: str, r: Relation) -> list[tuple[Any, ...]]:
    """Return what plain Spark computes over a relation's rows."""
    try:
        return by_spark(text, [v for v, _ in r.rows])
    except PySparkException as e:
        raise UnknownMeaningError(str(e)) from e


def _with_column(r: Relation, values: Sequence[tuple[Any, ...]]) -> Relation:
    """Put values, by the rows' places, in the place of r."""
    by_place = dict(values)
    return Relation.of(COLUMNS, [((v.p, v.q, by_place[i]), w) for i, (v, w) in enumerate(r.rows)])


def _scalar_frame(i: int, df: Any) -> Any:
    return df.selectExpr("*", *VARIABLES).selectExpr("p", "q", f"{folded(SCALARS[i], 'r')} AS r")


def _scalar(i: int, r: Relation) -> Relation:
    return _with_column(r, _computed(_scalar_text(i), r))


def _filter_frame(i: int, df: Any) -> Any:
    return df.selectExpr("*", *VARIABLES).where(f"{folded(SCALARS[i], 'r')} > 1").select(*COLUMNS)


def _filter(i: int, r: Relation) -> Relation:
    kept = {place for place, value in _computed(_scalar_text(i), r) if value > 1}
    return Relation.of(COLUMNS, [row for place, row in enumerate(r.rows) if place in kept])


def _scalar_text(i: int) -> str:
    return f"SELECT nr, {folded(SCALARS[i], 'r')} FROM (SELECT *, {', '.join(VARIABLES)} FROM {{rows}})"


def _grouped_frame(keys: Sequence[str], made: str, df: Any) -> Any:
    from pyspark.sql import functions as sf

    grouped = df.groupBy(*keys).agg(sf.expr(made).alias("made"))
    return grouped.selectExpr(*typed(*(c if c in keys else "NULL" for c in ("p", "q")), "made"))


def _grouped(keys: Sequence[str], text: str, r: Relation) -> Relation:
    values = {row[:-1]: row[-1] for row in _computed(text, r)}
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


def _over(keys: int, i: int) -> str:
    function, frame = WINDOWS[i]
    by = f"PARTITION BY {', '.join(KEYS[keys])} " if KEYS[keys] else ""
    name, _, option = function.partition(") ")
    called = f"{name}) {option} OVER" if option else f"{function} OVER"
    return folded(f"{called} ({by}ORDER BY p, q, r {frame})")


def _window_frame(keys: int, i: int, df: Any) -> Any:
    return df.distinct().selectExpr("p", "q", f"{_over(keys, i)} AS r")


def _window(keys: int, i: int, r: Relation) -> Relation:
    rows = ordered(r)
    made = _with_column(rows, _computed(f"SELECT nr, {_over(keys, i)} FROM {{rows}}", rows))
    seen = window(rows, KEYS[keys], made=lambda v, others: None)
    return Relation.of(COLUMNS, [(v, w) for (v, _), (_, w) in zip(made.rows, seen.rows, strict=True)])


def _generator_frame(i: int, side: int, df: Any) -> Any:
    generator, columns, value = GENERATORS[i]
    text = f"SELECT p, q, {folded(value, 'r')} AS r FROM (SELECT * FROM {{d}}) {SIDES[side]} {generator} t AS {columns}"
    return df.sparkSession.sql(text, d=df)


def _generator(i: int, side: int, r: Relation) -> Relation:
    generator, columns, value = GENERATORS[i]
    return _made(r, f"SELECT nr, {folded(value, 'r')} FROM {{rows}} {SIDES[side]} {generator} t AS {columns}")


def _made(r: Relation, text: str) -> Relation:
    rows = [(r.rows[place], value) for place, value in _computed(text, r)]
    return Relation.of(COLUMNS, [((v.p, v.q, value), w) for (v, w), value in rows])


def _table_function(i: int, join: int, rows: str) -> str:
    function, columns, value = TABLE_FUNCTIONS[i]
    on = " ON true" if join else ""
    return f"{folded(value, 'r')} AS r FROM {rows}{JOINS[join]} {function} AS t({columns}){on}"


def _lateral_frame(i: int, join: int, df: Any) -> Any:
    return df.sparkSession.sql(f"SELECT p, q, {_table_function(i, join, '{d}')}", d=df)


def _lateral(i: int, join: int, r: Relation) -> Relation:
    return _made(r, f"SELECT nr, {_table_function(i, join, '{rows}')}")


FUNCTIONS: dict[str, Operator] = {
    "function": Operator((len(SCALARS),), 1, _scalar_frame, _scalar),
    "filter by function": Operator((len(SCALARS),), 1, _filter_frame, _filter),
    "aggregate": Operator((len(KEYS), len(AGGREGATES)), 1, _aggregate_frame, _aggregate),
    "aggregate in order": Operator((len(KEYS), len(ORDERED_AGGREGATES)), 1, _in_order_frame, _in_order),
    "merged": Operator((len(MERGED),), 1, _merged_frame, _merged),
    "window function": Operator((len(KEYS), len(WINDOWS)), 1, _window_frame, _window),
    "generator": Operator((len(GENERATORS), len(SIDES)), 1, _generator_frame, _generator),
    "table function": Operator((len(TABLE_FUNCTIONS), len(JOINS)), 1, _lateral_frame, _lateral),
}
