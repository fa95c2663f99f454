"""Where rows of a trace forward ended, against what single records say."""

import json
from collections import Counter
from pathlib import Path

import pytest
from _steps import identity, publish, read, version, write

from provspark.index_store.query import write_walk as within
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.trace import Trace, trace_rows
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.model.writes import Kind
from provspark.testing import worlds
from provspark.testing.oracle import Oracle

RAW = version("/raw", {"a": 6})
PEOPLE = version("/people", {"b": 6}, "b")
CLEAN = version("/clean", {"c": 3}, "c")
LOOKUP = version("/lookup", {"l": 2})
SAME = [(i, i) for i in range(6)]
SEEDS = range(40)
KINDS: tuple[tuple[Kind, ...], ...] = (("data",), ("data", "context"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """/raw → /people, all rows; rows 1, 3 and 5 of /people → /clean."""
    store = Store.open(str(tmp_path / "store"), create=True)
    publish(store, "load", write(PEOPLE, [(RAW, SAME)]))
    publish(store, "clean", write(CLEAN, [(read(PEOPLE), [(0, 1), (1, 3), (2, 5)])]))
    return store


def draw(
    store: Store, name: str, rows: list[int], *kinds: Kind, direction: Direction = "forward", to: str = ""
) -> Trace:
    linker = Linker(Graph([store]))
    start = linker.graph.latest(Dataset.parse(name))
    target = Dataset.parse(to) if to else None
    return trace_rows(linker, start, Runs.of(rows), direction, to=target, kinds=kinds or ("data",))


def told(found: Trace) -> list[tuple[str, str, str, int, int, int, list[int]]]:
    """Task, data sets written and read, the counts, and the rows that ended."""
    return [
        (
            e.step.split("-")[1],
            e.dataset.removeprefix("file://"),
            e.source.removeprefix("file://"),
            e.read,
            e.kept,
            e.context,
            rows.rows().tolist(),
        )
        for e, rows in found.ended.items()
    ]


def test_a_step_that_keeps_none_is_told_with_the_rows_that_ended(store: Store) -> None:
    found = draw(store, "/raw", [4])
    assert [(n.dataset, n.role) for n in found.nodes] == [("file:///raw", "asked"), ("file:///people", "between")]
    assert told(found) == [("clean", "/clean", "/people", 1, 0, 0, [4])]
    (ending,) = found.endings
    assert (ending.write, ending.version, ending.coverage) == (0, identity(PEOPLE), "exact")
    assert found.nodes[ending.node].dataset == "file:///people"


def test_a_step_that_keeps_some_is_told_and_one_that_keeps_all_is_not(store: Store) -> None:
    assert told(draw(store, "/raw", [0, 1, 2, 3])) == [("clean", "/clean", "/people", 4, 2, 0, [0, 2])]
    assert told(draw(store, "/raw", [1, 3])) == []
    assert told(draw(store, "/clean", [0, 1, 2])) == []


def test_a_trace_backward_has_no_endings(store: Store) -> None:
    assert told(draw(store, "/clean", [0], direction="backward")) == []


def test_with_a_target_only_what_ends_on_the_way_to_it_is_told(store: Store) -> None:
    publish(store, "other", write(version("/other", {"o": 1}, "o"), [(read(PEOPLE), [(0, 0)])]))
    report = version("/report", {"r": 1}, "r")
    publish(store, "report", write(report, [(read(CLEAN), [(0, 0)])]))
    every = [
        ("clean", "/clean", "/people", 6, 3, 0, [0, 2, 4]),
        ("other", "/other", "/people", 6, 1, 0, [1, 2, 3, 4, 5]),
        ("report", "/report", "/clean", 3, 1, 0, [1, 2]),
    ]
    assert told(draw(store, "/raw", [*range(6)])) == every
    assert told(draw(store, "/raw", [*range(6)], to="/report")) == [every[0], every[2]]
    assert told(draw(store, "/raw", [*range(6)], to="/clean")) == [every[0]]
    assert told(draw(store, "/raw", [*range(6)], to="/people")) == []


def test_a_row_is_kept_if_any_reading_keeps_it(store: Store) -> None:
    pairs = version("/pairs", {"p": 2}, "p")
    publish(store, "pair", write(pairs, [(read(PEOPLE), [(0, 0), (1, 1)]), (read(PEOPLE), [(0, 1), (1, 2)])]))
    assert told(draw(store, "/people", [0, 2, 3]))[1] == ("pair", "/pairs", "/people", 3, 2, 0, [3])


def test_each_write_of_a_step_and_each_version_that_it_read_has_its_own(store: Store) -> None:
    old, young = version("/old", {"o": 1}, "o"), version("/young", {"y": 1}, "y")
    one = write(old, [(read(PEOPLE), [(0, 0)]), (read(CLEAN), [])])
    publish(store, "split", one, write(young, [(read(PEOPLE), [(0, 1)])]))
    assert [(e.write, e.dataset, e.source, e.read, e.kept) for e in draw(store, "/people", [0, 1]).endings] == [
        (0, "file:///clean", "file:///people", 2, 1),
        (0, "file:///old", "file:///clean", 1, 0),
        (0, "file:///old", "file:///people", 2, 1),
        (1, "file:///young", "file:///people", 2, 1),
    ]


def test_a_row_that_values_were_computed_from_is_kept_where_context_is_followed(store: Store) -> None:
    report = version("/report", {"r": 1}, "r")
    publish(store, "report", write(report, [(read(CLEAN), [(0, 0)]), (LOOKUP, [(0, 1)], "context")]))
    assert told(draw(store, "/lookup", [0, 1])) == [("report", "/report", "/lookup", 2, 0, 1, [0, 1])]
    assert told(draw(store, "/lookup", [0, 1], "data", "context")) == [("report", "/report", "/lookup", 2, 1, 0, [0])]


def test_a_write_without_rows_keeps_none(store: Store) -> None:
    publish(store, "empty", write(version("/empty", {"e": 0}, "e"), [(read(PEOPLE), [])]))
    assert ("empty", "/empty", "/people", 1, 0, 0, [1]) in told(draw(store, "/people", [1]))


def test_untracked_writes_are_stops_and_coarse_ones_keep_what_they_count_as_made_from(store: Store) -> None:
    dark, blurred = version("/dark", {"d": 1}, "d"), version("/blurred", {"x": 2}, "x")
    publish(store, "dark", write(dark, [(read(CLEAN), [])], coverage="untracked"))
    publish(store, "blur", write(blurred, [(read(CLEAN), [(o, s) for o in (0, 1) for s in (0, 1)])], coverage="coarse"))
    found = draw(store, "/clean", [0, 1])
    assert told(found) == []
    assert {s.what for s in found.stops} == {"untracked", "coarse"}
    (ending,) = draw(store, "/clean", [2]).endings  # a filter before the function left it out
    assert (ending.dataset, ending.coverage) == ("file:///blurred", "coarse")


def test_a_superseded_try_is_not_told(store: Store) -> None:
    out = version("/out", {"o": 1}, "o")
    publish(store, "again", write(version("/out", {"f": 1}, "f"), [(read(PEOPLE), [(0, 0)])]), status="failed")
    assert [t[0] for t in told(draw(store, "/people", [1]))] == ["again"]
    publish(store, "again", write(out, [(read(PEOPLE), [(0, 1)])]), try_number=2)
    assert told(draw(store, "/people", [1])) == []
    assert told(draw(store, "/people", [3])) == [("again", "/out", "/people", 1, 0, 0, [3])]


def test_rows_of_files_that_do_not_match_are_a_stop_and_not_read(store: Store) -> None:
    more = version("/people", {"b": 7})
    publish(store, "odd", write(version("/odd", {"o": 1}, "o"), [(more, [(0, 0)])]))
    found = draw(store, "/people", [1])
    assert told(found) == []
    assert [s.what for s in found.stops] == ["unlinked"]


def test_endings_travel_as_json(store: Store) -> None:
    whole = draw(store, "/raw", [4]).as_dict()
    assert json.loads(json.dumps(whole)) == whole
    (ending,) = whole["endings"]
    assert {k: ending[k] for k in ("dataset", "source", "read", "kept", "node")} == {
        "dataset": "file:///clean",
        "source": "file:///people",
        "read": 1,
        "kept": 0,
        "node": 1,
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_endings_equal_what_single_records_say(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = worlds.random_world(seed)
    store = Store.open(str(tmp_path / "store"), create=True)
    worlds.publish(world, store)
    monkeypatch.setattr(within, "ROWS_AT_ONCE", int(world.random.choice([1, 3, 1 << 22])))
    linker = Linker(Graph([store]))
    for at in {v.id: v for w in world.writes for v in (w.output, *(v for v, _ in w.inputs))}.values():
        start = linker.graph.find(Dataset.parse(at.dataset), at.id)
        rows = [r for r in range(at.rows) if world.random.random() < 0.5]
        for kinds in KINDS:
            found = trace_rows(linker, start, Runs.of(rows), "forward", kinds=kinds)
            got = {
                (e.dataset.removeprefix("file://"), e.step, e.write, e.version): (
                    e.read,
                    e.kept,
                    e.context,
                    r.rows().tolist(),
                )
                for e, r in found.ended.items()
            }
            assert got == mirror(world, [at.records[r] for r in rows], kinds), (at.dataset, kinds)
            assert all(found.nodes[e.node].version == e.version for e in found.endings)


def mirror(world: worlds.World, asked: list[worlds.Record], kinds: tuple[str, ...]) -> dict[object, object]:
    """The same, record by record."""
    oracle = Oracle(world)
    met, waiting = set(asked), [*asked]
    while waiting:
        for e in oracle.ahead.get(waiting.pop(), ()):
            if e.kind in kinds and e.out not in met:
                met.add(e.out)
                waiting.append(e.out)
    found: dict[object, object] = {}
    for w in world.writes:
        if not w.tracked or not oracle.counts[w.number]:
            continue
        number = [x.number for x in world.writes if x.step == w.step].index(w.number)
        for v in {v for v, _ in w.inputs}:
            edges = [e for e in world.edges if e.write == w.number and e.version == v]
            read = {r for r, record in enumerate(v.records) if record in met}
            kept = {e.row for e in edges if e.kind in kinds} & read
            used = {e.row for e in edges} & read - kept
            if kept != read:
                key = w.output.dataset, world.steps[w.step].key.id, number, v.id
                found[key] = len(read), len(kept), len(used), sorted(read - kept)
    return found


def test_the_pipelines_hold_what_they_are_for() -> None:
    found: Counter[str] = Counter()
    for seed in SEEDS:
        world = worlds.random_world(seed)
        for w in world.writes:
            for v in {v for v, _ in w.inputs}:
                kept = {e.row for e in world.edges if e.write == w.number and e.version == v and e.kind == "data"}
                found["some"] += w.tracked and 0 < len(kept) < v.rows
                found["none"] += w.tracked and not kept and v.rows > 0
                found["read twice"] += w.tracked and sum(v == x for x, _ in w.inputs) > 1
        found["context"] += any(e.kind == "context" for e in world.edges)
    assert len(found) == 4
    assert min(found.values()) >= 3, found
