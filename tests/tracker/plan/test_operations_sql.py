"""The SQL of expressions: Spark reads it back as what it was written for, and it computes the same values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from _operations import operations
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark

ROWS = """
    SELECT * FROM VALUES
      (1, 2L, 1.5D, 2.25BD, 'a''b\\\\c', true, DATE'2020-02-29', TIMESTAMP'2021-03-04 05:06:07.089',
       array(3, 1, NULL), map('k', 1), named_struct('u', 1, 'v v', 'x'), X'0aff', '{"p": 1, "q": [2]}'),
      (NULL, 4L, NULL, 3.00BD, 'Zoë %_', false, NULL, TIMESTAMP'1969-12-31 23:59:59', array(), map(), NULL, NULL, NULL),
      (-7, NULL, 0.0D, NULL, NULL, NULL, DATE'1900-01-01', NULL, NULL, NULL, named_struct('u', 5, 'v v', NULL), X'',
       '[]')
      AS t(i, l, d, n, s, b, dt, ts, a, m, st, bin, j)
"""
CELLS = (Path(__file__).parents[2] / "oracle" / "expressions.sql").read_text().splitlines()
"""Expressions over these rows, one a line."""


@pytest.fixture(scope="module")
def rows(spark: Any) -> Any:
    return spark.sql(ROWS)


def labelled(frame: Any, operation: Any) -> Any:
    """Return a frame with its columns named by labels."""
    return frame.toDF(*(c.label for c in operation.columns))


def unequal(one: Any, other: Any) -> list[str]:
    """Return the columns in which two frames of the same rows differ, told by their texts (NaN is NaN there)."""
    a, b = one.collect(), other.collect()
    assert len(a) == len(b)
    return [c for i, c in enumerate(one.columns) if sorted(repr(r[i]) for r in a) != sorted(repr(r[i]) for r in b)]


def test_functions_by_row(rows: Any) -> None:
    """Each expression has SQL, and the SQL the values of the user's own."""
    frame = rows.select(*(sf.expr(c).alias(c) for c in CELLS))
    last = operations(frame).operations[-1]
    made = {c.id: c.name for c in last.columns}
    assert [made[e.column] for e in last.expressions if not e.sql] == []
    assert last.opaque == "" and len(last.expressions) == len(CELLS) > 200
    source = labelled(rows, operations(rows).operations[-1])
    assert unequal(frame, source.select(*(sf.expr(e.sql).alias(made[e.column]) for e in last.expressions))) == []


@pytest.mark.parametrize("asked", [{}, {"how": "all", "subset": ["d", "s"]}, {"thresh": 1}, {"subset": ["i"]}])
def test_dropped_nulls_and_nan(rows: Any, asked: dict[str, Any]) -> None:
    """What `na.drop` filters by has SQL of conditions: NaN is missing to it, too."""
    frame = rows.select("i", "s", sf.expr("if(i = -7, double('NaN'), d)").alias("d"))
    source, last = operations(frame).operations[-1], operations(frame.na.drop(**asked)).operations[-1]
    (condition,) = last.expressions
    assert (last.node, last.opaque) == ("Filter", "") and "atleast" not in condition.sql.lower()
    kept = labelled(frame, source).filter(condition.sql).toDF("i", "s", "d")
    assert unequal(frame.na.drop(**asked), kept) == []


AGGREGATES = (
    "count(1)",
    "count(DISTINCT i, s)",
    "sum(l)",
    "avg(n)",
    "sum(d) FILTER (WHERE i > 0)",
    "min(s)",
    "max(dt)",
    "first(i)",
    "first(i) IGNORE NULLS",
    "last(s, true)",
    "any_value(i)",
    "stddev(i)",
    "var_pop(i)",
    "corr(i, l)",
    "collect_set(b)",
    "sort_array(collect_list(i))",
    "max_by(s, i)",
    "bool_and(b)",
    "count_if(b)",
    "every(b)",
    "approx_count_distinct(i)",
    "percentile(i, 0.5)",
    "percentile_approx(i, 0.5)",
    "median(i)",
    "mode(i)",
    "sum(i) / count(1)",
    "kurtosis(i)",
    "bit_and(i)",
    "regr_slope(i, l)",
    "try_sum(l)",
    "try_avg(i)",
    "percentile_cont(0.25) WITHIN GROUP (ORDER BY i)",
    "histogram_numeric(i, 2)",
    "array_agg(i)",
    "skewness(i)",
    "max(struct(i, s))",
)


def test_aggregates(rows: Any) -> None:
    """Aggregates, with FILTER, DISTINCT and an order."""
    frame = rows.groupBy().agg(*(sf.expr(a).alias(a) for a in AGGREGATES))
    last = operations(frame).operations[-1]
    made = {c.id: c.name for c in last.columns}
    assert [made[e.column] for e in last.expressions if not e.sql] == []
    source = labelled(rows, operations(rows).operations[-1])
    assert unequal(frame, source.groupBy().agg(*(sf.expr(e.sql).alias(made[e.column]) for e in last.expressions))) == []


