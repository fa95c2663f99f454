"""Scans that stop before the end of what they read: ids must be right although not all rows were counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, check
from oracle.operators import join, union, where
from oracle.sources import Source, in_path_order, numbered
from oracle.tables import NONE
from oracle.values import eq
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark

SPLIT = {"spark.sql.files.maxPartitionBytes": 200, "spark.sql.files.openCostInBytes": 1}
SORTED = {
    **SPLIT,
    "spark.sql.autoBroadcastJoinThreshold": -1,
    "spark.sql.adaptive.enabled": False,
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelation",
}


def csv(name: str, folder: str = "") -> Source:
    """Eight files of 100 rows; in the first, third … a line more that is blank."""
    rows = {
        f"{folder}{p}": r
        for p, r in numbered([[(i, i // 10) for i in range(a, a + 100)] for a in range(0, 800, 100)], "csv").items()
    }
    files = {p: "".join(f"{n},{k}\n" for n, k in r) + "\n" * (n_file % 2) for n_file, (p, r) in enumerate(rows.items())}
    return Source(
        name,
        ("n", "k"),
        in_path_order(rows),
        {p: text.encode() for p, text in files.items()},
        lambda s, path: s.read.schema("n INT, k INT").csv(path),
    )


SOURCES = [csv("lines"), NONE]
CASES = [
    Case("limit", lambda t: t.lines.limit(10), lambda t: t.lines, pick=10),
    Case("limit, split", lambda t: t.lines.limit(10), lambda t: t.lines, pick=10, conf=SPLIT),
    Case(
        "limit of rows that are far behind",
        lambda t: t.lines.filter("n >= 650").limit(7),
        lambda t: where(t.lines, lambda r: r.n >= 650),
        pick=7,
        conf=SPLIT,
    ),
    Case(
        "limit beside the whole",
        lambda t: t.lines.limit(10).union(t.lines),
        lambda t: union(t.lines, t.lines),
        pick=810,
        conf=SPLIT,
    ),
    Case(
        "limit within each partition, then a join",
        lambda t: t.lines.limit(5).join(t.lines.selectExpr("n AS m", "k AS l"), sf.expr("n = m")),
        lambda t: (lambda a, b: join(a, b, lambda x, y: x.n == y.n))(t.lines, t.lines),
        pick=5,
        conf=SPLIT,
    ),
    Case(
        "sort-merge join with nothing",
        lambda t: t.lines.join(t.none.select("k", "w"), "k", "inner").select("n", "k").union(t.lines.filter("n > 700")),
        lambda t: (lambda a, b, c: where(c, lambda r: r.n > 700))(t.lines, t.none, t.lines),
        conf=SORTED,
    ),
    Case(
        "sort-merge join that ends with the shorter side",
        lambda t: t.lines.join(t.lines.filter("n < 20").selectExpr("n AS m", "k AS l"), sf.expr("k = m")),
        lambda t: (lambda a, b: join(a, where(b, lambda r: r.n < 20), lambda x, y: eq(x.k, y.n)))(t.lines, t.lines),
        conf=SORTED,
    ),
    Case(
        "semi-join by nothing, outer join with nothing",
        lambda t: (
            t.lines.join(t.none, "k", "left_semi")
            .select("n", "k")
            .union(t.none.select("w", "k").join(t.lines.filter("n < 5"), "k", "right").select("n", "k"))
        ),
        lambda t: (lambda a, b, c, d: where(d, lambda r: r.n < 5))(t.lines, t.none, t.none, t.lines),
        conf=SORTED,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_early_stop(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, SOURCES, sources, tmp_path)
