"""Tensors that do not fit memory: through a file they are stored as those in memory are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from _store_help import stored

from provspark.index_store.store.store import Store
from provspark.index_store.store.tensors import encoding
from provspark.index_store.store.tensors import file_choice as choosing
from provspark.index_store.store.verification import verify
from provspark.model.boxes import Boxes, spool
from provspark.model.boxes import pairs as box
from provspark.model.boxes.lists import take
from provspark.model.boxes.spool import Parts, Spool, recut
from provspark.testing.oracle import cells, runs_of, within


def shapes(rng: np.random.Generator, kind: int) -> tuple[Boxes, int, int]:
    n = int(rng.integers(1, 400))
    if kind == 0:
        return box.from_pairs(np.arange(n), rng.permutation(n)), n, n
    if kind == 1:
        return box.from_pairs(np.arange(n), np.sort(rng.integers(0, 40, n))), n, 40
    if kind == 2:
        return box.from_pairs(np.arange(n), np.argsort(np.arange(n) % 5, kind="stable")), n, n
    if kind == 3:
        return box.from_ranges(np.sort(rng.integers(0, 90, n)), rng.integers(0, 300, n), rng.integers(1, 9, n)), 90, 310
    kept = np.flatnonzero(rng.random(n) < 0.8)
    return box.from_pairs(np.arange(len(kept)), kept), n, n


def pieces(boxes: Boxes, rng: np.random.Generator) -> Iterator[Boxes]:
    at = 0
    while at < len(boxes):
        step = int(rng.integers(1, 50))
        yield take(boxes, slice(at, at + step))
        at += step


def spooled(boxes: Boxes, rng: np.random.Generator) -> Spool:
    """Boxes in a file, put there in parts."""
    found = Spool()
    for piece in pieces(boxes, rng):
        found.add(piece)
    return found


def listed(boxes: Boxes, rng: np.random.Generator) -> Parts:
    """Boxes in memory, in parts."""
    return Parts(list(pieces(boxes, rng)))


def test_boxes_come_back_from_the_file_whatever_their_width() -> None:
    rng = np.random.default_rng(5)
    for bits in (7, 8, 15, 16, 31, 32, 33, 50):
        rows = np.sort(rng.integers(0, 2**bits, 30))
        wide = rng.integers(1, 4, 30)
        boxes = Boxes(rows, wide, rows[::-1], np.where(wide > 2, wide, 1), wide > 2)
        found = spooled(boxes, rng)
        assert [cells(b) for b in recut(found.parts(), 30)] == [cells(boxes)]
        assert (len(found), found.edges, found.end) == (30, boxes.edges, int((boxes.src + boxes.n_src).max()))


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
def test_parts_are_cut_anew(rows: int) -> None:
    boxes = box.from_pairs(np.arange(40), np.random.default_rng(0).permutation(40))
    parts = list(recut(spooled(boxes, np.random.default_rng(1)).parts(), rows))
    assert {len(p) for p in parts[:-1]} <= {rows}
    assert box.pairs(box.concat(parts))[1].tolist() == box.pairs(boxes)[1].tolist()


@pytest.mark.parametrize("held", [spooled, listed])
def test_lookups_equal_brute_force(
    held: Callable[[Boxes, np.random.Generator], Parts | Spool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(str(tmp_path / "store"), create=True)
    rng = np.random.default_rng(77)
    monkeypatch.setattr(spool, "_PART", 23)
    seen = set()
    for i in range(60):
        monkeypatch.setattr(encoding, "PAGE_ROWS", int(rng.integers(1, 9)))
        monkeypatch.setattr(encoding, "_GROUP_PAGES", int(rng.integers(1, 5)))
        monkeypatch.setattr(choosing, "_FEW", int(rng.integers(1, 9)))
        monkeypatch.setattr(choosing, "_BLOCKS", int(rng.integers(2, 20)))
        monkeypatch.setattr(spool, "_BUCKET", int(rng.integers(5, 200)))
        boxes, n_out, n_src = shapes(rng, i % 5)
        pairs = set(cells(boxes))
        manifest = stored(store, f"t{i}", held(boxes, rng), n_out, n_src)
        tensor = manifest.writes[0].tensors[0]
        assert tensor.edges == len(pairs)
        seen.add(bool(tensor.by_src))
        for order, size in (("out", n_out), ("src", n_src)):
            reader = store.tensor(manifest.step, tensor, order)
            for _ in range(4):
                starts, lengths = runs_of(rng.integers(0, size + 2, int(rng.integers(0, 12))).tolist())
                assert sorted(cells(reader.lookup(starts, lengths))) == sorted(within(pairs, starts, lengths, order))
        assert verify(store, [manifest.step]) == []
    assert seen == {True, False}


def test_a_file_is_that_of_the_same_boxes_in_memory() -> None:
    rng = np.random.default_rng(3)
    boxes = box.from_pairs(np.arange(400_000), rng.permutation(400_000))
    parts = Parts([take(boxes, slice(at, at + 150_000)) for at in range(0, 400_000, 150_000)])
    in_memory, *others = (encoding.BoxFile(b, "out").data()[0] for b in (boxes, spooled_at_once(boxes), parts))
    assert [in_memory] * 2 == others


def spooled_at_once(boxes: Boxes) -> Spool:
    found = Spool()
    found.add(boxes)
    return found