WINDOWS = (
    "row_number() OVER (ORDER BY i)",
    "rank() OVER (PARTITION BY b ORDER BY i DESC NULLS FIRST, s)",
    "ntile(2) OVER (ORDER BY i)",
    "sum(l) OVER (PARTITION BY b)",
    "sum(i) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "lag(s) OVER (ORDER BY i)",
    "lead(s, 2, 'none') OVER (ORDER BY i)",
    "lag(s) IGNORE NULLS OVER (ORDER BY i)",
    "first_value(s) IGNORE NULLS OVER (ORDER BY i)",
    "nth_value(s, 2) OVER (ORDER BY i)",
    "cume_dist() OVER (ORDER BY i)",
    "avg(i) OVER (ORDER BY i RANGE BETWEEN 3 PRECEDING AND CURRENT ROW)",
    "percent_rank() OVER (ORDER BY i)",
    "max(i) OVER () - i",
    "dense_rank() OVER (ORDER BY s)",
)


@pytest.mark.parametrize("text", WINDOWS)
def test_windows(text: str, rows: Any) -> None:
    """Windows of all kinds of functions and frames."""
    frame = rows.selectExpr("*", f"{text} AS v")
    found = operations(frame).operations
    (window,) = (o for o in found if o.node == "Window")
    assert window.opaque == ""
    below = found[window.children[0]]
    source = labelled(rows.select(*(c.name for c in below.columns)), below)
    (e,) = (e for e in window.expressions if e.role == "output")
    assert unequal(frame.selectExpr(f"{text} AS v"), frame_of(found, source, e.sql, window.index)) == []


def frame_of(found: Any, source: Any, sql: str, after: int) -> Any:
    """Return the column ``v`` that the operations after a window make of its value."""
    name = next(c.label for c in found[after].columns if c.label not in source.columns)
    frame = source.withColumn(name, sf.expr(sql))
    for o in found[after + 1 :]:
        made = {e.column: sf.expr(e.sql) for e in o.expressions}
        frame = frame.select(*(made.get(c.id, sf.col(f"`{c.label}`")).alias(c.label) for c in dict.fromkeys(o.columns)))
    return frame.select(sf.col(f"`{next(c.label for c in found[-1].columns if c.name == 'v')}`").alias("v"))


def test_what_is_no_text(spark: Any, rows: Any) -> None:
    """What gives another value each time, or is the user's own, says so; the rest of its operation has texts."""
    seen = {}
    for text in ("rand()", "uuid()", "now()", "current_date()", "current_user()", "arrays_zip(a, a)"):
        last = operations(rows.selectExpr("i", f"{text} AS v", "i + 1 AS w")).operations[-1]
        seen[text] = last.opaque
        assert [bool(e.sql) for e in last.expressions][-1]
    assert seen == {
        "rand()": "rand gives another value each time",
        "uuid()": "uuid gives another value each time",
        "now()": "now depends on when it ran",
        "current_date()": "current_date depends on when it ran",
        "current_user()": "current_user depends on who ran it",
        "arrays_zip(a, a)": "Spark does not read its text back",
    }
    own = operations(rows.select(sf.udf(lambda x: x, "int")("i").alias("v"))).operations[-1]
    assert own.opaque.startswith("function of the user's: ")
    assert own.expressions[0].sql == "`<lambda>`(`i#0`)" and own.text.startswith("v = <lambda>(i)")
    assert operations(rows.sample(0.5)).operations[-1].opaque == "it is a random sample"


def test_pivot_and_time_windows(spark: Any, rows: Any) -> None:
    """What Spark makes of them has no text of Spark's; ours computes the same."""
    frame = rows.groupBy("b").pivot("i", [1, -7]).agg(sf.sum("l"))
    found = operations(frame).operations
    assert [o.opaque for o in found] == [""] * len(found)
    first = next(o for o in found if o.node == "Aggregate")
    second = found[first.index + 1]
    key, pivot, value = (c.label for c in first.columns)
    inner = rows.groupBy("b", "i").agg(sf.sum("l")).toDF(key, pivot, value)
    (e,) = (e for e in second.expressions if e.role == "output")
    values = inner.groupBy(f"`{key}`").agg(sf.expr(e.sql).alias("v")).selectExpr("v[0] AS `1`", "v[1] AS `-7`")
    assert unequal(frame.select("1", "-7"), values) == []
    timed = rows.groupBy(sf.window("ts", "10 minutes", "5 minutes")).count()
    assert [o.opaque for o in operations(timed).operations] == [""] * len(operations(timed).operations)


def test_settings_and_equal_names(spark: Any, rows: Any) -> None:
    """Equal names are told apart by their numbers; the settings are those under which texts were read."""
    some = rows.select("i", "s")
    joined = some.alias("n").join(some.alias("o"), sf.expr("n.i = o.i"))
    found = operations(joined)
    (condition,) = (e for o in found.operations for e in o.expressions if e.role == "condition")
    ids = [c.id for c in found.operations[-1].columns]
    assert len(set(ids)) == 4
    assert condition.sql == f"(`i#{ids[0]}` = `i#{ids[2]}`)"
    assert dict(found.settings)["spark.sql.ansi.enabled"] == spark.conf.get("spark.sql.ansi.enabled")
