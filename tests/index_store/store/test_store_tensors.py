"""Tensors written and looked up by either axis, against brute force, at every shape of file that the writer makes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from _store_help import stored

from provspark.index_store.store import writer
from provspark.index_store.store.store import Store
from provspark.index_store.store.tensors import encoding
from provspark.index_store.store.tensors import file_choice as choosing
from provspark.index_store.store.tensors.encoding import BoxFile
from provspark.index_store.store.verification import verify
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes import pairs as box
from provspark.model.runs import Runs, expand
from provspark.testing.oracle import Pairs, cells, runs_of, within


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "a store"), create=True)


def check(store: Store, task: str, boxes: Boxes, n_out: int, n_src: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Store a tensor, ask it in both orders; return the kinds of its files."""
    pairs: Pairs = set(cells(boxes))
    manifest = stored(store, task, boxes, n_out, n_src)
    tensor = manifest.writes[0].tensors[0]
    assert tensor.edges == len(pairs)
    fresh = Store.open(store.url)
    for order, size in (("out", n_out), ("src", n_src)):
        asked = fresh.tensor(manifest.step, tensor, order)
        assert sorted(cells(asked.all())) == sorted(pairs)
        for _ in range(6):
            starts, lengths = runs_of(rng.integers(0, size + 2, int(rng.integers(0, 12))).tolist())
            got = asked.lookup(starts, lengths)
            assert sorted(cells(got)) == sorted(within(pairs, starts, lengths, order))
            ends = (got.src, got.n_src) if order == "out" else (got.out, got.n_out)
            there = [Runs.united(*part) for part in asked.across(starts, lengths)]
            assert {int(r) for runs in there for r in runs.rows()} == set(expand(*ends).tolist())
            lead = got.out if order == "out" else got.src
            assert (lead[1:] >= lead[:-1]).all()
    assert verify(fresh, [manifest.step]) == []
    names = [p for p in (tensor.by_out, tensor.by_src) if p]
    return tuple(fresh.tensor_file(manifest.step, p).layout.holds for p in names)


def shapes(rng: np.random.Generator, kind: int) -> tuple[Boxes, int, int]:
    n = int(rng.integers(0, 120))
    if kind == 0:
        return box.from_pairs(rng.integers(0, 40, n), rng.integers(0, 40, n)), 40, 40
    if kind == 1:
        return box.from_pairs(np.arange(200), rng.permutation(200)), 200, 200
    if kind == 2:
        return box.from_pairs(np.arange(200), np.argsort(np.arange(200) % 4, kind="stable")), 200, 200
    if kind == 3:
        return box.from_ranges(rng.integers(0, 40, n), rng.integers(0, 40, n), rng.integers(0, 6, n)), 40, 46
    if kind == 4:
        return box.transpose(shapes(rng, 3)[0]), 46, 40
    wide = rng.integers(1, 30, n) * (rng.random(n) < 0.2) + 1
    start = rng.integers(0, 60, n)
    return Boxes(start, wide, rng.permutation(n), np.where(wide > 9, wide, 1), wide > 9), 90, n + 30


def test_lookups_equal_brute_force_whatever_the_files(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2024)
    seen = set()
    for i in range(120):
        monkeypatch.setattr(encoding, "PAGE_ROWS", int(rng.integers(1, 7)))
        monkeypatch.setattr(choosing, "_FEW", int(rng.integers(1, 9)))
        monkeypatch.setattr(choosing, "_BLOCKS", int(rng.integers(2, 20)))
        monkeypatch.setattr(choosing, "_LOCAL", float(rng.choice([1.5, 4])))
        seen.add(check(store, f"t{i}", *shapes(rng, i % 6), rng))
    assert seen == {("boxes",), ("boxes", "boxes"), ("boxes", "guide"), ("guide", "boxes")}


