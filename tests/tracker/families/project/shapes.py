"""Operators of this family in random plans."""

from __future__ import annotations

from typing import Any

import pandas as pd
from oracle.functions import SCALARS, VARIABLES, VERSION, folded
from oracle.operators import select
from oracle.random_computed import computed, scalar_text, with_column
from oracle.random_parts import COLUMNS, Operator, Part, UnknownMeaningError, read_first, typed
from oracle.relation import Relation

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


def _project_frame(i: int, df: Any) -> Any:
    return df.selectExpr(*typed(*(p.sql for p in PROJECTIONS[i])))


def _project(i: int, r: Relation) -> Relation:
    return select(r, **dict(zip(COLUMNS, (p.meaning for p in PROJECTIONS[i]), strict=True)))


def _function_frame(i: int, df: Any) -> Any:
    return df.selectExpr("*", *VARIABLES).selectExpr("p", "q", f"{folded(SCALARS[i], 'r')} AS r")


def _function(i: int, r: Relation) -> Relation:
    return with_column(r, computed(scalar_text(i), r))


FAILS = ("r DIV p", "if(r = 2, CAST(raise_error('two') AS BIGINT), r)", "if(assert_true(p < 3) IS NULL, r, 0)")
"""Which rows of these fail plainly, fail captured as well: an error of the user's own."""


def _fails_frame(i: int, df: Any) -> Any:
    return df.selectExpr("p", "q", f"{FAILS[i]} AS r")


def _fails(i: int, r: Relation) -> Relation:
    if any((v.p == 0, v.r == 2, v.p is None or v.p >= 3)[i] for v, _ in r.rows):
        raise UnknownMeaningError
    return select(r, "p", "q", r=lambda v: (None if None in (v.r, v.p) else int(v.r / v.p)) if i == 0 else v.r)


KINDS = ("by row", "by Arrow", "by pandas")


def _python(kind: int) -> Any:
    from pyspark.sql import functions as sf

    def add(x: Any) -> Any:
        return None if x is None else x + 1

    def series(x: Any) -> Any:
        return x + 1

    if kind == 2:
        series.__annotations__ = {"x": pd.Series, "return": pd.Series}
        return sf.pandas_udf(series, "bigint")
    return sf.udf(add, "bigint", useArrow=kind == 1)


def _udf_frame(kind: int, df: Any) -> Any:
    from pyspark.sql import functions as sf

    value = sf.coalesce("r", sf.lit(0))
    return read_first(df).select("p", "q", _python(kind)(value).alias("r"))


def _udf(kind: int, r: Relation) -> Relation:
    return select(r, "p", "q", r=lambda v: (v.r or 0) + 1)


SHAPES: dict[str, Operator] = {
    "project": Operator((len(PROJECTIONS),), 1, _project_frame, _project, group="core", spread="piped"),
    "function": Operator((len(SCALARS),), 1, _function_frame, _function, group="functions", spread="piped"),
    "fails": Operator((len(FAILS),), 1, _fails_frame, _fails, group="rows"),
    "udf": Operator((len(KINDS),), 1, _udf_frame, _udf, group="python"),
}
if VERSION >= (4, 3):
    SHAPES["zip"] = Operator((), 1, lambda df: df.select("p", "q").zip(df.select("r")), lambda r: r)
