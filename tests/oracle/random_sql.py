"""Operators of random plans that are written as SQL and are of no one family: functions, pipes."""

from __future__ import annotations

from typing import Any

from oracle.operators import group, select, union, where
from oracle.random_parts import Operator, fold, sql
from oracle.relation import Relation
from oracle.values import lt

PIPE = "FROM {d} |> WHERE p > 0 |> EXTEND coalesce(r, 0) + 1 AS s |> DROP r |> SELECT p, q, s AS r"


def _pipe(r: Relation) -> Relation:
    return select(where(r, lambda v: lt(0, v.p)), "p", "q", r=lambda v: (v.r or 0) + 1)


PIPED_SUM = "FROM {d} |> AGGREGATE sum(r) AS s GROUP BY p |> SELECT p, CAST(NULL AS STRING) AS q, s AS r"


def _piped_sum(r: Relation) -> Relation:
    return select(group(r, ("p",), s=lambda rows: fold(sum, rows)), "p", q=lambda v: None, r=lambda v: v.s)


def _function_frame(df: Any) -> Any:
    spark = df.sparkSession
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION random_one_more(x BIGINT) RETURNS BIGINT RETURN coalesce(x, 0) + 1")
    return spark.sql("SELECT p, q, random_one_more(r) AS r FROM {d}", d=df)


def _table_function_frame(df: Any) -> Any:
    spark = df.sparkSession
    spark.sql(
        "CREATE OR REPLACE TEMPORARY FUNCTION random_two_rows(x BIGINT) RETURNS TABLE (y BIGINT)"
        " RETURN SELECT x AS y UNION ALL SELECT x + 2 AS y"
    )
    return spark.sql("SELECT p, q, y AS r FROM {d}, LATERAL random_two_rows(r)", d=df)


def _twice(r: Relation) -> Relation:
    return union(r, select(r, "p", "q", r=lambda v: None if v.r is None else v.r + 2))


SQL: dict[str, Operator] = {
    "pipe": Operator((), 1, sql(PIPE), _pipe, group="sql", spread="piped"),
    "piped sum": Operator((), 1, sql(PIPED_SUM), _piped_sum, group="sql"),
    "sql function": Operator(
        (), 1, _function_frame, lambda r: select(r, "p", "q", r=lambda v: (v.r or 0) + 1), group="sql", spread="piped"
    ),
    "sql table function": Operator((), 1, _table_function_frame, _twice, group="sql", spread="adding"),
}
