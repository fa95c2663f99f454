"""Names and settings that a script may have: other case, odd letters, 500 columns, views, time zones, decimals."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from oracle.cases import Case, Frames, check
from oracle.operators import count, group, join, rename, select, total, union, where
from oracle.relation import Relation
from oracle.tables import DEPT, EMP, SKEW
from oracle.values import eq
from pyspark.sql import functions as sf

pytestmark = [pytest.mark.spark, pytest.mark.long]

TABLES = [EMP, DEPT, SKEW]
ZONE = ZoneInfo("America/New_York")
START = int(datetime(2024, 3, 10, 4, tzinfo=timezone.utc).timestamp())
"""Three hours before New York's clocks go from two to three."""


def wide(t: Frames) -> Any:
    rows = t.skew.select("k", *((sf.col("n") + i).alias(f"c{i}") for i in range(500)))
    return rows.groupBy("k").agg(*(sf.sum(f"c{i}").alias(f"c{i}") for i in range(500)))


def hours(t: Any) -> Relation:
    at = {n: datetime.fromtimestamp(START + n * 600, ZONE) for n in range(150)}
    return group(select(t.skew, h=lambda r: at[r.n].hour, d=lambda r: at[r.n].date()), ["h", "d"], c=count())


def sliding(t: Any) -> Relation:
    """Each row is in the two windows of twenty seconds that begin every ten."""
    rows = t.skew
    parts = [select(rows, s=lambda r, back=back: (r.n // 10 - back) * 10) for back in (0, 1)]
    return select(group(union(*parts), ["s"], c=count()), "s", "c")


def view(t: Frames) -> Any:
    t.spark.sql(f"CREATE OR REPLACE VIEW kept_view AS SELECT id, k FROM parquet.`{t.paths['emp']}` WHERE id > 2")
    return t.spark.sql("SELECT id FROM kept_view WHERE k = 1")


def global_view(t: Frames) -> Any:
    t.emp.where("id > 2").createOrReplaceGlobalTempView("shared_view")
    return t.spark.newSession().sql("SELECT id FROM global_temp.shared_view WHERE k = 1")


def late_ones(t: Any) -> Relation:
    return select(where(t.emp, lambda r: r.id > 2 and r.k == 1), "id")


CASES = [
    Case(
        "another case",
        lambda t: t.sql("SELECT ID, e.K AS kK FROM EMP e WHERE V = 10").groupBy("KK").agg(sf.sum("iD").alias("S")),
        lambda t: rename(group(where(t.emp, lambda r: r.v == 10), ["k"], s=total("id")), "kK", "S"),
    ),
    Case(
        "two names of one word, where case counts",
        lambda t: (
            t.emp.select(sf.col("id").alias("a"), sf.col("k").alias("A")).groupBy("A").agg(sf.sum("a").alias("a"))
        ),
        lambda t: rename(group(t.emp, ["k"], s=total("id")), "A", "a"),
        conf={"spark.sql.caseSensitive": True},
    ),
    Case(
        "dots, blanks and letters",
        lambda t: t.sql("SELECT k AS `a.b`, id AS `ä ö` FROM emp").groupBy("`a.b`").agg(sf.max("`ä ö`").alias("no. 1")),
        lambda t: rename(group(t.emp, ["k"], s=lambda rows: max(r.id for r in rows)), "ab", "no"),
    ),
    Case(
        "500 columns",
        wide,
        lambda t: group(t.skew, ["k"], **{f"c{i}": lambda rows, i=i: sum(r.n + i for r in rows) for i in range(500)}),
    ),
    Case("a view of the catalogue", view, late_ones),
    Case("a view of all sessions", global_view, late_ones),
    Case(
        "hours where clocks go forward",
        lambda t: (
            t.skew.select(sf.timestamp_seconds(sf.col("n") * 600 + START).alias("t"))
            .groupBy(sf.hour("t").alias("h"), sf.to_date("t").alias("d"))
            .agg(sf.count("*").alias("c"))
        ),
        hours,
        conf={"spark.sql.session.timeZone": str(ZONE)},
    ),
    Case(
        "windows of time that overlap",
        lambda t: (
            t.skew.groupBy(sf.window(sf.timestamp_seconds("n"), "20 seconds", "10 seconds").alias("w"))
            .agg(sf.count("*").alias("c"))
            .select(sf.unix_timestamp("w.start").alias("s"), "c")
        ),
        sliding,
    ),
    Case(
        "decimals of two scales",
        lambda t: t.sql(
            "SELECT e.id, d.w FROM (SELECT id, CAST(k AS DECIMAL(10, 2)) AS m FROM emp) e "
            "JOIN (SELECT w, CAST(k AS DECIMAL(20, 6)) AS m FROM dept) d ON e.m = d.m"
        ),
        lambda t: select(join(t.emp, rename(select(t.dept, "k", "w"), "j", "w"), lambda a, b: eq(a.k, b.j)), "id", "w"),
    ),
]


@pytest.fixture(autouse=True)
def no_views(spark: Any) -> Iterator[None]:
    yield
    spark.sql("DROP VIEW IF EXISTS kept_view")
    spark.catalog.dropGlobalTempView("shared_view")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_names(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
