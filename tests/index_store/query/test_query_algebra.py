from collections import Counter

import numpy as np
import pytest

from provspark.index_store.query import relation as relation_module
from provspark.index_store.query import tally as counting
from provspark.index_store.query import write_walk as within
from provspark.index_store.query.intersections import common, without
from provspark.index_store.query.relation import compose, gathered, identity, image, labelled, restrict, shrink
from provspark.model import runs as runs_module
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import pairs, sort
from provspark.model.runs import Runs, expand, ordering, overlaps, unite

SEEDS = range(300)


def spelled(boxes: Boxes) -> set[tuple[int, int]]:
    """Every pair, box by box."""
    found = set()
    columns = (boxes.out, boxes.n_out, boxes.src, boxes.n_src, boxes.diagonal)
    for out, n_out, src, n_src, diagonal in zip(*(c.tolist() for c in columns), strict=True):
        if diagonal:
            assert n_out == n_src
            found |= {(out + k, src + k) for k in range(n_out)}
        else:
            found |= {(out + i, src + j) for i in range(n_out) for j in range(n_src)}
    return found


def random_boxes(random: np.random.Generator, size: int, most: int = 12) -> Boxes:
    """Overlapping, unsorted boxes of both sorts; now and then all of one label."""
    n = int(random.integers(0, most))
    diagonal = random.random(n) < 0.4
    out, src, n_out = random.integers(0, size, n), random.integers(0, size, n), random.integers(1, 5, n)
    if random.random() < 0.3:
        out[:], n_out[:] = 3, 1
    n_src = np.where(diagonal, n_out, random.integers(1, 5, n))
    return Boxes(out, n_out, src, n_src, diagonal)


def random_cells(random: np.random.Generator, size: int) -> Boxes:
    """Single pairs; now and then one for each row of an axis."""
    n = int(random.integers(0, 2 * size))
    one = np.ones(n, dtype=np.int64)
    out = np.arange(n) if random.random() < 0.5 else random.integers(0, size, n)
    return Boxes(out, one, random.integers(0, size, n), one, random.random(n) < 0.5)


@pytest.mark.parametrize("seed", SEEDS)
def test_compose_and_shrink_equal_sets_of_pairs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    monkeypatch.setattr(runs_module, "_MANY", int(random.choice([0, 4096])))
    few = int(random.choice([3, 4096]))
    monkeypatch.setattr(relation_module, "_SAMPLE", few)
    size = int(random.integers(1, 25))
    a, b = random_boxes(random, size), random_boxes(random, size)
    if random.random() < 0.3:
        b.diagonal[:], b.n_src[:] = True, b.n_out
    if random.random() < 0.5:
        a, b = random_cells(random, size), sort(random_cells(random, size) if random.random() < 0.5 else shrink(b))
    composed = compose(a, b)
    assert spelled(composed) == {(x, z) for x, y in spelled(a) for w, z in spelled(b) if y == w}
    for boxes in (a, composed):
        small = shrink(boxes)
        assert spelled(small) == spelled(boxes)
        assert len(small) <= (len(boxes) if few > 3 else boxes.n_out.sum())
        assert list(zip(*(c.tolist() for c in pairs(small)), strict=True)) == sorted(spelled(boxes))


@pytest.mark.parametrize("seed", SEEDS)
def test_intersection_and_difference_equal_those_of_sets_of_pairs(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 25))
    a, b = random_boxes(random, size), random_boxes(random, size)
    assert spelled(common(a, b)) == spelled(a) & spelled(b)
    assert spelled(without(a, b)) == spelled(a) - spelled(b)
    assert spelled(without(a, a)) == set()


@pytest.mark.parametrize("seed", SEEDS)
def test_tallies_count_distinct_pairs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    monkeypatch.setattr(counting, "_AT_ONCE", int(random.choice([1, 3, 1 << 22])))
    boxes = random_boxes(random, int(random.integers(1, 25)))
    rows = image(boxes)
    codes = random.integers(0, 4, rows.count)
    code_of = dict(zip(rows.rows().tolist(), codes.tolist(), strict=True))
    expected = Counter((label, code_of[row]) for label, row in spelled(boxes))
    found = counting.tally(boxes, rows, codes)
    assert list(zip(found.label.tolist(), found.code.tolist(), strict=True)) == sorted(expected)
    assert found.count.tolist() == [n for _, n in sorted(expected.items())]
    plain = counting.tally(boxes)
    assert dict(zip(plain.label.tolist(), plain.count.tolist(), strict=True)) == Counter(x for x, _ in spelled(boxes))


