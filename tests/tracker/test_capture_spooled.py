"""Sealing what does not fit memory: block by block, through files, to the same lineage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.cases import check
from oracle.tables import TABLES
from test_capture_groups import AGGREGATES, KEYS
from test_capture_reuse import CASES as REUSE

from provspark.index_store.boxes import concat, from_pairs, pairs
from provspark.index_store.model import Boxes
from provspark.index_store.spool import Parts, Spool
from provspark.tracker import gathered, seal
from provspark.tracker.gathered import Gathered

NAMES = ("key k", "count distinct among others", "HAVING", "of an aggregate", "EXISTS used twice", "of exploded words")
CASES = [case for case in (*KEYS, *AGGREGATES, *REUSE) if str(case) in NAMES]


@pytest.mark.spark
@pytest.mark.parametrize("limit", ["MOST", "MANY"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_lineage_is_the_same(
    case: Any, limit: str, spark: Any, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathered, limit, 1)
    monkeypatch.setattr(seal, "_BATCH", 1)
    check(case, spark, TABLES, sources, tmp_path)


def test_cases_are_there() -> None:
    assert {str(case) for case in CASES} == set(NAMES)


@pytest.mark.parametrize("most", [0, 30, 1000])
def test_parts_in_any_order(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "MOST", most)
    monkeypatch.setattr(gathered, "MANY", 110)
    rng = np.random.default_rng(4)
    for order in (np.arange(6), np.array([0, 1, 2, 5, 4, 3]), rng.permutation(6)):
        found = Gathered()
        parts = [from_pairs(np.arange(k * 20, k * 20 + 20), rng.integers(0, 50, 20)) for k in order.tolist()]
        for part in parts:
            found.add(part)
        kept = found.boxes()
        rising = bool((np.diff(order) > 0).all())
        assert isinstance(kept, Spool) == (most < 120 and rising)
        assert isinstance(kept, Parts) == (most >= 120 and rising)
        told, wanted = (pairs(concat(p)) for p in (list(kept.parts()), parts))
        assert [a.tolist() for a in told] == [a.tolist() for a in wanted]
    assert isinstance(Gathered().boxes(), Boxes)


def test_places_within_ranges() -> None:
    starts, counts = np.array([100, 7, 50, 0]), np.array([4, 0, 3, 5])
    every = np.concatenate([np.arange(a, a + n) for a, n in zip(starts, counts, strict=True)])
    for low in range(12):
        for high in range(low, 13):
            assert list(seal._between(starts, np.cumsum(counts), low, high)) == every[low:high].tolist()
