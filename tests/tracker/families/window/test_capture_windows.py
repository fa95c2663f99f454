"""Window functions and dropDuplicates on some columns: the row is data, its partition or group context."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle.cases import Case, Frames, check
from oracle.operators import (
    count,
    explode,
    group,
    join,
    keep_first,
    most,
    rename,
    select,
    sort,
    total,
    union,
    where,
    window,
    windows,
)
from oracle.tables import TABLES
from oracle.values import eq, lt, rank
from pyspark.sql import Window
from pyspark.sql import functions as sf

pytestmark = pytest.mark.spark


def place(by: str) -> Any:
    """row_number() of a row by a unique column."""
    return lambda r, rows: 1 + sum(rank(getattr(x, by)) < rank(getattr(r, by)) for x in rows)


def of(aggregate: Any) -> Any:
    """An aggregate over the whole partition."""
    return lambda r, rows: aggregate(rows)


def first_of_each(t: Frames) -> Any:
    return t.emp.coalesce(1).sortWithinPartitions("id")


CASES = [
    Case(
        "a partition's sum",
        lambda t: t.sql("SELECT id, sum(v) OVER (PARTITION BY k) AS s FROM emp"),
        lambda t: select(window(t.emp, ["k"], s=of(total("v"))), "id", "s"),
    ),
    Case(
        "no partition",
        lambda t: t.sql("SELECT w, count(*) OVER () AS n FROM dept"),
        lambda t: select(window(t.dept, [], n=of(count())), "w", "n"),
    ),
    Case(
        "over nothing",
        lambda t: t.sql("SELECT w, count(*) OVER () AS n FROM none"),
        lambda t: select(window(t.none, [], n=of(count())), "w", "n"),
    ),
    Case(
        "floats: NaN and both zeros",
        lambda t: t.sql("SELECT id, count(*) OVER (PARTITION BY x) AS n FROM emp"),
        lambda t: select(window(t.emp, ["x"], n=of(count())), "id", "n"),
    ),
    Case(
        "an expression as partition",
        lambda t: t.sql("SELECT n, max(n) OVER (PARTITION BY k % 2, v) AS m FROM skew"),
        lambda t: select(
            window(select(t.skew, "n", "v", h=lambda r: None if r.k is None else r.k % 2), ["h", "v"], m=of(most("n"))),
            "n",
            "m",
        ),
    ),
    Case(
        "a rank filtered",
        lambda t: (
            t.emp.withColumn("r", sf.row_number().over(Window.partitionBy("k").orderBy("id")))
            .filter("r <= 2")
            .select("id", "r")
        ),
        lambda t: select(where(window(t.emp, ["k"], r=place("id")), lambda r: r.r <= 2), "id", "r"),
    ),
    Case(
        "a rank filtered, no partition",
        lambda t: t.sql("SELECT * FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS r FROM emp) WHERE r <= 3"),
        lambda t: where(
            select(window(t.emp, [], r=lambda r, rows: 1 + sum(x.id > r.id for x in rows)), "id", "r"),
            lambda r: r.r <= 3,
        ),
    ),
    Case(
        "filtered by its partition",
        lambda t: t.sql("SELECT * FROM (SELECT id, k, sum(v) OVER (PARTITION BY k) AS s FROM emp) WHERE k = 1"),
        lambda t: where(select(window(t.emp, ["k"], s=of(total("v"))), "id", "k", "s"), lambda r: eq(r.k, 1)),
    ),
    Case(
        "two windows of one SELECT",
        lambda t: t.sql(
            "SELECT id, sum(v) OVER (PARTITION BY k) AS a, count(*) OVER (PARTITION BY g) AS b, "
            "max(id) OVER (PARTITION BY k ORDER BY id) AS c FROM emp"
        ),
        lambda t: (
            lambda e: select(
                windows(
                    e,
                    window(e, ["k"], a=of(total("v"))),
                    window(e, ["g"], b=of(count())),
                    window(e, ["k"], c=lambda r, rows: r.id),
                ),
                "id",
                "a",
                "b",
                "c",
            )
        )(t.emp),
    ),
    Case(
        "a window over a window",
        lambda t: t.sql(
            "SELECT id, sum(s) OVER (PARTITION BY g) AS u "
            "FROM (SELECT id, g, sum(v) OVER (PARTITION BY k) AS s FROM emp)"
        ),
        lambda t: select(
            window(select(window(t.emp, ["k"], s=of(total("v"))), "id", "g", "s"), ["g"], u=of(total("s"))), "id", "u"
        ),
    ),
    Case(
        "over an aggregate, within one SELECT",
        lambda t: t.sql("SELECT k, sum(v) AS s, rank() OVER (ORDER BY k) AS r FROM skew GROUP BY k"),
        lambda t: window(group(t.skew, ["k"], s=total("v")), [], r=place("k")),
    ),
    Case(
        "grouped above",
        lambda t: t.sql("SELECT g, sum(s) AS t FROM (SELECT g, sum(v) OVER (PARTITION BY k) AS s FROM emp) GROUP BY g"),
        lambda t: group(select(window(t.emp, ["k"], s=of(total("v"))), "g", "s"), ["g"], t=total("s")),
    ),
    Case(
        "over a join, then joined",
        lambda t: t.sql(
            "SELECT a.id, n, f.w FROM (SELECT e.id, e.k, count(*) OVER (PARTITION BY d.name) AS n "
            "FROM emp e JOIN dept d ON e.k = d.k) a LEFT JOIN dept f ON a.id = f.w"
        ),
        lambda t: (
            lambda e, d, f: select(
                join(
                    select(window(join(e, d, lambda a, b: eq(a.k, b.dk)), ["name"], n=of(count())), "id", "n"),
                    f,
                    lambda a, b: eq(a.id, b.w),
                    "left",
                ),
                "id",
                "n",
                "w",
            )
        )(select(t.emp, "id", "k"), rename(select(t.dept, "k", "name"), "dk", "name"), select(t.dept, "w")),
    ),
    Case(
        "a branch of a union",
        lambda t: t.sql("SELECT k, count(*) OVER (PARTITION BY k) AS n FROM emp UNION ALL SELECT k, w FROM dept"),
        lambda t: union(select(window(t.emp, ["k"], n=of(count())), "k", "n"), select(t.dept, "k", "w")),
    ),
    Case(
        "lag and a frame",
        lambda t: t.sql(
            "SELECT id, lag(id) OVER (PARTITION BY k ORDER BY id) AS a, sum(id) OVER "
            "(PARTITION BY k ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS b FROM emp"
        ),
        lambda t: select(
            window(
                t.emp,
                ["k"],
                a=lambda r, rows: max((x.id for x in rows if x.id < r.id), default=None),
                b=lambda r, rows: r.id + max((x.id for x in rows if x.id < r.id), default=0),
            ),
            "id",
            "a",
            "b",
        ),
    ),
    Case(
        "dropDuplicates",
        lambda t: first_of_each(t).dropDuplicates(["k"]).select("id", "k"),
        lambda t: select(keep_first(sort(t.emp, "id"), ["k"]), "id", "k"),
    ),
    Case(
        "dropDuplicates, texts too",
        lambda t: first_of_each(t).dropDuplicates(["x", "k"]),
        lambda t: keep_first(sort(t.emp, "id"), ["x", "k"]),
    ),
    Case(
        "dropDuplicates, filtered by its key and grouped",
        lambda t: first_of_each(t).dropDuplicates(["k"]).filter("k < 4").groupBy("g").agg(sf.sum("id").alias("s")),
        lambda t: group(where(keep_first(sort(t.emp, "id"), ["k"]), lambda r: lt(r.k, 4)), ["g"], s=total("id")),
    ),
    Case(
        "dropDuplicates of what one row made",
        lambda t: (
            t.bag.coalesce(1)
            .sortWithinPartitions("id")
            .select("id", sf.explode("words").alias("word"))
            .dropDuplicates(["id"])
        ),
        lambda t: keep_first(
            rename(
                select(
                    explode(sort(t.bag, "id"), "words"),
                    "id",
                    "col",
                ),
                "id",
                "word",
            ),
            ["id"],
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_window(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)
