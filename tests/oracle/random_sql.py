"""Operators of random plans that are written as SQL: subqueries, common table expressions, views, functions, pipes."""

from __future__ import annotations

from itertools import count
from typing import Any

from oracle.operators import distinct, exists, group, meets, scalar, select, union, where, window
from oracle.random_parts import Operator, fold
from oracle.relation import Relation
from oracle.values import eq, lt

_names = count()


def _sql(text: str) -> Any:
    return lambda df: df.sparkSession.sql(text, d=df)


def _pair(text: str) -> Any:
    return lambda df, other: df.sparkSession.sql(text, d=df, e=other)


CTE = """WITH c AS (SELECT p, q, r FROM {d} WHERE p > 0), f AS (SELECT * FROM c)
SELECT * FROM f UNION ALL SELECT p, q, r + 1 FROM c"""


def _cte(first: Relation, second: Relation) -> Relation:
    some, others = (where(r, lambda v: lt(0, v.p)) for r in (first, second))
    return union(some, select(others, "p", "q", r=lambda v: None if v.r is None else v.r + 1))


PIPE = "FROM {d} |> WHERE p > 0 |> EXTEND coalesce(r, 0) + 1 AS s |> DROP r |> SELECT p, q, s AS r"


def _pipe(r: Relation) -> Relation:
    return select(where(r, lambda v: lt(0, v.p)), "p", "q", r=lambda v: (v.r or 0) + 1)


PIPED_SUM = "FROM {d} |> AGGREGATE sum(r) AS s GROUP BY p |> SELECT p, CAST(NULL AS STRING) AS q, s AS r"


def _piped_sum(r: Relation) -> Relation:
    return select(group(r, ("p",), s=lambda rows: fold(sum, rows)), "p", q=lambda v: None, r=lambda v: v.s)


def _view_frame(df: Any) -> Any:
    name = f"random_view_{next(_names)}"
    df.createOrReplaceTempView(name)
    return df.sparkSession.sql(f"SELECT v.p, v.q, v.r FROM {name} v")


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


WINDOW = "SELECT p, q, sum(r) OVER w AS r FROM {d} WINDOW w AS (PARTITION BY p)"


def _window(r: Relation) -> Relation:
    return select(window(r, ("p",), made=lambda v, rows: fold(sum, rows)), "p", "q", r=lambda v: v.made)


def _not_in(r: Relation, other: Relation) -> Relation:
    return where(r, lambda v: all(eq(v.p, x.p) is False for x, _ in _used(other).rows))


def _flag(r: Relation, other: Relation) -> Relation:
    made = exists(r, "x", _used(other), lambda a, b: lt(a.p, b.p))
    return select(made, "p", "q", r=lambda v: int(v.x) + (v.r or 0))


def _above_least(r: Relation, other: Relation) -> Relation:
    least = group(other, (), m=lambda rows: fold(min, rows))
    return select(where(scalar(r, "m", lambda v: least), lambda v: lt(v.m, v.r)), "p", "q", "r")


def _sets(r: Relation) -> Relation:
    def of(by: tuple[str, ...], grouping: int) -> Relation:
        made = group(r, by, s=lambda rows: fold(lambda values: sum(values) + grouping, rows))
        return select(made, p=lambda v: getattr(v, "p", None), q=lambda v: getattr(v, "q", None), r=lambda v: v.s)

    return union(of(("p",), 0), of(("q",), 1))


def _used(r: Relation) -> Relation:
    """Keep what the condition on r in each subquery keeps: without one, Spark would not compute r there."""
    return where(r, lambda v: v.r is None or v.r >= 0)


SQL: dict[str, Operator] = {
    "select distinct": Operator((), 1, _sql("SELECT DISTINCT * FROM {d}"), distinct),
    "cte": Operator((), 1, _sql(CTE), _cte, reads=2),
    "pipe": Operator((), 1, _sql(PIPE), _pipe),
    "piped sum": Operator((), 1, _sql(PIPED_SUM), _piped_sum),
    "view": Operator((), 1, _view_frame, lambda r: r),
    "sql function": Operator((), 1, _function_frame, lambda r: select(r, "p", "q", r=lambda v: (v.r or 0) + 1)),
    "sql table function": Operator((), 1, _table_function_frame, _twice),
    "window clause": Operator((), 1, _sql(WINDOW), _window),
    "grouping sets": Operator(
        (), 1, _sql("SELECT p, q, sum(r) + grouping(p) AS r FROM {d} GROUP BY GROUPING SETS ((p), (q))"), _sets
    ),
    "in": Operator(
        (),
        2,
        _pair("SELECT * FROM {d} WHERE p IN (SELECT p FROM {e} WHERE coalesce(r, 0) >= 0)"),
        lambda a, b: meets(a, lambda v: where(_used(b), lambda x: eq(x.p, v.p))),
    ),
    "not in": Operator(
        (), 2, _pair("SELECT * FROM {d} WHERE p NOT IN (SELECT p FROM {e} WHERE coalesce(r, 0) >= 0)"), _not_in
    ),
    "exists": Operator(
        (),
        2,
        _pair("SELECT * FROM {d} a WHERE EXISTS (SELECT 1 FROM {e} b WHERE coalesce(r, 0) >= 0 AND b.p < a.p)"),
        lambda a, b: meets(a, lambda v: where(_used(b), lambda x: lt(x.p, v.p))),
    ),
    "exists any": Operator(
        (),
        2,
        _pair("SELECT * FROM {d} WHERE EXISTS (SELECT 1 FROM {e} WHERE p > 1 AND coalesce(r, 0) >= 0)"),
        lambda a, b: meets(a, lambda v: where(_used(b), lambda x: lt(1, x.p))),
    ),
    "not exists": Operator(
        (),
        2,
        _pair("SELECT * FROM {d} a WHERE NOT EXISTS (SELECT 1 FROM {e} b WHERE coalesce(r, 0) >= 0 AND b.q = a.q)"),
        lambda a, b: meets(a, lambda v: where(_used(b), lambda x: eq(x.q, v.q)), keep=False),
    ),
    "flag": Operator(
        (),
        2,
        _pair(
            "SELECT p, q, CASE WHEN EXISTS (SELECT 1 FROM {e} b WHERE coalesce(r, 0) >= 0 AND a.p < b.p)"
            " THEN 1L ELSE 0L END + coalesce(r, 0) AS r FROM {d} a"
        ),
        _flag,
    ),
    "above least": Operator((), 2, _pair("SELECT * FROM {d} WHERE r > (SELECT min(r) FROM {e})"), _above_least),
}