def test_boxes_that_reach_far_over_later_row_groups_are_found(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "PAGE_ROWS", 4)
    monkeypatch.setattr(choosing, "_FEW", 1)
    monkeypatch.setattr(choosing, "_LOCAL", 1.5)
    n = 64
    out = np.concatenate([[0, 1], np.arange(n)])
    n_out = np.concatenate([[n, n - 1], np.ones(n, dtype=np.int64)])
    src = np.concatenate([[0, 1000], np.arange(2000, 2000 + n) + np.arange(n) % 3])
    n_src = np.concatenate([[1, n - 1], np.ones(n, dtype=np.int64)])
    boxes = Boxes(out, n_out, src, n_src, np.arange(n + 2) == 1)
    rng = np.random.default_rng(1)
    check(store, "nested", boxes, n, 3000, rng)


@pytest.mark.parametrize(
    ("boxes", "rows"),
    [
        (Boxes.empty(), 10),
        (box.from_pairs(np.arange(10), np.arange(10)), 10),
        (box.from_ranges(np.arange(10), np.zeros(10, dtype=np.int64), np.full(10, 10)), 10),
    ],
)
def test_no_box_and_one_box(store: Store, boxes: Boxes, rows: int) -> None:
    assert check(store, "few", boxes, rows, rows, np.random.default_rng(0)) == ("boxes",)


