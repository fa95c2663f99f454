from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provspark.errors import CaptureError
from provspark.tracker.sources import Segments
from provspark.tracker.sources.blocks import OPENED, OVERFLOWED, Blocks, measure


def blocks(*rows: tuple[int, int, int, int]) -> Blocks:
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return Blocks(*table.T)


def tuples(b: Blocks) -> list[tuple[int, ...]]:
    return [tuple(r) for r in np.stack([b.file, b.start, b.length, b.rows], axis=1).tolist()]


def test_distinct_prefers_counts_and_sorts() -> None:
    got = blocks((1, 0, 5, OPENED), (0, 5, 5, 2), (1, 0, 5, 3), (0, 0, 5, OPENED), (1, 0, 5, OPENED)).distinct()
    assert tuples(got) == [(0, 0, 5, OPENED), (0, 5, 5, 2), (1, 0, 5, 3)]


def test_two_counts_of_one_block_are_an_error() -> None:
    with pytest.raises(CaptureError, match=r"byte 5 of file number 2 .* had 3 rows in one read and 4 in another"):
        blocks((2, 5, 5, 4), (2, 5, 5, OPENED), (2, 5, 5, 3)).distinct()


def test_too_many_rows_are_an_error() -> None:
    with pytest.raises(CaptureError, match="65,536"):
        blocks((0, 0, 5, OVERFLOWED)).distinct()


@pytest.mark.parametrize(
    ("given_blocks", "sizes", "want"),
    [
        ([(0, 0, 5, 1), (0, 5, 5, 1)], [10], [True]),
        ([(0, 0, 5, 1)], [10], [False]),
        ([(0, 5, 5, 1)], [10], [False]),
        ([(0, 0, 4, 1), (0, 5, 5, 1)], [10], [False]),
        ([(0, 0, 5, 1), (0, 0, 10, 1), (0, 5, 5, 1)], [10], [False]),
        ([(0, 0, 5, 1), (0, 5, 5, OPENED)], [10], [False]),
        ([(0, 0, 0, 1)], [0], [True]),
        ([], [0, 3], [False, False]),
        ([(1, 0, 3, 0), (2, 0, 4, 1), (2, 4, 4, 1)], [2, 3, 8], [False, True, True]),
    ],
)
def test_cover(given_blocks: list[tuple[int, int, int, int]], sizes: list[int], want: list[bool]) -> None:
    got = blocks(*given_blocks).distinct().cover(np.array(sizes, dtype=np.int64))
    assert got.tolist() == want


def test_split_has_every_boundary_but_the_files_ends() -> None:
    sizes = np.array([100, 37], dtype=np.int64)
    assert blocks((0, 0, 24, 1), (0, 36, 12, 1), (0, 96, 4, 1), (1, 0, 37, 1)).split(sizes) == 12
    assert blocks((1, 0, 37, OPENED)).split(sizes) == 0
    assert blocks().split(sizes) == 0


@st.composite
def files_of_rows(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """For each file: bytes at which its rows start, and two ways to cut it, the first at some of the second's cuts."""
    files, coarse, fine = [], [], []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(0, 40))
        files.append([size, *sorted(draw(st.lists(st.integers(0, max(size - 1, 0)), max_size=12 if size else 0)))])
        cuts = sorted(draw(st.sets(st.integers(1, max(size - 1, 1)), max_size=6))) if size > 1 else []
        fine.append([0, *cuts, size])
        coarse.append([0, *(c for c in cuts if draw(st.booleans())), size])
    return files, coarse, fine


@given(files_of_rows(), st.randoms(use_true_random=False))
def test_measure_is_counting_row_by_row(
    case: tuple[list[list[int]], list[list[int]], list[list[int]]], random: object
) -> None:
    files, coarse, fine = case
    sizes = np.array([f[0] for f in files], dtype=np.int64)

    def cut(at: list[list[int]], known: bool) -> list[tuple[int, int, int, int]]:
        out = []
        for i, edges in enumerate(at):
            for a, b in pairwise(edges):
                rows = sum(a <= r < b for r in files[i][1:])
                out.append((i, a, b - a, rows if known or (i + a) % 2 else OPENED))
        return out

    pieces, seen = blocks(*cut(fine, True)).distinct(), blocks(*cut(coarse, False)).distinct()
    assert pieces.cover(sizes).all()
    before, counts = measure(seen, pieces, sizes)
    assert before.tolist() == [
        sum(r < s for r in files[f][1:]) for f, s in zip(seen.file.tolist(), seen.start.tolist(), strict=True)
    ]
    want = [row[3] for row in tuples(blocks(*cut(coarse, True)).distinct())]
    assert counts.tolist() == want


def test_measure_wants_the_same_cuts_and_counts() -> None:
    sizes = np.array([10], dtype=np.int64)
    pieces = blocks((0, 0, 5, 3), (0, 5, 5, 4))
    with pytest.raises(CaptureError, match="with other boundaries"):
        measure(blocks((0, 0, 4, OPENED)), pieces, sizes)
    with pytest.raises(CaptureError, match="had 2 rows when it was read and 3 when"):
        measure(blocks((0, 0, 5, 2)), pieces, sizes)


def test_segments() -> None:
    s = Segments(*(np.array(x, dtype=np.int64) for x in ([10, 20, 40], [0, 3, 3], [3, 0, 5])))
    assert s.rows_of(np.array([12, 40, 10, 44])).tolist() == [2, 3, 0, 7]
    assert s.rows_of(np.array([], dtype=np.int64)).tolist() == []
    for wrong in (9, 13, 20, 45, -1):
        with pytest.raises(CaptureError, match=rf"\(first {wrong}\) are not in the files"):
            s.rows_of(np.array([10, wrong]))
