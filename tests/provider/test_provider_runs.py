"""Mapped tasks, retries, backfills, and steps that read what they wrote themselves: answers worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from _steps import Pairs, read, version, write

import provspark
from provspark.index_store.store.store import Store
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.steps import StepKey, StepStatus

DAYS = 3
SOURCE = version("/in", {f"p={day}/in": 4 for day in range(DAYS)})


def publish(store: Store, task: str, ended: int, *writes: PendingWrite, run: str = "r1", **more: Any) -> None:
    status: StepStatus = more.pop("status", "succeeded")
    writer = store.writer(StepKey(task, run, "dag", **more))
    for w in writes:
        writer.add(w)
    clock = f"2024-01-01T00:00:{ended:02d}.000000+00:00"
    writer.publish(status=status, started=clock, ended=clock)


def part(day: int, mtime: int) -> PendingVersion:
    """What one mapped task writes: two rows of its own day."""
    return version(f"/out/p={day}", {"part": 2}, ["part"], mtime=mtime)


def mapped(store: Store, day: int, ended: int, rows: Iterable[int], mtime: int = 1000, **more: Any) -> None:
    pairs = [(o, 4 * day + s) for o, s in enumerate(rows)]
    publish(store, "clean", ended, write(part(day, mtime), [(SOURCE, pairs)]), map_index=day, **more)


def lines(table: Any) -> Pairs:
    return {(x["row"], x["related_row"]) for x in table.to_pylist()}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "prov"), create=True)


def test_mapped_tasks_write_parts_of_what_the_next_one_reads(store: Store) -> None:
    for day in range(DAYS):
        mapped(store, day, 1 + day, [day, 3])
    whole = version("/out", {f"p={day}/part": 2 for day in range(DAYS)})
    publish(store, "sum", 9, write(version("/sum", {"x": 2}, ["x"]), [(whole, [(0, 0), (0, 3), (1, 4)])]))
    prov = provspark.open(store.url)
    assert lines(prov.backward("/sum", to="/in").table()) == {(0, 0), (0, 7), (1, 10)}
    assert lines(prov.forward("/in", [7, 10, 3], to="/sum").table()) == {(7, 0), (10, 1)}
    assert lines(prov.backward("/out/p=2").table()) == {(0, 10), (1, 11)}
    assert prov.steps().table().column("map_index").to_pylist() == [0, 1, 2, -1]


def test_a_retry_of_one_mapped_task_answers_for_that_one_alone(store: Store) -> None:
    mapped(store, 0, 1, [0, 1])
    mapped(store, 1, 2, [0, 1], status="failed")
    mapped(store, 2, 3, [0, 1])
    mapped(store, 1, 4, [2, 3], mtime=2000, try_number=2)
    files = [version(f"/out/p={day}", {"part": 2}, mtime=2000 if day == 1 else 1000) for day in range(DAYS)]
    prov = provspark.open(store.url)
    assert lines(prov.backward("/out/p=1").table()) == {(0, 6), (1, 7)}
    assert lines(prov.forward("/in", range(12)).table()) == {(0, 0), (1, 1), (6, 0), (7, 1), (8, 0), (9, 1)}
    publish(store, "sum", 9, write(version("/sum", {"x": 3}, ["x"]), [(f, [(i, 1)]) for i, f in enumerate(files)]))
    prov.refresh()
    assert lines(prov.backward("/sum", to="/in").table()) == {(0, 1), (1, 7), (2, 9)}


def test_a_backfill_is_latest_though_its_run_is_older(store: Store) -> None:
    for run, ended, mtime in (("monday", 1, 1000), ("tuesday", 2, 2000)):
        mapped(store, 0, ended, [0, 1], mtime, run=run)
    mapped(store, 0, 8, [3, 3], 3000, run="sunday")
    prov = provspark.open(store.url)
    assert (
        lines(prov.backward("/out/p=0").table())
        == lines(prov.backward("/out/p=0", run="sunday").table())
        == {(0, 3), (1, 3)}
    )
    assert lines(prov.backward("/out/p=0", run="monday").table()) == {(0, 0), (1, 1)}
    assert lines(prov.backward("/out/p=0", as_of="2024-01-01T00:00:05Z").table()) == {(0, 0), (1, 1)}
    assert lines(prov.forward("/in", [0, 3], run="tuesday").table()) == {(0, 0)}


def test_a_step_reads_what_it_wrote_before_and_the_same_input_twice(store: Store) -> None:
    first = version("/first", {"x": 3}, ["x"])
    second = version("/second", {"x": 2}, ["x"])
    writes = (
        write(first, [(SOURCE, [(0, 0), (1, 4), (2, 8)])]),
        write(second, [(read(first), [(0, 1), (1, 2)]), (read(first), [(0, 0)]), (SOURCE, [(1, 11)])]),
    )
    publish(store, "both", 1, *writes)
    prov = provspark.open(store.url)
    assert lines(prov.backward("/second", to="/in").table()) == {(0, 4), (0, 0), (1, 8), (1, 11)}
    near = prov.backward("/second", to="/first").table().to_pylist()
    assert [(x["row"], x["occurrence"], x["related_row"]) for x in near] == [(0, 0, 1), (0, 1, 0), (1, 0, 2)]
    assert lines(prov.forward("/in", [0, 8, 11], to="/second").table()) == {(0, 0), (8, 1), (11, 1)}
    assert [x["related_row"] for x in prov.co_contributory("/first", [0], to="/first", via="/second")] == [1]
    assert prov.correspondence("/second", to="/in").counts().to_pydict() == {"row": [0, 1], "count": [2, 2]}