@pytest.mark.parametrize("bits", [7, 8, 15, 16, 23, 24, 30, 31, 32, 40, 55])
def test_row_ids_of_any_width(store: Store, monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    monkeypatch.setattr(encoding, "PAGE_ROWS", 16)
    monkeypatch.setattr(choosing, "_FEW", 1)
    monkeypatch.setattr(choosing, "_LOCAL", 1.5)
    rng = np.random.default_rng(bits)
    size = 2**bits + 1
    src = np.unique(np.append(rng.integers(0, size, 99), size - 1))
    for task, rows in (("rising", src), ("shuffled", rng.permutation(src))):
        one = np.ones(len(rows), dtype=np.int64)
        boxes = Boxes(np.arange(len(rows)), one, rows, one, one == 0)
        manifest = stored(store, task, boxes, len(rows), size)
        tensor = manifest.writes[0].tensors[0]
        assert cells(store.tensor(manifest.step, tensor, "out").all()) == cells(boxes)
        for at in rng.integers(0, len(rows), 5).tolist():
            assert cells(store.tensor(manifest.step, tensor, "src").lookup(rows[at : at + 1], one[:1])) == [
                (at, int(rows[at]))
            ]


def test_no_run_and_runs_past_the_end(store: Store) -> None:
    manifest = stored(store, "t", box.from_pairs(np.arange(10), np.arange(10)), 10, 10)
    reader = store.tensor(manifest.step, manifest.writes[0].tensors[0], "src")
    none = np.zeros(0, dtype=np.int64)
    assert len(reader.lookup(none, none)) == 0
    assert cells(reader.lookup(np.array([8]), np.array([100]))) == [(8, 8), (9, 9)]


def test_overlapping_boxes_are_stored_as_a_set(store: Store) -> None:
    boxes = Boxes(
        *(np.array(a, dtype=np.int64) for a in ([0, 0, 2], [5, 5, 3], [0, 2, 2], [5, 1, 3])),
        np.array([True, False, False]),
    )
    manifest = stored(store, "t", boxes, 5, 5)
    tensor = manifest.writes[0].tensors[0]
    got = cells(store.tensor(manifest.step, tensor, "out").all())
    assert sorted(got) == sorted(set(cells(boxes)))
    assert tensor.edges == len(got)


def sizes(store: Store, step: str) -> int:
    return sum(f.size for f in store.manifest(step).files if f.path.startswith("tensors/"))


def bulk(name: str, n: int, rng: np.random.Generator) -> tuple[Int64, Int64]:
    kept = np.flatnonzero(rng.random(n) < 0.5)
    return {
        "identity": (np.arange(n), np.arange(n)),
        "filter": (np.arange(len(kept)), kept),
        "group": (np.sort(rng.integers(0, n // 4, n)), np.arange(n)),
        "shuffled": (np.arange(n), rng.permutation(n)),
    }[name]


@pytest.mark.parametrize(("name", "most"), [("identity", 0.01), ("filter", 0.4), ("group", 0.6), ("shuffled", 4.0)])
def test_bytes_an_edge_both_directions(store: Store, name: str, most: float) -> None:
    n = 400_000
    out, src = bulk(name, n, np.random.default_rng(8))
    manifest = stored(store, name, box.from_pairs(out, src), n, n)
    assert sizes(store, manifest.step) / len(out) < most


def test_files_are_plain_parquet_with_page_checksums(store: Store, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    manifest = stored(store, "t", box.from_pairs(np.arange(50_000), rng.permutation(50_000)), 50_000, 50_000)
    for listed in manifest.files:
        path = tmp_path / "a store" / "steps" / manifest.step / listed.path
        file = pq.ParquetFile(path, page_checksum_verification=True)
        assert file.read().num_rows == file.metadata.num_rows
        if listed.path.startswith("tensors/"):
            kept = store.tensor_file(manifest.step, listed.path).layout
            last = file.metadata.row_group(file.metadata.num_row_groups - 1)
            column = last.column(last.num_columns - 1)
            first_page = column.data_page_offset
            spans = kept.spans[column.path_in_schema]
            assert first_page + column.total_compressed_size == int((spans.at + spans.size)[-1])
            assert spans.at[0] + spans.lists[2][0] > file.metadata.row_group(0).column(0).data_page_offset
            assert kept.rows == file.metadata.num_rows
            packed = {last.column(i).path_in_schema: last.column(i).compression for i in range(last.num_columns)}
            assert packed == {n: {"zstd": "ZSTD", "none": "UNCOMPRESSED"}[kept.columns[n].codec] for n in kept.spans}


def test_three_million_rows_are_cut_into_row_groups_and_looked_up_by_either_axis(store: Store) -> None:
    n = 3_000_000
    rng = np.random.default_rng(4)
    src = rng.permutation(n)
    manifest = stored(store, "large", box.from_pairs(np.arange(n), src), n, n)
    tensor = manifest.writes[0].tensors[0]
    assert tensor.edges == n
    fresh = Store.open(store.url)
    assert len(fresh.tensor_file(manifest.step, tensor.by_out).layout.out_low) > 1000
    rows = np.unique(rng.integers(0, n, 50))
    one = np.ones(len(rows), dtype=np.int64)
    got = fresh.tensor(manifest.step, tensor, "out").lookup(rows, one)
    assert np.array_equal(got.src, src[rows])
    got = fresh.tensor(manifest.step, tensor, "src").lookup(np.sort(src[rows]), one)
    assert np.array_equal(np.sort(got.out), rows)


@pytest.mark.parametrize("name", ["dimension", "shuffled", "joined", "groups"])
def test_files_chosen_by_a_sample_are_hardly_larger_than_the_smallest(name: str) -> None:
    n = 200_000
    rng = np.random.default_rng(21)
    group = np.argsort(rng.integers(0, 170, n), kind="stable")
    src = {
        "dimension": rng.integers(0, 25, n),
        "shuffled": rng.permutation(n),
        "joined": np.repeat(rng.permutation(n // 4), 4)[group],
        "groups": group,
    }[name]
    boxes = box.from_pairs(np.arange(n), src)
    turned = box.transpose(box.sort(box.transpose(boxes)))
    by_out, by_src = (len(BoxFile(b, "out").data()[0]) for b in (boxes, turned))
    covers = ((boxes, "src"), (turned, "out"))
    guide, guide_out = (len(BoxFile(writer._cover(b, axis), "out").data()[0]) for b, axis in covers)
    best = min(by_out + guide, by_src + guide_out, by_out + by_src)
    assert choosing.chosen(boxes, BoxFile(boxes, "out")) != "one"
    assert sum(len(file.data()[0]) for file in writer.encode(boxes)) <= 1.35 * best
