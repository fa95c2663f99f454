"""IN and EXISTS that Spark infers for the other side of a join: they keep groups from being made, and owe nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracle.cases import Case, Frames, Scans, check
from oracle.operators import count, exists, group, join, most, rename, scalar, select, total, where
from oracle.relation import Relation
from oracle.tables import TABLES
from oracle.values import both, either, eq, lt, within

import provspark
from provspark.tracker import attach
from provspark.tracker.seal import captured_write as write
from provspark.tracker.seal.notes import Noted
from provspark.tracker.seal.place import sealed

pytestmark = pytest.mark.spark


def emp(t: Scans) -> Relation:
    return rename(select(t.emp, "id", "k", "v"), "id", "ek", "v")


def chosen(e: Relation, d: Relation) -> Relation:
    return join(e, rename(select(d, "k"), "dk"), lambda a, b: eq(a.ek, b.dk), "semi")


def totals(s: Relation) -> Relation:
    return rename(group(s, ["k"], s=total("n")), "sk", "s")


IN = "k IN (SELECT k FROM dept WHERE w < 6)"
SUMS = "(SELECT k, sum(n) AS s FROM skew GROUP BY k) q ON e.k = q.k"

CASES = [
    Case(
        "IN beside a correlated subquery of the same key",
        lambda t: t.sql(f"SELECT id FROM emp e WHERE {IN} AND v < (SELECT sum(n) FROM skew s WHERE s.k = e.k)"),
        lambda t: (
            lambda e, d, s: select(
                where(
                    scalar(
                        chosen(e, where(d, lambda x: x.w < 6)),
                        "m",
                        lambda r: group(where(s, lambda x: eq(x.k, r.ek)), [], m=total("n")),
                    ),
                    lambda r: lt(r.v, r.m),
                ),
                "id",
            )
        )(emp(t), t.dept, t.skew),
    ),
    Case(
        "IN and a join with an aggregate",
        lambda t: t.sql(f"SELECT id, s FROM (SELECT * FROM emp WHERE {IN}) e JOIN {SUMS}"),
        lambda t: (
            lambda e, d, s: select(
                join(chosen(e, where(d, lambda x: x.w < 6)), s, lambda a, b: eq(a.ek, b.sk)), "id", "s"
            )
        )(emp(t), t.dept, totals(t.skew)),
    ),
    Case(
        "EXISTS and a join with an aggregate",
        lambda t: t.sql(
            f"SELECT id, s FROM emp e JOIN {SUMS} WHERE EXISTS (SELECT 1 FROM dept d WHERE d.k = e.k AND w < 6)"
        ),
        lambda t: (
            lambda e, s, d: select(
                chosen(join(e, s, lambda a, b: eq(a.ek, b.sk)), where(d, lambda x: x.w < 6)), "id", "s"
            )
        )(emp(t), totals(t.skew), t.dept),
    ),
    Case(
        "NOT IN and a join with an aggregate",
        lambda t: t.sql(f"SELECT id, s FROM emp e JOIN {SUMS} WHERE e.k NOT IN (SELECT k FROM dept WHERE k > 1)"),
        lambda t: select(
            where(
                join(emp(t), totals(t.skew), lambda a, b: eq(a.ek, b.sk)), lambda r: within(r.ek, [2, 5, 7]) is False
            ),
            "id",
            "s",
        ),
    ),
    Case(
        "IN or else, and a join with an aggregate",
        lambda t: t.sql(f"SELECT id, s FROM (SELECT * FROM emp WHERE {IN} OR k = 3) e JOIN {SUMS}"),
        lambda t: (
            lambda e, d, s: select(
                join(
                    where(
                        exists(e, "x", where(d, lambda r: r.w < 6), lambda a, b: eq(a.ek, b.k)),
                        lambda r: either(r.x, eq(r.ek, 3)),
                    ),
                    s,
                    lambda a, b: eq(a.ek, b.sk),
                ),
                "id",
                "s",
            )
        )(emp(t), t.dept, totals(t.skew)),
    ),
    Case(
        "IN of two columns, and a left join with an aggregate",
        lambda t: t.sql(
            "SELECT id, n FROM (SELECT * FROM emp WHERE (k, v) IN (SELECT k, v FROM skew)) e "
            "LEFT JOIN (SELECT k, v, count(*) AS n FROM emp GROUP BY k, v) q ON e.k = q.k AND e.v = q.v"
        ),
        lambda t: (
            lambda e, s, q: select(
                join(
                    join(e, s, lambda a, b: both(eq(a.ek, b.k), eq(a.v, b.v)), "semi"),
                    rename(group(q, ["k", "v"], n=count()), "qk", "qv", "n"),
                    lambda a, b: both(eq(a.ek, b.qk), eq(a.v, b.qv)),
                    "left",
                ),
                "id",
                "n",
            )
        )(emp(t), t.skew, t.emp),
    ),
    Case(
        "IN of a subquery with one of its own",
        lambda t: t.sql(
            "SELECT id, s FROM (SELECT * FROM emp WHERE k IN "
            f"(SELECT k FROM dept WHERE w < (SELECT max(v) FROM emp))) e JOIN {SUMS}"
        ),
        lambda t: (
            lambda e, d, m, s: select(
                join(
                    chosen(e, where(scalar(d, "m", lambda _: group(m, [], m=most("v"))), lambda r: lt(r.w, r.m))),
                    s,
                    lambda a, b: eq(a.ek, b.sk),
                ),
                "id",
                "s",
            )
        )(emp(t), t.dept, t.emp, totals(t.skew)),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_inferred(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


@pytest.mark.parametrize(
    "asked",
    ["", "LIMIT 9", "AND k + rand() > 0", "AND w < (SELECT max(n) FROM skew)", "GROUP BY k HAVING count(*) > 0"],
)
def test_groups_that_nothing_asks_for_are_not_noted(
    asked: str, spark: Any, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are, where the subquery might give other rows when it runs once more, or is no plain one."""
    notes: list[Noted] = []
    monkeypatch.setattr(write, "sealed", lambda jvm, *rest: (notes.append(rest[0]), sealed(jvm, *rest))[1])
    t = Frames(spark, TABLES, sources)
    of = f"k IN (SELECT k FROM dept WHERE w < 6 {asked})"
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        t.sql(f"SELECT e.id, s FROM (SELECT * FROM emp WHERE {of}) e JOIN {SUMS}").write.parquet(str(tmp_path / "out"))
    assert capture.untracked == () and capture.manifest is not None
    kept = t.sql("SELECT count(*) AS n FROM skew WHERE k IN (SELECT k FROM dept WHERE w < 6)").first().n
    noted = {sum(r.rows for r in receipts) for receipts in notes[0].receipts.values()}
    assert kept < t.skew.count()
    assert (kept if not asked else t.skew.count()) in noted
    assert (kept in noted) == (not asked)
    found = [a.occurrence for a in capture.manifest.writes[0].axes if a.role == "input"]
    assert found == list(range(3 + ("skew" in asked)))


def test_more_groups_than_a_task_holds_at_once(spark: Any, tmp_path: Path) -> None:
    """A task hands on what it noted before it has 2**18 groups, and goes on."""
    keys = np.random.default_rng(3).permutation(np.arange(330_000) % 290_000)
    keys = np.concatenate([keys, np.repeat(np.arange(100_000), 3)])
    pq.write_table(pa.table({"k": keys}), tmp_path / "in.parquet", row_group_size=len(keys))
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        frame = spark.read.parquet(str(tmp_path / "in.parquet")).coalesce(1)
        frame.groupBy("k").count().write.parquet(str(tmp_path / "out"))
    assert capture.untracked == ()
    out = pq.read_table(tmp_path / "out")["k"].to_numpy()
    prov = provspark.open((tmp_path / "store").as_uri())
    for row in (0, 77_777, len(out) - 1):
        found = prov.backward((tmp_path / "out").as_uri(), rows=[row]).table()["related_row"]
        assert sorted(found.to_pylist()) == np.flatnonzero(keys == out[row]).tolist()
