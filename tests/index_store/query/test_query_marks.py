"""Sets of rows that grow, against Python's sets, with every bound low."""

from __future__ import annotations

import numpy as np
import pytest

from provspark.index_store.query import growing_set as marks
from provspark.model import runs


@pytest.mark.parametrize("seed", range(40))
def test_marks_hold_what_was_added(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    monkeypatch.setattr(marks, "_MANY", int(random.integers(0, 20)))
    monkeypatch.setattr(marks, "_MOST", int(random.choice([0, 50, 1000])))
    monkeypatch.setattr(runs, "_LONG", int(random.integers(0, 8)))
    monkeypatch.setattr(runs, "_PIECE", int(random.integers(1, 30)))
    if marks._MANY == 0:
        monkeypatch.setattr(marks, "_MANY", 1)
    held, found = set(), marks.GrowingSet()
    for _ in range(int(random.integers(0, 12))):
        n = int(random.integers(0, 10))
        starts, lengths = random.integers(0, 200, n), random.integers(1, 12, n)
        found.add(starts, lengths)
        held |= {s + k for s, m in zip(starts.tolist(), lengths.tolist(), strict=True) for k in range(m)}
    rows = found.runs()
    assert rows.rows().tolist() == sorted(held)
    assert (rows.starts[1:] > rows.ends[:-1]).all()
