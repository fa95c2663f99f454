"""Profiles by Spark's aggregates say what those of the driver say."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import provspark
from provspark.errors import VersionChangedError
from provspark.index_store.profiles import computation as compute
from provspark.index_store.profiles import spark_queries as aggregated
from provspark.index_store.profiles.correlation import Correlations
from provspark.index_store.profiles.profile import ColumnProfile
from provspark.model.datasets import Version
from provspark.tracker import attach

ROWS = 400
SCHEMA = (
    "i int, l bigint, f float, d double, m decimal(8,2), s string, b boolean, day date, at timestamp, list array<int>, "
    "same int, one double, never int, big double"
)


def rows(seed: int) -> list[tuple[Any, ...]]:
    rng = random.Random(seed)

    def some(value: Any) -> Any:
        return None if rng.random() < 0.1 else value

    return [
        (
            some(rng.randint(-5, 5)),
            rng.randint(-(10**12), 10**12),
            some(rng.choice([0.5, -0.0, 0.0, float("nan"), 2.25, float("inf")])),
            some(rng.gauss(100, 15)),
            some(Decimal(rng.randint(-999, 999)) / 100),
            some(f"v{int(rng.expovariate(0.03))}"),
            some(rng.random() < 0.3),
            some(date(2020, 1, 1) + timedelta(rng.randint(0, 70))),
            some(datetime(2020, 1, 1) + timedelta(seconds=rng.randint(0, 99))),
            some([1, 2]),
            7,
            1.5 if number == 3 else None,
            None,
            rng.choice([-1.7e308, 1.7e308, 1.0]),
        )
        for number in range(ROWS)
    ]


def exact(column: ColumnProfile) -> ColumnProfile:
    """All but what rounding makes differ."""
    return replace(column, mean=None, deviation=None)


@pytest.mark.long
def test_both_ways_agree(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, found, called = tmp_path / "in", [], []

    def counted(version: Version, frame: Any) -> Any:
        called.append(version)
        return aggregated.aggregated(version, frame)

    monkeypatch.setattr("provspark.tracker.session.profiles.aggregated", counted)
    spark.createDataFrame(rows(5), SCHEMA).repartition(3).write.parquet(str(source))
    for name, limit in (("driver", compute.LIMIT), ("spark", 0)):
        monkeypatch.setattr(compute, "LIMIT", limit)
        with attach(store=str(tmp_path / name), step=name, profile=True) as capture:
            spark.read.parquet(str(source)).write.parquet(str(tmp_path / f"out-{name}"))
        assert not capture.untracked
        assert len(called) == (0 if limit else 2)
        monkeypatch.setattr(compute, "LIMIT", 0)  # what is told below was stored
        found.append(provspark.open(str(tmp_path / name)).profile(str(source)))
    driver, large = found
    assert (large.rows, large.version, large.left_out) == (driver.rows, driver.version, driver.left_out)
    assert large.correlations == Correlations()
    assert [c.name for c in large.columns] == [c.name for c in driver.columns]
    for mine, other in zip(large.columns, driver.columns, strict=True):
        assert exact(mine) == exact(other)
        for a, b in ((mine.mean, other.mean), (mine.deviation, other.deviation)):
            assert a == b if b is None else a == pytest.approx(b, rel=1e-9, abs=1e-9), mine.name
    assert large.column("d").distinct > 50 and large.column("f").unusual > 0


def test_a_changed_version_has_no_profile(spark: Any, tmp_path: Path) -> None:
    spark.range(10).write.parquet(str(tmp_path / "in"))
    with attach(store=str(tmp_path / "store"), step="s"):
        spark.read.parquet(str(tmp_path / "in")).write.parquet(str(tmp_path / "out"))
    version = provspark.open(str(tmp_path / "store")).graph.nodes[0].output.version
    with pytest.raises(VersionChangedError, match="has 9 rows now, but had 10"):
        aggregated.aggregated(version, spark.range(9))
