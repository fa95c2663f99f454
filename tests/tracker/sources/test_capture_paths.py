"""Data sets whose paths hold percent signs, blanks, brackets and letters of other scripts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from oracle.cases import Case, check
from oracle.operators import join, rename, select, using
from oracle.relation import Relation
from oracle.sources import Source, columnar, in_path_order
from oracle.tables import DEPT, LONG, TEXT

pytestmark = pytest.mark.spark

FILES = {
    "a%41b.parquet": [(0, "x"), (1, None)],
    "aAb.parquet": [(2, "y")],
    "part [0] {1}.parquet": [(3, "z"), (4, "x")],
    "été #?.parquet": [(5, "x")],
}
"""Of the first two names one is the other unescaped."""
TYPES = {"k": LONG, "t": TEXT}


def unglobbed(path: str) -> str:
    """As Hadoop takes a path with characters that stand for patterns."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


ODD = Source(
    "o d%20d",
    tuple(TYPES),
    in_path_order(FILES),
    {name: columnar(TYPES, rows, pa.parquet.write_table) for name, rows in FILES.items()},
    lambda spark, path: spark.read.parquet(unglobbed(path)),
)
SIDE = replace(DEPT, name="side +&=", read=lambda spark, path: spark.read.parquet(unglobbed(path)))


class Named:
    """Sources by plain names."""

    def __init__(self, t: Any) -> None:
        self.odd, self.side = getattr(t, ODD.name), getattr(t, SIDE.name)


def joined(t: Any) -> Relation:
    n = Named(t)
    return select(join(n.odd, rename(select(n.side, "k", "name"), "k", "name"), using("k")), "k", "t", "name")


CASE = Case("join", lambda t: Named(t).odd.join(Named(t).side.selectExpr("k", "name"), "k"), joined)


@pytest.mark.parametrize("name", ["a b", "50%", "%41%2F%zz", "é ü 数", "[a-z]{b,c}", "x=1,y#z", "q&r+s;t'u"])
def test_odd_paths(name: str, spark: Any, tmp_path: Path) -> None:
    check(CASE, spark, [ODD, SIDE], tmp_path / name, tmp_path / name / "out of it")


def test_an_odd_table(spark: Any, tmp_path: Path) -> None:
    """A table of Spark's catalogue in such a folder, with such partitions."""
    place = str(tmp_path / "t 50%41 é")

    def save(df: Any, path: str) -> None:
        df.createOrReplaceTempView("odd_rows")
        table = f"CREATE TABLE odd_made USING parquet PARTITIONED BY (t) LOCATION '{path}'"
        df.sparkSession.sql(f"{table} AS SELECT * FROM odd_rows")
        df.sparkSession.sql("DROP TABLE odd_made")

    case = replace(
        CASE,
        plan=lambda t: Named(t).odd.selectExpr("k", "concat(t, ' %41/[', k) AS t"),
        meaning=lambda t: select(Named(t).odd, "k", t=lambda r: None if r.t is None else f"{r.t} %41/[{r.k}"),
        save=save,
    )
    check(case, spark, [ODD, SIDE], tmp_path / "in", Path(place))
