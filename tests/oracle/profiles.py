"""How values are distributed, worked out with nothing but Python's own statistics."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from provspark.index_store.profiles.profile import ColumnProfile, Profile

Row = dict[str, Any]


def check(profile: Profile, rows: Sequence[Row]) -> None:
    """Compare a profile with the rows that it is of: all of its columns and their correlations."""
    assert profile.rows == len(rows)
    for column in profile.columns:
        _check(column, [row[column.name] for row in rows])
    for i, left in enumerate(profile.correlations.columns[:4]):
        for right in profile.correlations.columns[i + 1 : 4]:
            pairs = [(row[left], row[right]) for row in rows if _usual(row[left]) and _usual(row[right])]
            found = profile.correlations.of(left, right)
            if found is not None:
                assert found == pytest.approx(statistics.correlation(*zip(*pairs, strict=True)), abs=1e-9)


def _check(told: ColumnProfile, values: Sequence[Any]) -> None:
    there = [v for v in values if v is not None]
    assert (told.count, told.nulls) == (len(there), len(values) - len(there)), told.name
    if any(isinstance(v, list) for v in there):
        return
    counts = Counter("NaN" if isinstance(v, float) and math.isnan(v) else v for v in there)
    assert told.distinct == len(counts), told.name
    assert sorted(s.count for s in told.top) == sorted((n for _, n in counts.most_common(50)))
    if all(isinstance(v, str) for v in there):
        assert all(counts[s.value] == s.count for s in told.top), told.name
        return
    usual = [float(v) for v in there if _usual(v)]
    if not usual or any(isinstance(v, (str, bool)) for v in there):
        return
    assert told.unusual == len(there) - len(usual)
    assert told.mean == pytest.approx(statistics.fmean(usual))
    if len(usual) > 1:
        assert told.deviation == pytest.approx(statistics.stdev(usual))
        cuts = statistics.quantiles(usual, n=20, method="inclusive")
        assert told.quantiles == pytest.approx([cuts[i] for i in (0, 4, 9, 14, 18)])
    assert sum(b.count for b in told.histogram) == len(usual)
    assert (told.histogram[0].low, told.histogram[-1].high) == (min(usual), max(usual)) or len(set(usual)) == 1


def _usual(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
