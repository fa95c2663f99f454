"""Exports of a small pipeline, read back by others' readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from _steps import publish, read, version, write

import provspark
from provspark.errors import ConditionError, SettingsError
from provspark.index_store.export.tables import write_table
from provspark.index_store.store.store import Store

MADE = {(0, 0, 0), (1, 2, 0), (1, 2, 1), (2, 3, 1)}
"""Row of /mid, row of /in, occurrence."""
REPORT, CONTEXT = {(0, 0), (0, 1), (1, 2)}, {(0, 2)}


@pytest.fixture
def prov(tmp_path: Path) -> provspark.Provenance:
    """/in → /mid, that reads it twice → /report, with a context edge; row 1 of /in is dropped."""
    store = Store.open(str(tmp_path / "prov"), create=True)
    source, mid, report = (
        version("/in", {"a": 4}),
        version("/mid", {"b": 3}, ["b"]),
        version("/report", {"c": 2}, ["c"]),
    )
    publish(store, "clean", write(mid, [(source, [(o, s) for o, s, k in MADE if k == n]) for n in (0, 1)]))
    publish(store, "report", write(report, [(read(mid), REPORT), (read(mid), CONTEXT, "context")]))
    return provspark.open(str(tmp_path / "prov"))


def test_prov_json_is_read_back_by_the_prov_package(prov: provspark.Provenance) -> None:
    model = pytest.importorskip("prov.model")
    near = prov.neighbourhood("/in", direction="forward", kinds=("data", "context"))
    document = model.ProvDocument.deserialize(content=json.dumps(near.prov_json()), format="json")

    def told(sort: Any) -> set[tuple[str, ...]]:
        found = set()
        for record in document.get_records(sort):
            found.add(
                tuple(str(v).rsplit("/", 1)[-1] if n.localpart != "time" else "" for n, v in record.formal_attributes)
            )
        return found

    assert {t[:2] for t in told(model.ProvDerivation)} == {(str(o), str(s)) for o, s, _ in MADE} | {
        (str(o), str(s)) for o, s in REPORT
    }
    assert len(list(document.get_records(model.ProvDerivation))) == len(MADE) + len(REPORT)
    assert len(list(document.get_records(model.ProvUsage))) == len({s for _, s, _ in MADE}) + 3
    (dropped,) = document.get_records(model.ProvInvalidation)
    assert str(dropped.formal_attributes[0][1]).endswith("/1")
    assert "clean" in str(dropped.formal_attributes[1][1])
    activities = {str(a.identifier) for a in document.get_records(model.ProvActivity)}
    entities = {str(e.identifier) for e in document.get_records(model.ProvEntity)}
    assert len(activities) == 2
    assert len(entities) == 3 + 4 + 3 + 2
    for relation in document.get_records(model.ProvRelation):
        for name, value in relation.formal_attributes:
            if value is not None and name.localpart != "time":
                assert str(value) in activities | entities, relation
    assert len(list(document.get_records(model.ProvMembership))) == 4 + 3 + 2


def test_graphs_are_read_back_by_networkx(prov: provspark.Provenance, tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    near = prov.neighbourhood("/report", [0])
    graph = near.networkx()
    again = networkx.node_link_graph(json.loads(json.dumps(near.node_link())), edges="links")
    (tmp_path / "g.graphml").write_text(near.graphml(), encoding="utf-8")
    third = networkx.read_graphml(tmp_path / "g.graphml", force_multigraph=True)
    for other in (again, third):
        assert dict(other.nodes(data=True)) == dict(graph.nodes(data=True))
        edges = [sorted((a, b, sorted(d.items())) for a, b, d in g.edges(data=True)) for g in (graph, other)]
        assert [(a, b) for a, b, _ in edges[0]] == [(a, b) for a, b, _ in edges[1]]
        assert [dict(d)["kind"] for *_, d in edges[0]] == [dict(d)["kind"] for *_, d in edges[1]]
    name = {(d["dataset"], d["row"]): n for n, d in graph.nodes(data=True)}
    assert set(name) == {
        ("file:///report", 0),
        *(("file:///mid", r) for r in (0, 1)),
        *(("file:///in", r) for r in (0, 2)),
    }
    assert graph.number_of_edges(name["file:///in", 2], name["file:///mid", 1]) == 2
    assert networkx.ancestors(graph, name["file:///report", 0]) == set(name.values()) - {name["file:///report", 0]}


def test_hops_directions_and_limits(prov: provspark.Provenance) -> None:
    def rows(*args: Any, **how: Any) -> set[tuple[str, int]]:
        return {(r.dataset[8:], r.row) for r in prov.neighbourhood(*args, **how).rows}

    assert rows("/report", [1], hops=1) == {("report", 1), ("mid", 2)}
    assert rows("/report", [1], hops=0) == {("report", 1)}
    assert rows("/mid", [2], "both") == {("in", 3), ("mid", 2), ("report", 1)}
    assert rows("/mid", [2], "both", kinds=("data", "context")) == {("in", 3), ("mid", 2), ("report", 0), ("report", 1)}
    assert [(r.row, step[:5]) for r, step, _ in prov.neighbourhood("/in", [1, 0], "forward").dropped] == [(1, "dag-c")]
    with pytest.raises(ConditionError, match="more than 3 edges"):
        prov.neighbourhood("/report", limit=3)
    with pytest.raises(ConditionError, match="direction must be"):
        prov.neighbourhood("/report", direction="up")  # type: ignore[arg-type]


def test_tables_as_files(prov: provspark.Provenance, tmp_path: Path) -> None:
    table = prov.backward("/report").table()
    write_table(table, tmp_path / "a.csv")
    write_table(table, tmp_path / "a.parquet")
    assert pyarrow.csv.read_csv(tmp_path / "a.csv").to_pylist() == table.to_pylist()
    again = pq.read_table(tmp_path / "a.parquet")
    assert again.to_pylist() == table.to_pylist()
    assert provspark.api.stops_of(again) == provspark.api.stops_of(table)
    write_table(prov.steps().table(), tmp_path / "steps.csv")
    assert "file:///mid" in (tmp_path / "steps.csv").read_text()
    with pytest.raises(SettingsError, match=r"\.csv or \.parquet"):
        write_table(table, tmp_path / "a.xlsx")
    with pytest.raises(SettingsError, match="can't be written"):
        write_table(table, tmp_path / "none" / "a.csv")
