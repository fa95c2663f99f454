"""Boxes against the pairs that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provspark.model.boxes import Boxes, cutting, joining
from provspark.model.boxes import lists as box_lists
from provspark.model.boxes import pairs as box
from provspark.model.boxes.overlap import disjoint
from provspark.testing.oracle import cells, runs_of, within

pair_lists = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60)
one_box = st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(0, 9), st.integers(0, 4), st.booleans())
row_lists = st.lists(st.integers(0, 14), max_size=8)


def ints(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def built(rows: list[tuple[int, int, int, int, bool]]) -> Boxes:
    columns = list(zip(*rows, strict=True)) if rows else [()] * 5
    out, n_out, src, n_src = (ints(list(c)) for c in columns[:4])
    diagonal = np.array(columns[4], dtype=np.bool_)
    return Boxes(out, n_out, src, np.where(diagonal, n_out, n_src), diagonal)


@given(pair_lists)
def test_pairs_give_back_what_from_pairs_took(pairs: list[tuple[int, int]]) -> None:
    boxes = box.from_pairs(ints([p[0] for p in pairs]), ints([p[1] for p in pairs]))
    assert sorted(cells(boxes)) == sorted(set(pairs))
    out, src = box.pairs(boxes)
    assert list(zip(out.tolist(), src.tolist(), strict=True)) == sorted(set(pairs))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5)), max_size=30))
def test_from_ranges_holds_each_pair_once(ranges: list[tuple[int, int, int]]) -> None:
    out, start, length = (ints([r[i] for r in ranges]) for i in range(3))
    expected = {(o, s + k) for o, s, n in ranges for k in range(n)}
    assert sorted(cells(box.from_ranges(out, start, length))) == sorted(expected)
    assert sorted(cells(box.unite(out, start, length))) == sorted(expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=30), st.sampled_from([0, 2**31, 2**62]))
def test_ranges_of_single_rows_are_united_like_others(rows: list[tuple[int, int]], high: int) -> None:
    out, start = (ints([r[i] for r in rows]) for i in range(2))
    alike = box.unite(out, start + high, box_lists.constant(np.int64(1), len(rows)))
    other = box.unite(out, start + high, np.ones(len(rows), dtype=np.int64))
    assert sorted(cells(alike)) == sorted({(o, s + high) for o, s in rows})
    assert all(np.array_equal(getattr(alike, f), getattr(other, f)) for f in ("out", "n_out", "src", "n_src"))


@pytest.mark.parametrize("at", [0, 700, 1023, 1024, 2999])
def test_rising_sees_every_step(at: int) -> None:
    major, minor = np.arange(3001), np.zeros(3001, dtype=np.int64)
    assert box_lists.rising(major, minor)
    major[at] = major[at + 1] + 1
    assert not box_lists.rising(major, minor)
    major[at] = major[at + 1]
    assert box_lists.rising(major, minor)
    assert not box_lists.rising(major, minor, strictly=True)


@given(st.lists(one_box, max_size=12))
def test_merge_and_disjoint_keep_the_set_of_pairs(rows: list[tuple[int, int, int, int, bool]]) -> None:
    boxes = built(rows)
    assert set(cells(box.merge(boxes))) == set(cells(boxes))
    apart = box.merge(disjoint(boxes))
    assert sorted(cells(apart)) == sorted(set(cells(boxes)))
    assert apart.edges == len(set(cells(boxes)))


@given(st.lists(one_box, max_size=12))
def test_pairs_transpose_and_sort_follow_the_definition(rows: list[tuple[int, int, int, int, bool]]) -> None:
    boxes = built(rows)
    out, src = box.pairs(boxes)
    assert list(zip(out.tolist(), src.tolist(), strict=True)) == sorted(set(cells(boxes)))
    assert [(b, a) for a, b in cells(boxes)] == cells_by_box(box.transpose(boxes), boxes)
    ordered = box.sort(boxes)
    assert sorted(cells(ordered)) == sorted(cells(boxes))
    keys = list(zip(ordered.out.tolist(), ordered.src.tolist(), strict=True))
    assert keys == sorted(keys)


def cells_by_box(turned: Boxes, boxes: Boxes) -> list[tuple[int, int]]:
    """Cells of transposed boxes in the order in which the original lists them."""
    found = []
    for i in range(len(turned)):
        inner = cells(box.take(turned, slice(i, i + 1)))
        found += inner if boxes.diagonal[i] else sorted(inner, key=lambda p: (p[1], p[0]))
    return found


@pytest.mark.parametrize("axis", ["out", "src"])
@pytest.mark.parametrize("many", [0, 10**9])
@given(rows=st.lists(one_box, max_size=12), wanted=row_lists)
@settings(max_examples=60)
def test_clip_cuts_to_runs(
    axis: str, many: int, rows: list[tuple[int, int, int, int, bool]], wanted: list[int]
) -> None:
    boxes = box.sort(built([r for r in rows if r[1] and r[3]]))
    starts, lengths = runs_of(wanted)
    before, cutting._MANY = cutting._MANY, many
    try:
        got = box.clip(boxes, starts, lengths, axis)
    finally:
        cutting._MANY = before
    expected = [p for p in cells(boxes) if p in within({p}, starts, lengths, axis)]
    assert sorted(cells(got)) == sorted(expected)


@pytest.mark.parametrize("most", [5, 10**6])
def test_rows_in_no_order_are_told_by_a_table(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "_MANY", 1)
    monkeypatch.setattr(cutting, "_MOST", most)
    rng = np.random.default_rng(most)
    for _ in range(40):
        out, src = rng.integers(0, 90, 60), rng.integers(0, 90, 60)
        one, some = box_lists.constant(np.int64(1), 60), rng.integers(1, 4, 60)
        boxes = Boxes(out, one, src, some, box_lists.constant(np.False_, 60))
        edges = np.unique(rng.integers(2, 80, 2 * int(rng.integers(1, 9))))
        starts, lengths = edges[:-1:2], (edges[1:] - edges[:-1])[::2]
        expected = [p for p in cells(boxes) if ((starts <= p[0]) & (p[0] < starts + lengths)).any()]
        assert cells(box.clip(boxes, starts, lengths)) == expected
        whole = box.clip(boxes, edges[:-1], edges[1:] - edges[:-1])  # runs side by side
        assert cells(whole) == [p for p in cells(boxes) if edges[0] <= p[0] < edges[-1]]


def test_sieve_with_wide_buckets_loses_nothing() -> None:
    rng = np.random.default_rng(5)
    span = 40_000_000
    start = np.sort(rng.integers(0, span, 20_000))
    length = rng.integers(1, 5_000, 20_000)
    boxes = Boxes(start, length, start, length, np.ones(20_000, dtype=np.bool_))
    points = np.unique(rng.integers(0, span, 300))
    one = np.ones(len(points), dtype=np.int64)
    got = box.clip(boxes, points, one)
    expected = [int(((start <= p) & (p < start + length)).sum()) for p in points.tolist()]
    assert np.array_equal(
        np.searchsorted(np.sort(got.out), points, side="right") - np.searchsorted(np.sort(got.out), points), expected
    )


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(i, i + 5) for i in range(1000)], [(0, 1000, 5, 1000, True)]),
        ([(i, 7) for i in range(1000)], [(0, 1000, 7, 1, False)]),
        ([(3, i) for i in range(1000)], [(3, 1, 0, 1000, False)]),
        ([(i, j) for i in range(20) for j in range(20)], [(0, 20, 0, 20, False)]),
        ([(i, j) for i in range(3) for j in range(20)], [(0, 3, 0, 20, False)]),
        ([(4, 4)], [(4, 1, 4, 1, False)]),
        ([(i, i + d) for i in range(50) for d in (0, 100)], [(0, 50, 0, 50, True), (0, 50, 100, 50, True)]),
        ([], []),
    ],
)
def test_known_shapes_are_single_boxes(
    pairs: list[tuple[int, int]], expected: list[tuple[int, int, int, int, bool]]
) -> None:
    b = box.from_pairs([p[0] for p in pairs], [p[1] for p in pairs])
    got = list(
        zip(b.out.tolist(), b.n_out.tolist(), b.src.tolist(), b.n_src.tolist(), b.diagonal.tolist(), strict=True)
    )
    assert got == expected


def test_a_band_is_its_diagonals() -> None:
    out = np.repeat(np.arange(1000), 3)
    assert len(box.from_pairs(out, out + np.tile([0, 1, 2], 1000))) == 3


def test_ids_beyond_what_packs_into_64_bits() -> None:
    big = 2**62
    out, src = ints([big, 0, big, 5]), ints([1, big, 1, big])
    got = box.from_pairs(out, src)
    assert sorted(cells(got)) == [(0, big), (5, big), (big, 1)]


@pytest.mark.parametrize(
    ("out", "src", "said"),
    [
        ([1, 2], [1], "one length"),
        ([-1], [0], "start at 0"),
        ([0.5], [1], "integers"),
        ([[1]], [[1]], "one-dimensional"),
    ],
)
def test_bad_ids_are_refused(out: list[object], src: list[object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        box.from_pairs(out, src)


def test_a_million_pairs_of_each_kind() -> None:
    rng = np.random.default_rng(11)
    n = 1_000_000
    kept = np.flatnonzero(rng.random(n) < 0.5)
    shuffled = rng.permutation(n)
    for out, src in (
        (np.arange(n), np.arange(n)),
        (np.arange(len(kept)), kept),
        (np.arange(n), shuffled),
        (np.sort(rng.integers(0, n // 10, n)), np.arange(n)),
    ):
        back = box.pairs(box.from_pairs(out, src))
        assert np.array_equal(back[0], out)
        assert np.array_equal(back[1], src)


@pytest.mark.parametrize("neighbours", [0, 30, 300])
def test_pairs_that_hardly_join_stay_pairs(neighbours: int) -> None:
    chance = np.random.default_rng(neighbours)
    src = chance.permutation(10_000) * 3
    at = chance.choice(9_999, neighbours, replace=False)
    src[at + 1] = src[at] + chance.integers(0, 2, neighbours)
    boxes = box.from_pairs(np.arange(10_000), src)
    assert [a.tolist() for a in box.pairs(boxes)] == [list(range(10_000)), src.tolist()]
    assert (len(boxes) == 10_000) == (neighbours < 100)


@pytest.mark.parametrize("seed", range(60))
def test_pairs_of_rising_rows_join_at_once_as_they_do_by_rounds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs downwards and along diagonals that share their ends, in one pass over steps and box by box."""
    monkeypatch.setattr(box_lists, "_CHUNK", 7)
    random = np.random.default_rng(seed)
    n = int(random.choice([2, 5, 60]))
    kinds = np.repeat(random.integers(0, 3, n), random.integers(1, 6, n))
    steps = np.where(kinds < 2, kinds, random.integers(-2, 4, len(kinds)))
    src = np.cumsum(steps) + 2 * len(kinds)
    out = np.cumsum(np.where(random.random(len(kinds)) < 0.1, 2, 1))
    at_once = box.merge(box_lists.cells(out, src))
    monkeypatch.setattr(joining, "lines", lambda out, src: None)
    by_rounds = box.merge(box_lists.cells(out, src))
    for name in ("out", "n_out", "src", "n_src", "diagonal"):
        assert getattr(at_once, name).tolist() == getattr(by_rounds, name).tolist()
