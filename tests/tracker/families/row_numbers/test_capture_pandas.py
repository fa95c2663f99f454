"""pandas API on Spark: its frames are Spark's, so rows keep their origin, whatever makes up the index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Frames, check
from oracle.operators import group, join, rename, select, sort, total, where
from oracle.sources import Source
from oracle.tables import DEPT, SKEW
from oracle.values import eq

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

LINES = Source(
    "keyed_lines",
    ("k", "v"),
    tuple((i % 3, i) for i in range(20)),
    {
        "a.csv": b"k,v\n" + b"".join(b"%d,%d\n" % (i % 3, i) for i in range(12)),
        "b.csv": b"k,v\n" + b"".join(b"%d,%d\n" % (i % 3, i) for i in range(12, 20)),
    },
    lambda s, p: s.read.schema("k INT, v INT").option("header", True).csv(p),
)
TABLES = [LINES, DEPT, SKEW]


@pytest.fixture(params=["distributed-sequence", "sequence", "distributed"], autouse=True)
def ps(request: pytest.FixtureRequest, spark: Any) -> Iterator[Any]:
    import pyspark.pandas

    with pyspark.pandas.option_context("compute.default_index_type", request.param, "compute.fail_on_ansi_mode", False):
        yield pyspark.pandas


def lines(t: Frames) -> Any:
    import pyspark.pandas

    return pyspark.pandas.read_csv(str(t.paths["keyed_lines"]))


def dept(t: Frames) -> Any:
    import pyspark.pandas

    return pyspark.pandas.read_parquet(str(t.paths["dept"]), columns=["k", "w"])


CASES = [
    Case("read and written", lines, lambda t: t.keyed_lines, save=lambda d, to: d.to_parquet(to)),
    Case(
        "filter and assign",
        lambda t: (lambda d: d[d.v > 15].assign(z=d.v * 2).to_spark())(lines(t)),
        lambda t: select(where(t.keyed_lines, lambda r: r.v > 15), "k", "v", z=lambda r: r.v * 2),
    ),
    Case(
        "groupby",
        lambda t: lines(t).groupby("k").sum().to_spark(index_col="k"),
        lambda t: group(t.keyed_lines, ["k"], v=total("v")),
    ),
    Case(
        "merge",
        lambda t: lines(t).merge(dept(t), on="k").to_spark(),
        lambda t: select(
            join(t.keyed_lines, rename(select(t.dept, "k", "w"), "l", "w"), lambda a, b: eq(a.k, b.l)), "k", "v", "w"
        ),
    ),
    Case(
        "sort_values and head",
        lambda t: lines(t).sort_values("v", ascending=False).head(3),
        lambda t: sort(where(t.keyed_lines, lambda r: r.v > 16), "v"),
        save=lambda d, to: d.to_parquet(to),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_frames(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
