"""Rows followed through what a driver read: possible edges, ends, stops, and what is trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from _steps import identity, publish, read, version, write

import provspark
from provspark.api import Provenance
from provspark.errors import ArgumentError, UntrackedError
from provspark.index_store.query.answer import ends_of, possible_of, stops_of, trusted_of
from provspark.index_store.store.store import Store
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Field
from provspark.model.driver_datasets import driver_version
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import Manifest, StepKey
from provspark.model.writes import Axis, Kind, Untracked

COLUMN = (Field("a", "int"),)
SOURCE = replace(version("/src", {"a": 4}), fields=COLUMN)
READ, COUNT = "clean.py:3", "clean.py:5"
Pair = tuple[int, int]


class Script:
    """A step whose driver reads, under the hands of a test."""

    def __init__(self, store: Store, task: str = "clean") -> None:
        self.writer = store.writer(key := StepKey(task, "run", "dag"))
        self.step, self.rows, self.calls = key.id, 0, 0

    def read(self, site: str, pairs: Iterable[Pair], rows: int, *, single: bool = False, **more: Any) -> PendingVersion:
        """Read rows of the source: row k of what is read came from what the pairs say."""
        output = driver_version(self.step, self.calls, site, rows, read_at=more.pop("read_at", 10))
        made = write(output, [(SOURCE, pairs)], coverage=more.pop("coverage", "exact"))
        self.writer.add_read(replace(made, action="DataFrame.collect", single=single, site=site, **more))
        self.calls, self.rows = self.calls + 1, self.rows + rows
        return output

    def write(self, output: PendingVersion, kind: Kind | None, *readings: Any, site: str = "clean.py:9") -> None:
        """Write rows, all of which have all that was read before behind them."""
        made = write(output, readings)
        if kind is not None:
            every, none = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
            boxes = Boxes(none, every * output.files.total, none, every * self.rows, np.zeros(1, dtype=np.bool_))
            axes = (*made.axes, Axis("reads", self.rows))
            made = replace(made, axes=axes, tensors=(*made.tensors, PendingTensor(0, len(axes) - 1, boxes, kind)))
        self.writer.add(replace(made, site=site))

    def publish(self, second: int = 1, **more: Any) -> Manifest:
        at = f"2024-01-01T00:00:{second:02d}.000000"
        return self.writer.publish(status="succeeded", started=at, ended=at, **{"driver_reads": "on", **more})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "store"), create=True)


def opened(store: Store) -> Provenance:
    return provspark.open(store.url)


def found(table: pa.Table) -> set[tuple[int, str, int]]:
    return {(r["row"], r["dataset"], r["related_row"]) for r in table.to_pylist()}


def kinds(table: pa.Table) -> Iterator[str]:
    return (stop.what for stop in stops_of(table))


MADE = replace(version("/made", {"m": 2}, "m"), fields=COLUMN)


@pytest.fixture
def through(store: Store) -> Provenance:
    """Rows 1 and 3 of /src are read, all rows are counted, and /made holds rows that the script made then."""
    script = Script(store)
    script.read(READ, [(0, 1), (1, 3)], 2)
    script.read(COUNT, [(0, k) for k in range(4)], 1, single=True)
    script.write(MADE, "possible", (version("memory://local/clean.py:9", {"": 2}), [(0, 0), (1, 1)]))
    script.publish()
    publish(store, "next", write(replace(version("/next", {"n": 1}, "n"), fields=COLUMN), [(read(MADE), [(0, 1)])]))
    return opened(store)


def test_possible_edges_lead_through_the_driver_and_are_kept_apart(through: Provenance) -> None:
    back = through.backward("/next", to="/src").table()
    assert back.num_rows == 0
    assert found(possible_of(back)) == {(0, "file:///src", 1), (0, "file:///src", 3)}
    ahead = through.forward("/src", [1], to="/next").table()
    assert ahead.num_rows == 0
    assert found(possible_of(ahead)) == {(1, "file:///next", 0)}
    assert set(possible_of(ahead)["kind"].to_pylist()) == {"possible"}
    assert found(through.forward("/src", [1], to="/next", kinds=["data", "possible"]).table()) == {
        (1, "file:///next", 0)
    }


def test_a_row_that_was_not_read_has_none(through: Provenance) -> None:
    for more in ({}, {"to": "/next"}):
        ahead = through.forward("/src", [0], **more).table()
        assert (ahead.num_rows, possible_of(ahead).num_rows, ends_of(ahead), stops_of(ahead)) == (0, 0, (), ())


def test_rows_that_a_read_leaves_out_are_no_endings(through: Provenance) -> None:
    assert through.trace("/src", [0], "forward").endings == ()
    (ending,) = through.trace("/src", [1], "forward", kinds=["data", "possible"]).endings
    assert (ending.dataset, ending.source, ending.read, ending.kept) == ("file:///next", "file:///made", 2, 1)


def test_a_read_of_one_number_counts_in_strict_answers(through: Provenance) -> None:
    strict = through.forward("/src", [0], to="/next", strict=True).table()
    assert found(possible_of(strict)) == {(0, "file:///next", 0)}
    ended = through.forward("/src", [0], strict=True).table()
    assert [(end.dataset, end.rows) for end in ends_of(ended)] == [("memory://driver/" + COUNT, 1)]
    assert found(possible_of(through.backward("/made", [0], strict=True, to="/src").table())) == {
        (0, "file:///src", k) for k in range(4)
    }


def test_what_only_possibly_went_on_is_an_end(through: Provenance) -> None:
    ended = through.forward("/src").table()
    assert [(end.dataset, end.rows) for end in ends_of(ended)] == [("memory://driver/" + READ, 2)]
    assert ended.num_rows == 0


def test_what_only_a_driver_read_stays_a_result(store: Store) -> None:
    """A preview of what was written takes no line away; what surely went on from there does."""
    for task, kind in (("preview", None), ("export", "data")):
        output = version(f"/{task}", {"o": 1}, "o")
        publish(store, f"{task}-before", write(output, [(SOURCE, [(0, 1)])]))
        script = Script(store, task)
        found = driver_version(script.step, 0, "show.py:2", 1, read_at=10)
        made = write(found, [(read(output), [(0, 0)])])
        script.writer.add_read(replace(made, action="DataFrame.collect", site="show.py:2"))
        script.rows = 1
        if kind:
            script.write(version("/file.csv", {"": 1}, [""]), kind)  # type: ignore[arg-type]
        script.publish(second=30)
    ahead = opened(store).forward("/src", [1]).table()
    assert found_in(ahead) == {"file:///preview", "file:///file.csv"}
    assert [end.dataset for end in ends_of(ahead)] == ["memory://driver/show.py:2"]


def found_in(table: pa.Table) -> set[str]:
    return set(table["dataset"].to_pylist())


def test_an_answer_without_a_place_to_go_to_has_ends_as_well(through: Provenance) -> None:
    back = through.backward("/next").table()
    assert found(back) == {(0, "memory://local/clean.py:9", 1)}
    assert found(possible_of(back)) == {(0, "file:///src", 1), (0, "file:///src", 3)}


def test_data_edges_read_on(store: Store) -> None:
    script = Script(store)
    script.read(READ, [(0, 1), (1, 3)], 2)
    script.write(version("/file.csv", {"": 1}, [""]), "data")
    script.publish()
    ahead = opened(store).forward("/src", [3]).table()
    assert (found(ahead), ends_of(ahead)) == ({(3, "file:///file.csv", 0)}, ())
    assert found(opened(store).backward("/file.csv").table()) == {(0, "file:///src", 1), (0, "file:///src", 3)}


def test_a_read_after_a_read(store: Store) -> None:
    """A read of rows that the script made after an earlier read has that read behind it, possibly."""
    script = Script(store)
    script.read(READ, [(0, 2)], 1)
    output = driver_version(script.step, 1, "clean.py:7", 2, read_at=10)
    one = np.ones(1, dtype=np.int64)
    boxes = Boxes(one * 0, one * 2, one * 0, one, np.zeros(1, dtype=np.bool_))
    axes = (Axis("output", 2, identity(output)), Axis("reads", 1))
    tensor = PendingTensor(0, 1, boxes, "possible")
    script.writer.add_read(PendingWrite(output, "exact", (), axes, (tensor,), site="clean.py:7", action="first"))
    script.rows += 2
    script.write(MADE, "possible")
    script.publish()
    prov = opened(store)
    assert found(possible_of(prov.forward("/src", [2], to="/made").table())) == {
        (2, "file:///made", 0),
        (2, "file:///made", 1),
    }
    assert [end.dataset for end in ends_of(prov.forward("/src", [2]).table())] == [
        "memory://driver/clean.py:3",
        "memory://driver/clean.py:7",
    ]


def test_only_what_was_read_before_a_write(store: Store) -> None:
    script = Script(store)
    script.read(READ, [(0, 1)], 1)
    script.write(MADE, "possible")
    script.read("clean.py:12", [(0, 2)], 1)
    script.publish()
    prov = opened(store)
    assert found(possible_of(prov.forward("/src", to="/made").table())) == {
        (1, "file:///made", 0),
        (1, "file:///made", 1),
    }
    assert [(e.dataset, e.rows) for e in ends_of(prov.forward("/src", [2]).table())] == [
        ("memory://driver/clean.py:12", 1)
    ]


def test_driver_data_sets_can_be_asked_about(through: Provenance) -> None:
    name = "memory://driver/" + READ
    assert found(through.backward(name, [1]).table()) == {(1, "file:///src", 3)}
    assert found(possible_of(through.forward(name, [1], to="/next").table())) == {(1, "file:///next", 0)}
    assert found(through.forward("/src", to=name).table()) == {(1, name, 0), (3, name, 1)}
    assert name not in through.datasets().table()["dataset"].to_pylist()


def test_a_trace_draws_the_driver(through: Provenance) -> None:
    drawn = through.trace("/next")
    told = {(n.dataset, n.data.count, n.possible.count) for n in drawn.nodes}
    assert told == {
        ("file:///next", 1, 0),
        ("file:///made", 1, 0),
        ("memory://local/clean.py:9", 1, 0),
        ("memory://driver/" + READ, 0, 2),
        ("file:///src", 0, 2),
    }
    names = {n.id: n.dataset for n in drawn.nodes}
    assert ("memory://driver/" + READ, "file:///made", "possible") in {
        (names[e.source], names[e.target], e.kind) for e in drawn.edges
    }
    assert drawn.as_dict()["nodes"][2]["possible"]["count"] >= 0


@pytest.mark.parametrize("by", [READ, "clean.py:9", "clean", "dag.clean", "possible"])
def test_what_is_trusted_is_listed_and_not_followed(through: Provenance, by: str) -> None:
    ahead = through.forward("/src", [1], to="/next", trust=[by]).table()
    assert possible_of(ahead).num_rows == 0
    assert {(t.by, t.what) for t in trusted_of(ahead)} >= {(by, "possible")}
    assert possible_of(through.backward("/next", to="/src", trust=[by]).table()).num_rows == 0


def test_a_trusted_line_is_no_end(through: Provenance) -> None:
    ahead = through.forward("/src", [1], trust=[READ]).table()
    assert ends_of(ahead) == ()
    assert {t.what for t in trusted_of(ahead)} == {"end", "possible"}
    assert ends_of(through.forward("/src", [1], trust=["other.py:3"]).table())


@pytest.mark.parametrize("wrong", [7, [7], [""], {"a": 1}, b"clean", [None]])
def test_bad_trust(through: Provenance, wrong: Any) -> None:
    with pytest.raises(ArgumentError, match="trust takes"):
        through.forward("/src", trust=wrong).table()
    with pytest.raises(ArgumentError, match="strict must be True or False"):
        through.forward("/src", strict=wrong).table()


@pytest.mark.parametrize("given", ["clean", " clean ", "coarse, clean", [" clean\n"], {"clean"}, iter(["clean"])])
def test_trust_is_a_list_or_a_text_that_is_split_at_commas(through: Provenance, given: Any) -> None:
    ahead = through.forward("/src", [1], to="/next", trust=given).table()
    assert {t.by for t in trusted_of(ahead)} == {"clean"}


@pytest.mark.parametrize("given", [None, (), "", " , "])
def test_no_trust(through: Provenance, given: Any) -> None:
    assert trusted_of(through.forward("/src", [1], trust=given).table()) == ()


def test_an_entry_that_names_nothing_is_logged_once(through: Provenance, caplog: pytest.LogCaptureFixture) -> None:
    known = ["clean", "dag.next", READ, "clean.py:9", "possible", "end", "coarse"]
    for _ in range(2):
        through.forward("/src", [1], trust=[*known, "Clean.py:3", "zzz"]).table()
    warned = [(r.name, r.levelname, r.getMessage()) for r in caplog.records]
    assert [w[:2] for w in warned] == [("provspark", "WARNING")] * 2
    assert "trust entry 'Clean.py:3' has no effect" in warned[0][2]
    assert f"Did you mean '{READ}'" in warned[0][2]
    assert "'zzz'" in warned[1][2]
    assert "docs/stops.md" in warned[1][2]


def test_an_uncaptured_read_is_a_stop(store: Store) -> None:
    script = Script(store)
    script.read(READ, [], 1, coverage="untracked")
    script.write(MADE, "possible")
    script.publish()
    prov = opened(store)
    with pytest.raises(UntrackedError, match="opaque function"):
        prov.forward("/src").table()
    with pytest.raises(UntrackedError, match="opaque function"):
        prov.backward("/made", to="/src").table()


def test_steps_that_did_not_record_reads_carry_a_stop(store: Store) -> None:
    off = Script(store, "off")
    off.write(MADE, None, (SOURCE, [(0, 0)]))
    off.publish(driver_reads="off")
    table = opened(store).forward("/src", [0]).table()
    assert list(kinds(table)) == ["driver-reads-off"]
    assert list(kinds(opened(store).backward("/made").table())) == ["driver-reads-off"]
    trusted = opened(store).forward("/src", [0], trust=["driver-reads-off"]).table()
    assert (stops_of(trusted), [t.what for t in trusted_of(trusted)]) == ((), ["driver-reads-off"])


def test_steps_of_older_formats_carry_a_stop() -> None:
    old = provspark.open(Path(__file__).parents[1] / "fixtures" / "format-2" / "store")
    assert "before-format-3" in kinds(old.forward("/data/in").table())
    assert "before-format-3" not in kinds(old.forward("/data/in", trust=["before-format-3"]).table())


# -- data that came back around the steps, and writes whose inputs are not known


def _left(store: Store, source: PendingVersion) -> Provenance:
    """Rows of /src are read at second 10, and /back is made of a source that no captured step wrote."""
    script = Script(store)
    script.read(READ, [(0, 1)], 1, read_at=10_000)
    script.publish()
    publish(store, "next", write(version("/back", {"b": 1}, "b", mtime=30_000), [(source, [(0, 0)])]))
    return opened(store)


@pytest.mark.parametrize(("mtime", "stops"), [(9_999, []), (10_000, ["returned"]), (0, ["returned"])])
def test_an_end_is_a_stop_where_rows_may_have_come_back(store: Store, mtime: int, stops: list[str]) -> None:
    ahead = _left(store, version("/outside", {"o": 1}, mtime=mtime))
    if not stops:
        table = ahead.forward("/src", [1], to="/back").table()
        assert (table.num_rows, list(kinds(table))) == (0, [])
        return
    table = ahead.forward("/src", [1], to="/back").table()
    assert list(kinds(table)) == ["returned"]
    assert "file:///outside" in stops_of(table)[0].why
    assert stops_of(ahead.forward("/src", [1], to="/back", trust=[READ]).table()) == ()
    assert stops_of(ahead.forward("/src", [0], to="/back").table()) == ()


def test_rows_made_in_a_script_are_no_way_back(store: Store) -> None:
    ahead = _left(store, version("memory://local/other.py:3", {"": 1}, mtime=0))
    assert stops_of(ahead.forward("/src", [1], to="/back").table()) == ()


def test_a_write_with_unknown_inputs_is_a_stop_on_the_way_to_it(store: Store) -> None:
    publish(store, "clean", write(MADE, [(SOURCE, [(0, 0)])]))
    lost = PendingWrite(
        version("/lost", {"l": 1}, "l"), "untracked", reason=Untracked("Repartition", "dealt", "j.py:4")
    )
    publish(store, "lost", lost)
    publish(store, "report", write(version("/report", {"r": 1}, "r"), [(read(lost.output), [(0, 0)])]))
    prov = opened(store)
    with pytest.raises(UntrackedError, match="dealt"):
        prov.forward("/src", to="/report").table()
    table = prov.forward("/src", to="/report", trust=["j.py:4"]).table()
    assert (table.num_rows, stops_of(table)) == (0, ())
    assert stops_of(prov.forward("/src", [0], to="/made").table()) == ()
    assert stops_of(prov.forward("/lost", [0], to="/report").table()) == ()  # it lies behind the start


def test_questions_that_do_not_follow_drivers_say_so(through: Provenance) -> None:
    asked: dict[str, pa.Table] = {
        "back": through.columns("/next").table(),
        "ahead": through.columns("/src", direction="forward").table(),
        "cells": through.cells("/src", [1], direction="forward").table(),
        "together": through.co_contributory("/src", [1], to="/src").table(),
    }
    for table in asked.values():
        assert "driver" in kinds(table)
    assert "driver" not in kinds(through.cells("/src", [0], direction="forward").table())
    assert "driver" not in kinds(through.co_contributory("/src", [0], to="/src").table())


def test_answers_in_pages_keep_possible_edges_once(through: Provenance) -> None:
    pages = list(through.forward("/src", to="/next", kinds=["data", "possible"]).pages(1))
    assert sum(page.num_rows for page in pages) == 2
    assert [possible_of(page).num_rows for page in pages] == [2, 0]


def test_answers_combine_what_may_be(through: Provenance) -> None:
    one, other = (through.forward("/src", [k], to="/next") for k in (1, 3))
    both = (one | other).table()
    assert found(possible_of(both)) == {(1, "file:///next", 0), (3, "file:///next", 0)}
    assert found(possible_of((one - other).table())) == found(possible_of(both))


def test_possible_edges_equal_those_worked_out_pair_by_pair(store: Store) -> None:
    """Random reads and writes of one step; the oracle follows single pairs."""
    random = np.random.default_rng(7)
    script, reads, wanted = Script(store), [], set()
    for number in range(12):
        if random.random() < 0.6:
            rows = int(random.integers(0, 4))
            pairs = [(k, int(random.integers(4))) for k in range(rows)]
            script.read(f"clean.py:{number}", pairs, rows)
            reads += [source for _, source in pairs]
        else:
            made = version(f"/made{number}", {"m": 1}, "m")
            script.write(made, "possible" if reads else None)
            wanted |= {(source, f"file:///made{number}") for source in reads}
    script.publish()
    prov = opened(store)
    got = set()
    for name in {name for _, name in wanted}:
        ahead = possible_of(prov.forward("/src", to=name).table())
        back = possible_of(prov.backward(name, to="/src").table())
        got |= {(row, name) for row, _, _ in found(ahead)}
        assert {row for row, _, _ in found(ahead)} == {source for _, _, source in found(back)}
    assert got == wanted


def test_an_exact_tensor_to_one_read(store: Store) -> None:
    """A model that was fitted to one read is the context of what it transforms; other reads are not."""
    script = Script(store)
    script.read(READ, [(0, 0)], 1)
    script.read("clean.py:4", [(0, 1)], 1)
    made = write(MADE, [])
    boxes = from_pairs(np.array([0, 1]), np.array([1, 1]))
    axes = (*made.axes, Axis("reads", 2))
    script.writer.add(replace(made, axes=axes, tensors=(PendingTensor(0, 1, boxes, "context"),)))
    script.publish()
    prov = opened(store)
    ahead = prov.forward("/src", kinds=["data", "context"]).table()
    assert found(ahead) == {(1, "file:///made", 0), (1, "file:///made", 1)}
    assert [end.dataset for end in ends_of(ahead)] == ["memory://driver/" + READ]
