import json
from pathlib import Path

import pytest
from _steps import identity, publish, read, version, write

from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.trace import Trace, trace_rows
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.model.writes import Kind

SOURCE, LOOKUP = version("/in", {"a": 4}), version("/lookup", {"l": 2})
MIDDLE = version("/mid", {"p=0/m": 2, "p=1/m": 2}, ["p=0/m", "p=1/m"])
PART = version("/mid/p=1", {"m": 2})
REPORT = version("/report", {"r": 1}, "r")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """/in → /mid; /mid/p=1 twice and /lookup → /report."""
    store = Store.open(str(tmp_path / "store"), create=True)
    publish(store, "clean", write(MIDDLE, [(SOURCE, [(i, i) for i in range(4)])]))
    readings = [(PART, [(0, 0), (0, 1)]), (PART, [(0, 1)]), (LOOKUP, [(0, 1)], "context")]
    publish(store, "join", write(REPORT, readings))
    return store


def draw(store: Store, name: str, rows: list[int], direction: Direction, *kinds: Kind, to: str = "") -> Trace:
    linker = Linker(Graph([store]))
    start = linker.graph.latest(Dataset.parse(name))
    target = Dataset.parse(to) if to else None
    return trace_rows(linker, start, Runs.of(rows), direction, to=target, kinds=kinds or ("data",))


def test_a_trace_holds_each_version_once_with_its_rows(store: Store) -> None:
    found = draw(store, "/report", [0], "backward", "data", "context")
    assert [(n.dataset, n.role, n.total, n.data.rows().tolist(), n.context.rows().tolist()) for n in found.nodes] == [
        ("file:///report", "asked", 1, [0], []),
        ("file:///mid/p=1", "between", 2, [0, 1], []),
        ("file:///lookup", "end", 2, [], [1]),
        ("file:///mid", "between", 4, [2, 3], []),
        ("file:///in", "end", 4, [2, 3], []),
    ]
    assert [n.id for n in found.nodes] == [0, 1, 2, 3, 4]
    assert found.nodes[1].version == identity(PART)
    edges = {(e.source, e.target, e.step.split("-")[1] if e.step else "", e.kind, e.occurrence) for e in found.edges}
    assert edges == {
        (1, 0, "join", "data", 0),
        (1, 0, "join", "data", 1),
        (2, 0, "join", "context", 0),
        (3, 1, "", "data", -1),
        (4, 3, "clean", "data", 0),
    }


def test_forward_edges_point_as_data_flows(store: Store) -> None:
    found = draw(store, "/in", [1, 2], "forward")
    assert [(n.dataset, n.role, n.data.rows().tolist()) for n in found.nodes] == [
        ("file:///in", "asked", [1, 2]),
        ("file:///mid", "end", [1, 2]),
        ("file:///mid/p=1", "between", [0]),
        ("file:///report", "end", [0]),
    ]
    assert {(e.source, e.target) for e in found.edges} == {(0, 1), (1, 2), (2, 3)}


def test_versions_of_one_id_are_one_node(store: Store) -> None:
    publish(store, "more", write(version("/more", {"o": 1}, "o"), [(read(REPORT), [(0, 0)])]))
    found = draw(store, "/more", [0], "backward", to="/report")
    assert [n.dataset for n in found.nodes] == ["file:///more", "file:///report"]
    assert len(found.edges) == 1


def test_stops_are_told_and_never_raised(store: Store) -> None:
    dark = version("/dark", {"d": 1}, "d")
    publish(store, "dark", write(dark, [(read(REPORT), [])], coverage="untracked"))
    found = draw(store, "/dark", [0], "backward")
    assert [n.dataset for n in found.nodes] == ["file:///dark"]
    assert [s.what for s in found.stops] == ["untracked"]


def test_a_trace_travels_as_json(store: Store) -> None:
    whole = draw(store, "/report", [0], "backward", "data", "context").as_dict()
    assert json.loads(json.dumps(whole)) == whole
    assert whole["nodes"][1]["data"] == {"count": 2, "runs": [[0, 2]]}
    short = draw(store, "/in", [0, 2], "forward").as_dict(max_runs=1)
    assert short["nodes"][0]["data"] == {"count": 2, "runs": [[0, 1]]}
