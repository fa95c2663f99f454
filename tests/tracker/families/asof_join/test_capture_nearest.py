"""As-of joins: each left row with the right row that is nearest to it, if any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, check
from oracle.operators import count, group, select, total
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import eq
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark


def nearest(left: Relation, right: Relation, distance: Callable[[Any, Any], int | None], outer: bool) -> Relation:
    """The first column of the left and the last of the right; distance None: out of the question."""
    rows = []
    for v, w in left.rows:
        near = [(distance(v, x), i) for i, (x, _) in enumerate(right.rows) if distance(v, x) is not None]
        if near:
            x, y = right.rows[min(near)[1]]
            rows.append(((v[0], x[-1]), w | y))
        elif outer:
            rows.append(((v[0], None), w))
    return Relation.of(("a", "b"), rows)


def back(a: Any, b: Any) -> Any:
    return None if a is None or b is None or b > a else a - b


# dept's w repeats once, in rows that are equal but for their ids: leave one out
DISTINCT = "w <> 6 OR k IS NULL"


def dept(t: Any) -> Any:
    return select(Relation(t.columns, tuple(x for x in t.rows if x[0].w != 6)), "k", "w")


CASES = [
    Case(
        "backward, outer",
        lambda t: (lambda a, b: a._joinAsOf(b, a["id"], b["w"], how="left").select("id", "w"))(
            t.emp.select("id", "k"), t.dept.filter(DISTINCT).select("k", "w")
        ),
        lambda t: nearest(t.emp, dept(t.dept), lambda a, b: back(a.id, b.w), True),
    ),
    Case(
        "by a key, inner, not itself",
        lambda t: (
            lambda a, b: a._joinAsOf(
                b, a["id"], b["w"], on=a["k"] == b["k"], how="inner", allowExactMatches=False
            ).select("id", "w")
        )(t.emp, t.dept.filter(DISTINCT)),
        lambda t: nearest(
            t.emp,
            dept(t.dept),
            lambda a, b: back(a.id, b.w) if eq(a.k, b.k) and a.id != b.w else None,
            False,
        ),
    ),
    Case(
        "nearest within a tolerance",
        lambda t: (
            lambda a, b: a._joinAsOf(b, a["id"], b["w"], how="inner", tolerance=sf.lit(1), direction="forward").select(
                "id", "w"
            )
        )(t.emp, t.dept.filter(DISTINCT)),
        lambda t: nearest(t.emp, dept(t.dept), lambda a, b: b.w - a.id if 0 <= b.w - a.id <= 1 else None, False),
    ),
    Case(
        "of groups",
        lambda t: (lambda a, b: a._joinAsOf(b, a["n"], b["w"], how="left").select("n", "w"))(
            t.emp.groupBy("k").agg(sf.count("*").alias("n")),
            t.dept.filter(DISTINCT).groupBy("k").agg(sf.sum("w").alias("w")),
        ),
        lambda t: nearest(
            select(group(t.emp, ["k"], n=count()), "n"),
            group(dept(t.dept), ["k"], w=total("w")),
            lambda a, b: back(a.n, b.w),
            True,
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nearest(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
