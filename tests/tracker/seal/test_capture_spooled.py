"""Sealing what does not fit memory: block by block, through files, to the same lineage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from families.aggregate.test_capture_groups import AGGREGATES, KEYS
from oracle.cases import check
from oracle.tables import TABLES
from plan.test_capture_reuse import CASES as REUSE
from sinks.test_capture_sinks import FILES

from provspark.model.boxes import Boxes, spool
from provspark.model.boxes.pairs import concat, from_pairs, pairs
from provspark.model.boxes.spool import Parts, Spool
from provspark.tracker.seal import boxes_in_parts as gathered
from provspark.tracker.seal import draft, notes
from provspark.tracker.seal.boxes_in_parts import Gathered

NAMES = ("key k", "count distinct among others", "HAVING", "of an aggregate", "EXISTS used twice", "of exploded words")
PARTITIONED = ("maxRecordsPerFile and partitions", "partitions of a group", "partitions of a join, by two columns")
CASES = [case for case in (*KEYS, *AGGREGATES, *REUSE, *FILES) if str(case) in (*NAMES, *PARTITIONED)]


@pytest.mark.spark
@pytest.mark.parametrize("limit", ["MOST", "MANY"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_lineage_is_the_same(
    case: Any, limit: str, spark: Any, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathered, limit, 1)
    monkeypatch.setattr(draft, "_BATCH", 1)
    check(case, spark, TABLES, sources, tmp_path)


def test_cases_are_there() -> None:
    assert {str(case) for case in CASES} == {*NAMES, *PARTITIONED}


@pytest.mark.parametrize("files", [1, 5])
@pytest.mark.parametrize("most", [0, 30, 1000])
def test_parts_in_any_order(most: int, files: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "MOST", most)
    monkeypatch.setattr(spool, "buckets", lambda boxes: files)
    monkeypatch.setattr(gathered, "MANY", 110)
    rng = np.random.default_rng(4)
    for order in (np.arange(6), np.array([0, 1, 2, 5, 4, 3]), rng.permutation(6)):
        found = Gathered()
        parts = [from_pairs(np.arange(k * 20, k * 20 + 20), rng.integers(0, 50, 20)) for k in order.tolist()]
        for part in parts:
            found.add(part)
        kept = found.boxes()
        rising = bool((np.diff(order) > 0).all())
        assert isinstance(kept, Spool) == (most < 120)
        assert isinstance(kept, Parts) == (most >= 120 and rising)
        (out, src), wanted = pairs(concat(list(kept.parts()))), pairs(concat(parts))
        if isinstance(kept, Boxes):
            assert [out.tolist(), src.tolist()] == [a.tolist() for a in wanted]
        else:
            starts = np.concatenate([part.out for part in kept.parts()])
            assert starts.tolist() == sorted(starts.tolist())
            order = np.lexsort(wanted[::-1])
            assert [out.tolist(), src.tolist()] == [a[order].tolist() for a in wanted]
    assert isinstance(Gathered().boxes(), Boxes)


def test_places_within_ranges() -> None:
    starts, counts = np.array([100, 7, 50, 0]), np.array([4, 0, 3, 5])
    every = np.concatenate([np.arange(a, a + n) for a, n in zip(starts, counts, strict=True)])
    for low in range(12):
        for high in range(low, 13):
            assert list(notes._between(starts, np.cumsum(counts), low, high)) == every[low:high].tolist()
