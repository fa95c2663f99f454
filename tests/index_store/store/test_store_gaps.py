"""Starts that stand in a file as gaps, worked out in part, against all of them written out."""

from __future__ import annotations

import numpy as np
import pytest

from provspark.index_store.store.tensors import gaps as coded
from provspark.index_store.store.tensors.gaps import Even, Gaps
from provspark.index_store.store.tensors.reader import _paged
from provspark.model.boxes.cutting import CuttingRuns
from provspark.testing.oracle import runs_of


@pytest.mark.parametrize("seed", range(60))
def test_any_part_of_the_starts_is_right(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    block, per, pages = int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(1, 9))
    monkeypatch.setattr(coded, "_BLOCK", block)
    per *= block if seed % 3 else 1
    rows = (pages - 1) * per + int(rng.integers(1, per + 1))
    far = int(rng.choice([2, 200, 60_000, 2**40]))
    alike = seed % 4 == 1
    lengths = np.full(rows, int(rng.integers(1, far))) if alike else rng.integers(1, far, rows)
    low = 0 if seed % 2 else -min(far, 5)
    gaps = np.full(rows, int(rng.integers(0, far))) if seed % 4 == 3 else rng.integers(low, far, rows)
    ends = np.cumsum(gaps + lengths)
    starts = ends - lengths
    some = np.flatnonzero(rng.random(pages) < 0.6)
    some = some if len(some) else np.arange(pages)
    held = np.concatenate([np.arange(p * per, min(rows, (p + 1) * per)) for p in some])
    base = np.concatenate([[0], ends])[some * per]
    zigzag = (gaps << 1) ^ (gaps >> 63)
    narrow = [a.astype(np.min_scalar_type(int(a.max()))) if a.max() < 2**32 else a for a in (zigzag, lengths)]
    first = int(gaps[0]) if seed % 4 == 3 else narrow[0][held]
    tried = Gaps(first, int(lengths[0]) if alike else narrow[1][held], base, per, len(held))
    assert tried.all().tolist() == starts[held].tolist()
    for _ in range(8):
        places = np.sort(rng.integers(0, len(held), int(rng.integers(0, 6))))
        assert tried.at(places).tolist() == starts[held][places].tolist()
        near = [int(r) + int(k) for r in rng.choice(starts[held], 3) for k in rng.integers(-2, 3, 2)]
        beside = np.setdiff1d(np.arange(held[0], held[-1]), held)  # of the pages between, runs meet none
        near = [r for r in near if r >= 0 and not ((starts[beside] <= r) & (ends[beside] > r)).any()]
        runs = CuttingRuns(*runs_of(near))
        found = tried.hits(runs)
        if found is None:
            continue
        pairs = [
            (box, run)
            for run in range(len(runs))
            for box, row in enumerate(held.tolist())
            if starts[row] < runs.ends[run] and ends[row] > runs.starts[run]
        ]
        assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == pairs


@pytest.mark.parametrize("seed", range(40))
def test_boxes_evenly_apart_are_counted_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    far = int(rng.choice([2, 9, 2**40]))
    gap, length, count = int(rng.integers(0, far)), int(rng.integers(1, far)), int(rng.integers(0, 30))
    even = Even(gap, length, count)
    starts = [gap + i * (gap + length) for i in range(count)]
    assert even.at(np.arange(count)).tolist() == starts
    rows = [int(r) + int(k) for r in [0, *starts] for k in rng.integers(-2, 3, 2)] + [s + length for s in starts[-1:]]
    runs = CuttingRuns(*runs_of([r for r in rows if r >= 0 and rng.random() < 0.7]))
    box, run = even.hits(runs)
    assert list(zip(box.tolist(), run.tolist(), strict=True)) == [
        (i, r)
        for r in range(len(runs))
        for i, start in enumerate(starts)
        if start < runs.ends[r] and start + length > runs.starts[r]
    ]


@pytest.mark.parametrize("seed", range(40))
def test_boxes_that_follow_one_another_stand_in_pages_as_others_do(seed: int) -> None:
    random = np.random.default_rng(seed)
    per, n = int(random.integers(1, 9)), int(random.integers(1, 30))
    boxes = np.arange(n) + random.integers(0, 20) if seed % 2 else np.sort(random.integers(0, 40, n))
    ids, first, places = _paged(boxes, per)
    pages = [box // per for box in boxes.tolist()]
    assert ids.tolist() == sorted(set(pages))
    assert first.tolist() == [*map(pages.index, ids.tolist()), n]
    assert places.tolist() == [
        ids.tolist().index(page) * per + box % per for page, box in zip(pages, boxes.tolist(), strict=True)
    ]