@pytest.mark.parametrize("seed", SEEDS)
def test_runs_equal_sets(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    monkeypatch.setattr(runs_module, "_MANY", int(random.choice([0, 4096])))
    a, b = (set(random.integers(0, 30, random.integers(0, 15)).tolist()) for _ in range(2))
    x, y = Runs.of(a), Runs.of(np.array([*b, *b], dtype=np.int64))
    for runs, rows in ((x | y, a | b), (x & y, a & b), (x - y, a - b), (y - x, b - a)):
        assert runs.rows().tolist() == sorted(rows)
        assert runs == Runs.of(rows)
        assert runs.count == len(rows)
        assert bool(runs) == bool(rows)
        assert (runs.starts[1:] > runs.ends[:-1]).all()
    assert x.at(np.arange(len(a))).tolist() == sorted(a)


@pytest.mark.parametrize("seed", SEEDS)
def test_overlaps_lists_each_pair_of_intervals_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    monkeypatch.setattr(runs_module, "_MANY", int(random.choice([0, 4096])))
    a, b = (random.integers(0, 20, random.integers(0, 9)) for _ in range(2))
    ends = [x + random.integers(1, 4, len(x)) for x in (a, b)]
    if random.random() < 0.5:
        ends[0], b = a + 1, np.unique(b) if random.random() < 0.5 else np.sort(b)
        ends[1] = np.append(b[1:], 30) if random.random() < 0.5 and len(b) == len(set(b.tolist())) else b + 1
    i, j = overlaps(a, ends[0], b, ends[1])
    expected = [(p, q) for p in range(len(a)) for q in range(len(b)) if a[p] < ends[1][q] and b[q] < ends[0][p]]
    assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == expected


def test_relations_to_begin_with() -> None:
    runs = Runs.of([3, 4, 8])
    assert spelled(labelled(runs)) == {(0, 3), (1, 4), (2, 8)}
    assert spelled(gathered(runs)) == {(0, 3), (0, 4), (0, 8)}
    assert spelled(identity(runs)) == {(3, 3), (4, 4), (8, 8)}
    assert image(gathered(runs)) == runs
    assert spelled(restrict(labelled(runs), Runs.of([4, 8, 9]))) == {(1, 4), (2, 8)}
    assert spelled(labelled(Runs.span(0))) == set()


def test_a_run_costs_one_box_however_long() -> None:
    whole = labelled(Runs.span(10**12))
    shifted = Boxes(*(np.array([n]) for n in (10, 10**12 - 10, 0, 10**12 - 10)), np.array([True]))
    composed = compose(whole, shifted)
    assert [c.tolist() for c in (composed.out, composed.n_out, composed.src)] == [[10], [10**12 - 10], [0]]


def test_labels_that_share_a_run_become_one_box() -> None:
    n = np.arange(1000)
    shared = Boxes(n, n * 0 + 1, n * 0 + 7, n * 0 + 10**6, n < 0)
    assert len(shrink(shared)) == 1


@pytest.mark.parametrize("far", [1, 2**40, 2**61])
def test_uniting_and_sorting_do_not_overflow(far: int) -> None:
    group = np.array([0, 0, 1, 1, 4])
    start = np.array([0, 5, 0, 4, far])
    end = np.array([6, 7, 3, 5, far + 1])
    first, low, high = unite(group, start, end)
    assert first.tolist() == [0, 2, 3, 4]
    assert low.tolist() == [0, 0, 4, far]
    assert high.tolist() == [7, 3, 5, far + 1]
    order = ordering(np.array([2, 1, 1]), np.array([far, far, 0]), np.array([far, 0, 1]))
    assert order is not None
    assert order.tolist() == [2, 1, 0]


def test_expand() -> None:
    assert expand(np.array([5, 1, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]


@pytest.mark.parametrize("seed", range(100))
def test_lookups_are_cut_into_pieces_of_bounded_size(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    monkeypatch.setattr(within, "ROWS_AT_ONCE", int(random.integers(1, 9)))
    runs = Runs.of(np.flatnonzero(random.random(60) < random.random()))
    pieces = [expand(starts, lengths) for starts, lengths in within.pieces(runs)]
    assert all(0 < len(p) <= within.ROWS_AT_ONCE for p in pieces)
    assert np.concatenate([*pieces, np.zeros(0, np.int64)]).tolist() == runs.rows().tolist()
