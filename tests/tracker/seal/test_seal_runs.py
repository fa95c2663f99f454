"""Runs of addresses become the boxes that their rows, one by one, become."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from provspark.model.arrays import Int64
from provspark.model.boxes.pairs import from_pairs, pairs
from provspark.tracker.seal import notes
from provspark.tracker.seal.draft import _lines
from provspark.tracker.sources import Segments
from provspark.tracker.taps.sidecar import NULL, PackedColumn

FILES = Segments(np.array([0, 1 << 40, 2 << 40]), np.array([0, 500, 900]), np.array([500, 400, 700]))


def column(codec: int, values: Sequence[int]) -> PackedColumn:
    """A column as java/taps/Tap.java packs it."""
    if codec == 0:
        runs: list[list[int]] = []
        for value in values:
            if runs and value == sum(runs[-1]):
                runs[-1][1] += 1
            else:
                runs.append([value, 1])
        raw = b"".join(struct.pack("<qq", *run) for run in runs)
    elif codec == 1:
        steps = [b - a for a, b in pairwise(values)]
        raw = struct.pack("<q", values[0]) + struct.pack(f"<{len(steps)}i", *steps)
    else:
        raw = struct.pack(f"<{len(values)}q", *values)
    return PackedColumn(codec, bytes(pa.Codec("zstd").compress(raw, asbytes=True)), len(raw), len(values))


def addresses(seed: int, files: int) -> list[int]:
    """Runs within some files: gaps, repeated rows, a file's end beside the next one's beginning."""
    chance = np.random.default_rng(seed)
    found: list[int] = []
    for _ in range(int(chance.integers(1, 60))):
        file = int(chance.integers(files))
        size = int(FILES.counts[file])
        first = int(chance.choice([0, size - 5, int(chance.integers(size))]))
        length = int(chance.integers(1, min(40, size - first) + 1))
        found += range(int(FILES.starts[file]) + first, int(FILES.starts[file]) + first + length)
    return found


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("codec", [0, 1])
def test_runs_and_rows_say_the_same(seed: int, codec: int) -> None:
    """Whatever is packed as runs or as steps."""
    values = addresses(seed, 1 if codec else 3)
    packed = column(codec, values)
    assert packed.values().tolist() == values
    found = _lines(7, packed.runs(), FILES)
    rows = [int(FILES.rows[v >> 40]) + (v & ((1 << 40) - 1)) for v in values]
    expected: tuple[Int64, Int64] = (np.arange(7, 7 + len(rows)), np.array(rows))
    if found is None:
        assert codec == 1, "these are runs already"
        return
    assert [a.tolist() for a in pairs(found)] == [a.tolist() for a in expected]
    assert len(found) <= len(from_pairs(*expected))


def test_what_is_not_of_one_file_is_looked_at_row_by_row() -> None:
    """No address, one beyond a file's end, one before all."""
    for values in ([3, 4, NULL, 9], [498, 499, 500], [-1, 0]):
        assert _lines(0, column(0, values).runs(), FILES) is None
    assert column(2, [1, 2, 3]).runs() is None
    assert _lines(0, column(0, [1]).runs(), Segments(*np.zeros((3, 0), dtype=np.int64))) is None


@pytest.mark.parametrize("few", [0, 1, 1000])
@pytest.mark.parametrize("seed", range(6))
def test_rows_of_groups_are_marked_or_listed(seed: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "_FEW", few)
    chance = np.random.default_rng(seed)
    counts = chance.integers(1, 5, int(chance.integers(2, 90)))
    groups = np.sort(chance.choice(len(counts), int(chance.integers(1, len(counts))), replace=False))
    wanted = [row for row, group in enumerate(np.repeat(np.arange(len(counts)), counts)) if group in groups]
    assert np.arange(counts.sum())[notes._rows_of(groups, counts)].tolist() == wanted
