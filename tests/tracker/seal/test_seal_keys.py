"""Keys of groups resolved by tables and sorts, against dictionaries that tell the same."""

from __future__ import annotations

import numpy as np
import pytest

from provspark.model.boxes import spool
from provspark.tracker.seal import boxes_in_parts as gathered
from provspark.tracker.seal import keys
from provspark.tracker.seal.keys import GroupRanges, RequestedKeys

LOW, HIGH = -(1 << 63), (1 << 63) - 1
EDGES = np.array([0, -1, 1, LOW, HIGH])


def slow(asked: list[tuple[np.ndarray, np.ndarray]]) -> dict[tuple[int, int], int]:
    """Places of keys as they are first asked for."""
    found: dict[tuple[int, int], int] = {}
    for first, second in asked:
        for key in zip(first.tolist(), second.tolist(), strict=True):
            found.setdefault(key, len(found))
    return found


def drawn(seed: int, how: str) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray, np.ndarray]:
    """Keys that several ask for, and keys to look up."""
    random = np.random.default_rng(seed)
    size = int(random.choice([1, 2, 5, 700, 20_000]))
    many = np.unique(random.integers(LOW, HIGH, size))
    if how == "edges":
        many = np.unique(np.concatenate([many, EDGES]))
    if how == "crowded":
        many = np.unique(random.integers(0, 3 * size, size))
    first = random.permutation(many)
    if how == "repeated":
        first = random.choice(many, 2 * size)
    if how == "repeated late":
        first = np.concatenate([first, first[-1:]])
    second = first * 7 + 3
    if how == "one first hash":
        second = np.concatenate([second, random.integers(LOW, HIGH, 3)])
        first = np.concatenate([first, np.repeat(first[:1], 3)])
    cuts = np.sort(random.integers(1, len(first) + 1, int(random.integers(0, 3))))
    asked = list(zip(np.split(first, cuts), np.split(second, cuts), strict=True))
    looked = np.concatenate([first, EDGES, random.integers(LOW, HIGH, 50), first + 1])
    return asked, looked, np.concatenate([second, EDGES * 7 + 3, random.integers(LOW, HIGH, 50), second])


@pytest.mark.parametrize("how", ["different", "edges", "crowded", "repeated", "repeated late", "one first hash"])
@pytest.mark.parametrize("seed", range(8))
def test_keys_stand_where_they_were_first_asked_for(seed: int, how: str) -> None:
    asked, first, second = drawn(seed, how)
    told = slow(asked)
    found = RequestedKeys(asked)
    assert len(found) == len(told)
    for (a, b), places in zip(asked, found.asked, strict=True):
        assert places.tolist() == [told[key] for key in zip(a.tolist(), b.tolist(), strict=True)]
    wanted = [told.get(key, -1) for key in zip(first.tolist(), second.tolist(), strict=True)]
    assert found.places(first, second).tolist() == wanted


def test_keys_of_many_blocks_are_looked_up_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "chunks", lambda n: (slice(at, at + 7) for at in range(0, n, 7)))
    asked, first, second = drawn(3, "different")
    told = slow(asked)
    wanted = [told.get(key, -1) for key in zip(first.tolist(), second.tolist(), strict=True)]
    assert RequestedKeys(asked).places(first, second).tolist() == wanted


@pytest.mark.parametrize("most", [0, 40, 1 << 22])
@pytest.mark.parametrize("seed", range(6))
def test_ranges_come_back_with_who_asks(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "MOST", most)
    monkeypatch.setattr(spool, "buckets", lambda rows: 3)
    random = np.random.default_rng(seed)
    groups, ranges, told = 30, GroupRanges(30, 200), []
    for _ in range(5):
        named = random.integers(0, groups - 1, 20)
        starts, counts = random.integers(0, 1000, 20), random.integers(1, 5, 20)
        ranges.add(named, starts, counts)
        told += zip(named.tolist(), starts.tolist(), counts.tolist(), strict=True)
    asked = random.integers(0, groups, 50)
    if seed % 2:
        asked.sort()
    found = [row for part in ranges.of(asked) for row in zip(*(column.tolist() for column in part), strict=True)]
    wanted = [(i, start, count) for i, a in enumerate(asked.tolist()) for g, start, count in told if g == a]
    assert sorted(found) == sorted(wanted)
    assert ranges.filled == len({g for g, _, _ in told})
