"""A transposed frame: each of its rows is a column of all rows that went in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from oracle import outputs
from oracle.cases import Case, Frames, Scans, check
from oracle.operators import union, where
from oracle.relation import Relation, Witness
from oracle.tables import TABLES
from pyspark.sql import functions as sf

from provspark.tracker import attach

pytestmark = pytest.mark.spark


def columns_of(r: Relation, index: str, *names: str) -> Relation:
    """A row for each column, its cells in the index's order."""
    kept = sorted((v for v, _ in r.rows if getattr(v, index) is not None), key=lambda v: getattr(v, index))
    whole = frozenset[Witness]().union(*(w for v, w in r.rows if getattr(v, index) is not None))
    rows = [((name, *(getattr(v, name) for v in kept)), whole) for name in names]
    return Relation.of(("key", *(f"c{i}" for i in range(len(kept)))), rows)


def over_an_aggregate(t: Scans) -> Relation:
    found: dict[Any, tuple[int, frozenset[Witness]]] = {}
    for v, w in t.emp.rows:
        n, before = found.get(v.k, (0, frozenset()))
        found[v.k] = (n + 1, before | w)
    return columns_of(Relation.of(("k", "n"), [((k, n), w) for k, (n, w) in found.items()]), "k", "n")


CASES = [
    Case(
        "by a filter, the first column its index",
        lambda t: t.emp.filter("id < 4").select("id", "v").transpose(),
        lambda t: columns_of(where(t.emp, lambda r: r.id < 4), "id", "v"),
    ),
    Case(
        "nulls in the index, over an aggregate",
        lambda t: t.emp.groupBy("k").agg(sf.count("*").alias("n")).transpose(sf.col("k")),
        over_an_aggregate,
    ),
    Case(
        "used twice, filtered",
        lambda t: (lambda d: d.filter("key = 'k'").union(d.filter("key = 'v'")))(
            t.emp.filter("id < 3").select("id", "v", "k").transpose(indexColumn="id")
        ),
        lambda t: (lambda a, b: union(columns_of(a, "id", "k"), columns_of(b, "id", "v")))(
            where(t.emp, lambda r: r.id < 3), where(t.emp, lambda r: r.id < 3)
        ),
    ),
    Case(
        "of nothing",
        lambda t: t.emp.filter("id > 99").select("id", "v").transpose(),
        lambda t: columns_of(where(t.emp, lambda r: r.id > 99), "id", "v"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_transpose(case: Case, spark: Any, sources: Path, tmp_path: Path) -> None:
    check(case, spark, TABLES, sources, tmp_path)


def test_before_capture(spark: Any, sources: Path, tmp_path: Path) -> None:
    before = Frames(spark, TABLES, sources).dept.select("w", "k").limit(2).transpose()
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        before.write.parquet(str(tmp_path / "out"))
    assert [u.node for u in capture.untracked] == ["Transpose"]
    assert len(outputs.read(tmp_path / "out").rows) == 1
