"""Columns followed ahead through datasets that one write appended to another's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _steps import publish, version, write

import provspark
from provspark.index_store.store.store import Store
from provspark.model.boxes import Boxes
from provspark.model.datasets import Field
from provspark.model.driver_datasets import driver_version
from provspark.model.pending import PendingTensor, PendingVersion
from provspark.model.steps import StepKey
from provspark.model.writes import Axis

OLD, NEW = {"f0": 3}, {"f0": 3, "f1": 2}


def made(name: str, files: Mapping[str, int], *written: str) -> PendingVersion:
    return replace(version(name, files, written), fields=(Field("a", "int"),))


def joined(files: Mapping[str, int]) -> PendingVersion:
    """Its version with these files, as a reader sees it."""
    return made("/joined", files)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """/joined has three rows of /other, and then two more of /src."""
    store = Store.open(str(tmp_path / "store"), create=True)
    publish(store, "first", write(made("/joined", OLD, "f0"), [(made("/other", {"o": 3}), [(k, k) for k in range(3)])]))
    publish(store, "second", write(made("/joined", NEW, "f1"), [(made("/src", {"s": 2}), [(3, 0), (4, 1)])]))
    return store


def read_on(store: Store, task: str, files: Mapping[str, int]) -> None:
    rows = sum(files.values())
    output = made(f"/{task}", {"p": rows}, "p")
    publish(store, task, write(output, [(joined(files), [(k, k) for k in range(rows)])]))


def ends(store: Store, start: str = "/src") -> list[str]:
    ahead = provspark.open(store.url).columns(start, "a", direction="forward")
    return [line["dataset"] for line in ahead]


def rows_end(store: Store) -> set[str]:
    return {line["dataset"] for line in provspark.open(store.url).forward("/src")}


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        ({"all": NEW}, ["file:///all"]),
        ({"before": OLD, "all": NEW}, ["file:///all"]),
        ({"before": OLD, "own": {"f1": 2}}, ["file:///own"]),
        ({"before": OLD}, ["file:///joined"]),
        ({}, ["file:///joined"]),
    ],
    ids=["read", "both-read", "parts-read", "only-the-old", "not-read"],
)
def test_columns_end_where_the_rows_that_the_write_made_end(
    store: Store, reads: Mapping[str, Mapping[str, int]], expected: list[str]
) -> None:
    """The files that its output only lists have other rows, which say nothing of where its own went."""
    for task, files in reads.items():
        read_on(store, task, files)
    assert ends(store) == expected
    assert rows_end(store) == set(expected)


def test_files_partly_read_end_in_part(store: Store) -> None:
    publish(
        store, "third", write(made("/more", {"a": 1, "b": 1}, "a", "b"), [(made("/src", {"s": 2}), [(0, 0), (1, 1)])])
    )
    publish(store, "fourth", write(made("/part", {"p": 1}, "p"), [(made("/more", {"a": 1}), [(0, 0)])]))
    read_on(store, "all", NEW)
    assert set(ends(store)) == {"file:///all", "file:///more", "file:///part"} == rows_end(store)


@pytest.mark.parametrize(("files", "stopped"), [(OLD, False), (NEW, True)], ids=["old", "all"])
def test_a_driver_that_read_only_the_older_files_stops_nothing(
    store: Store, files: Mapping[str, int], stopped: bool
) -> None:
    writer = store.writer(key := StepKey("script", "run", "dag"))
    at, rows = joined(files), sum(files.values())
    output = driver_version(key.id, 0, "script.py:1", rows, read_at=10)
    pairs = [(k, k) for k in range(rows)]
    writer.add_read(replace(write(output, [(at, pairs)]), action="DataFrame.collect", site="script.py:1"))
    every, none = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    boxes = Boxes(none, every, none, every * rows, np.zeros(1, dtype=np.bool_))
    after = write(made("/after", {"p": 1}, "p"), [])
    after = replace(after, axes=(*after.axes, Axis("reads", rows)), tensors=(PendingTensor(0, 1, boxes, "possible"),))
    writer.add(after)
    writer.publish(
        status="succeeded", started="2025-01-01T00:00:00.0", ended="2025-01-01T00:00:01.0", driver_reads="on"
    )
    read_on(store, "before", OLD)
    ahead = provspark.open(store.url).columns("/src", "a", direction="forward")
    assert [stop.what for stop in ahead.stops if stop.what == "driver"] == ["driver"] * stopped
