"""Derivations of random pipelines against products written out one by one."""

import itertools
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from provspark.errors import ConditionError, UntrackedError
from provspark.index_store.query.derivations import Derivations
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.index_store.query.relation import labelled
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.walk import Stand
from provspark.index_store.store.store import Store
from provspark.model.boxes import Boxes
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.testing.worlds import MadeWrite, World, publish, random_world

Tuple = dict[tuple[int, ...], int]
MOST = 3000


def spelled(write: MadeWrite, axis: int, row: int, path: tuple[int, ...] = ()) -> list[Tuple]:
    """Every derivation below a row of an axis, as source rows by the numbers of the tensors on the way."""
    if 1 <= axis <= len(write.inputs):
        return [{path: row}]
    legs: list[list[Tuple]] = []
    for number, ((out, src, kind), chosen) in enumerate(write.pairs.items()):
        ends = [s for o, s in sorted(chosen) if (out, o) == (axis, row)]
        if kind == "data" and ends and leads(write, src):
            legs.append([d for s in ends for d in spelled(write, src, s, (*path, number))])
    size = int(np.prod([float(len(leg)) for leg in legs]))
    if size > MOST:
        raise OverflowError
    return [{k: v for part in parts for k, v in part.items()} for parts in itertools.product(*legs)]


def leads(write: MadeWrite, axis: int) -> bool:
    """Whether an axis leads to an input at all."""
    if 1 <= axis <= len(write.inputs):
        return True
    return any(leads(write, src) for out, src, kind in write.pairs if out == axis and kind == "data")


def opened(world: World, folder: Path) -> Linker:
    store = Store.open(str(folder / "store"), create=True)
    publish(world, store)
    return Linker(Graph([store]))


@pytest.mark.parametrize("seed", range(20))
def test_derivations_are_the_products_of_what_was_joined(seed: int, tmp_path: Path) -> None:
    world = random_world(seed)
    linker, random = opened(world, tmp_path), world.random
    for write in world.writes:
        node = next(n for n in linker.graph.nodes if n.output.version.id == write.output.id)
        own = [i for i, (file, _) in enumerate(write.output.records) if file in write.written]
        rows = sorted(random.choice(own, min(len(own), 4), replace=False).tolist()) if own else []
        labels = Runs.of(rows)
        start = Stand(node.output, labelled(labels))
        if not write.tracked:
            if rows:
                with pytest.raises(UntrackedError, match="not captured exactly"):
                    Derivations.of(linker, start, labels)
            continue
        try:
            expected = {row: spelled(write, 0, row) for row in rows}
        except OverflowError:
            continue
        found = Derivations.of(linker, start, labels)
        paths = [found.ways[o][1] for o in found.occurrences]
        size = int(random.choice([1, 7, 65_536]))
        if not rows:
            continue
        assert lines(found, size) == sort((r, *map(d.get, paths)) for r in rows for d in expected[r])
        if not paths:
            continue
        some = sorted(random.choice(len(paths), int(random.integers(1, len(paths) + 1)), replace=False).tolist())
        part = found.project([found.occurrences[i].name for i in some])
        wanted = {(r, *(d.get(paths[i]) for i in some)) for r in rows for d in expected[r]}
        got = lines(part, size)
        assert set(got) == wanted
        assert len(got) == len(wanted) or len(some) == len(paths)
        for number in {int(random.integers(len(paths))) for _ in range(2)}:
            column = found.occurrences[number]
            held = node.inputs[column.version]
            chosen = Runs.of(np.flatnonzero(random.random(held.version.rows) < 0.4))
            found = found.slice(RowSet(held, chosen), column.name)
            inside = set(chosen.rows().tolist())
            expected = {r: [d for d in ds if d.get(paths[number]) in inside] for r, ds in expected.items()}
        assert lines(found, size) == sort((r, *map(d.get, paths)) for r in rows for d in expected[r])
        wanted = {(r, *(d.get(paths[i]) for i in some)) for r in rows for d in expected[r]}
        assert set(lines(found.project(part.occurrences), size)) == wanted


def lines(found: Derivations, size: int) -> list[tuple[int | None, ...]]:
    pages = list(found.batches(size))
    assert all(0 < p.num_rows <= size for p in pages)
    rows = [tuple(line.values()) for p in pages for line in p.to_pylist()]
    labels = [r[0] for r in rows]
    assert labels == sorted(labels)
    return sort(rows)


def sort(rows: Iterable[tuple[int | None, ...]]) -> list[tuple[int | None, ...]]:
    return sorted(rows, key=lambda r: tuple(-1 if v is None else v for v in r))


def test_pages_of_a_product_too_large_to_write_out(tmp_path: Path) -> None:
    from _steps import publish as published
    from _steps import version, write

    store = Store.open(str(tmp_path / "store"), create=True)
    a, out = version("/a", {"f": 3_000_000}), version("/out", {"o": 1}, ["o"])
    one = np.ones(1, dtype=np.int64)
    every = Boxes(one * 0, one, one * 0, one * 3_000_000, one < 0)
    cross = write(out, [(a, [(0, 0)]), (a, [(0, 0)])])
    published(store, "cross", replace(cross, tensors=[replace(t, boxes=every) for t in cross.tensors]))
    linker = Linker(Graph([store]))
    at = linker.graph.latest(Dataset.parse("/out"))
    found = Derivations.of(linker, Stand(at, labelled(Runs.span(1))), Runs.span(1))
    assert [o.name for o in found.occurrences] == ["file:///a#0", "file:///a#1"]
    page = next(found.batches(1000))
    assert page.num_rows == 1000
    assert page.column(2).to_pylist() == list(range(1000))
    assert found.table(limit=5).num_rows == 5
    twice = linker.graph.nodes[0].inputs[found.occurrences[0].version]
    with pytest.raises(ConditionError, match="2 occurrences match"):
        found.slice(RowSet(twice, Runs.of([7])))
    assert found.slice(RowSet(twice, Runs.of([7])), 0).slice(RowSet(twice, Runs.of([9])), 1).table().to_pylist() == [
        {"row": 0, "file:///a#0": 7, "file:///a#1": 9}
    ]
    with pytest.raises(ConditionError, match="No occurrence 'x'"):
        found.project(["x"])
