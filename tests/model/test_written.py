"""Rows that a write made, told apart from those of its output's version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _steps import publish, read, version, write

from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.driver_datasets import driver_version
from provspark.model.operations import Operation, Operations
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis
from provspark.model.written_rows import written_files, written_rows

SOURCE = version("/in", {"r.csv": 40})
ONE = np.zeros((2, 1), dtype=np.int64)
CLOCK = "2024-01-01T00:00:00.000000"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "prov"), create=True)


def rows(store: Store, *writes: PendingWrite) -> list[int | None]:
    manifest = publish(store, f"load{len(store.steps())}", *writes)
    return [written_rows(store, manifest.step, w) for w in manifest.writes]


def keys(digest: str, total: int, *, mine: bool = True) -> PendingVersion:
    """A table of a database: its version is one file, and a write marks it whole."""
    name = f"keys-{digest}"
    return version("postgres://h:5432/db.t", {name: total}, [name] if mine else [], format="jdbc", keys="id")


def appended(before: int, made: int) -> PendingWrite:
    """Rows from the source into a table that had rows, as capture stores it."""
    table, older = keys("b", before + made), keys("a", before, mine=False)
    carried = [(made + i, i) for i in range(before)]
    return write(table, [(SOURCE, [(i, i) for i in range(made)]), (older, carried)])


def done(write: PendingWrite, *axes: Iterable[int]) -> PendingWrite:
    """The same with operations: a source for each of these readings."""
    sources = [Operation(i, "LogicalRelation", ("source",), "t", axes=tuple(a)) for i, a in enumerate(axes)]
    return replace(write, operations=Operations(tuple(sources)))


def test_four_appends_into_one_folder(store: Store) -> None:
    files: dict[str, int] = {}
    found = []
    for n, made in enumerate((3, 5, 0, 7)):
        files |= {f"{n}-a": made, f"{n}-b": 2}
        out = version("/out", files, {f"{n}-a", f"{n}-b"})
        manifest = publish(store, f"load{n}", write(out, [(SOURCE, [])]))
        (one,) = manifest.writes
        at = store, manifest.step, one
        found.append((one.output.rows, written_rows(*at), written_files(*at)))
    assert found == [(5, 5, 2), (12, 7, 2), (14, 2, 2), (23, 9, 2)]


def test_what_nobody_followed_or_counted_is_not_known(store: Store) -> None:
    out = version("/out", {"a": 3, "b": 4}, {"b"})
    lost = write(out, coverage="untracked")
    uncounted = replace(write(out), output=replace(out, unit="file"))
    assert rows(store, lost, uncounted, write(out, coverage="coarse")) == [None, None, 4]


def test_a_list_that_can_not_be_read(store: Store, tmp_path: Path) -> None:
    manifest = publish(store, "load", write(version("/out", {"a": 3}, {"a"})))
    (one,) = manifest.writes
    path = tmp_path / "prov" / "steps" / manifest.step / one.output.files
    path.write_bytes(path.read_bytes()[:-9])
    assert (written_rows(store, manifest.step, one), written_files(store, manifest.step, one)) == (None, None)


def test_appends_to_a_table_of_a_database(store: Store) -> None:
    """Older rows are in the one file that the write marks as its own."""
    first = write(keys("a", 4), [(SOURCE, [(i, i) for i in range(4)])])
    nothing = write(keys("a", 4), [(SOURCE, []), (keys("a", 4, mine=False), [(i, i) for i in range(4)])])
    assert rows(store, first, appended(4, 3), done(appended(4, 3), [1]), nothing) == [4, 3, 3, 0]


def test_an_append_of_groups_after_reads_on_the_driver(store: Store) -> None:
    """The older rows stand behind the inner axes, and before the reads."""
    plan = appended(4, 3)
    out, source, older = plan.axes
    tensors = (*plan.tensors[:1], replace(plan.tensors[1], src=3), PendingTensor(0, 4, from_pairs(*ONE), "possible"))
    axes = (out, source, Axis("inner", 9, label="Aggregate"), older, Axis("reads", 1))
    writer = store.writer(StepKey("load", "run"))
    read_one = driver_version("load", 0, "load.py:3", 1)
    writer.add_read(replace(write(read_one, [(SOURCE, [(0, 0)])]), action="DataFrame.collect"))
    added = writer.add(replace(plan, axes=axes, tensors=tensors))
    manifest = writer.publish(status="succeeded", started=CLOCK, ended=CLOCK)
    assert written_rows(store, manifest.step, added) == 3


def test_several_writes_of_a_step_that_left_the_same_files(store: Store) -> None:
    """Each has its own list: the second made none of them, and before the third the step had read them."""
    out = version("/out", {"a": 3}, {"a"})
    nothing = replace(out, files=read(out).files)
    assert rows(store, write(out), write(nothing, [(SOURCE, [])]), write(out, [(read(out), [])])) == [3, 0, 3]
    table, older = keys("a", 4), keys("a", 4, mine=False)
    copy = write(version("/copy", {"c": 4}, {"c"}), [(older, [(i, i) for i in range(4)])])
    assert rows(store, copy, write(table, [(SOURCE, [])])) == [4, 4]


def test_a_table_written_over_with_its_own_rows(store: Store) -> None:
    """All rows of the table before are read by the plan: they were written anew."""
    older = keys("a", 4, mine=False)
    itself = write(keys("a", 4), [(older, [(i, i) for i in range(4)])])
    part = write(keys("b", 2), [(older, [(0, 1), (1, 3)])])
    assert rows(store, done(itself, [1]), part) == [4, 2]
    files = write(version("/out", {"a": 4}, {"a"}), [(read(version("/out", {"b": 4})), [(i, i) for i in range(4)])])
    assert rows(store, files) == [4]
