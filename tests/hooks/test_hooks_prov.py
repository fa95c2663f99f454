import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _people import people

from provspark.errors import ReplayError, RowOutOfRangeError, SettingsError, UnknownColumnError
from provspark.hooks.prov import ProvHook
from provspark.index_store.catalogue import Catalogue
from provspark.index_store.query.question import QUESTIONS
from provspark.index_store.store.store import Store
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import StepKey
from provspark.model.writes import Axis

KEEPS = [4, 1, 2]
"""The source row of each output row."""


@pytest.fixture
def store(tmp_path: Path) -> str:
    source = tmp_path / "in.txt"
    source.write_text("a\nb\nc\nd\ne\n")
    stat = source.stat()
    came = Files.of([("", stat.st_size, stat.st_mtime_ns // 1_000_000, 5, False)])
    part = tmp_path / "out" / "part-0"
    part.parent.mkdir()
    part.write_bytes(b"x")
    os.utime(part, ns=(1_000_000, 1_000_000))
    went = Files.of([("part-0", 1, 1, 3, True)])
    inside = PendingVersion(Dataset.parse(str(source)), came, "text", fields=(Field("value", "string"),))
    outside = PendingVersion(Dataset.parse(str(tmp_path / "out")), went, "parquet")
    axes = (
        Axis("output", 3, went.identity(outside.dataset)),
        Axis("input", 5, came.identity(inside.dataset), 0),
    )
    boxes = from_pairs(np.arange(3), np.array(KEEPS))
    url = str(tmp_path / "prov")
    writer = Store.open(url, create=True).writer(StepKey("filter", "r1"))
    writer.add(PendingWrite(outside, "exact", (inside,), axes, [PendingTensor(0, 1, boxes)]))
    writer.publish(status="succeeded", started="2026-01-02T03:04:05+00:00", ended="2026-01-02T03:04:06+00:00")
    return url


def connect(monkeypatch: pytest.MonkeyPatch, **extra: Any) -> ProvHook:
    monkeypatch.setenv("AIRFLOW_CONN_PROV", json.dumps({"conn_type": "provspark", "extra": extra}))
    return ProvHook("prov")


def test_questions_go_to_the_store(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = connect(monkeypatch, store=store)
    source, out = str(tmp_path / "in.txt"), str(tmp_path / "out")
    assert hook.backward(out, [0, 2]).table()["related_row"].to_pylist() == [4, 2]
    assert hook.forward(source, [4], to=out).table()["related_row"].to_pylist() == [0]
    assert hook.co_contributory(source, [4], to=out).table()["related_row"].to_pylist() == [0]
    assert hook.co_dependency(out, to=out, via=source).table().num_rows == 0
    assert hook.composition(out, source=source, column="value").table()["value"].to_pylist() == ["e", "b", "c"]
    assert hook.correspondence(out, to=source).using(
        hook.select(source, where=[("value", ">", "b")])
    ).rows().tolist() == [0, 2]
    assert hook.derivations(out, [1]).table().column(1).to_pylist() == [1]
    assert hook.datasets().table()["rows"].to_pylist() == [5, 3]
    assert hook.steps().table()["task_id"].to_pylist() == ["filter"]
    assert hook.trace(out, [0]) is not None
    assert hook.get_conn() is hook.get_conn()
    with pytest.raises(RowOutOfRangeError):
        hook.backward(out, [3]).table()


def test_questions_start_at_the_catalogue(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from provspark.airflow.events import events_from_store

    url = f"sqlite:///{tmp_path}/catalogue.db"
    with Catalogue.open(url) as catalogue:
        for event in events_from_store(store):
            catalogue.ingest(event)
    hook = connect(monkeypatch, store="/no/such/store", catalogue=url)
    assert hook.backward(str(tmp_path / "out"), [1]).table()["related_row"].to_pylist() == [1]


def test_values_of_rows(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = connect(monkeypatch, store=store)
    assert hook.values(str(tmp_path / "in.txt"), KEEPS).table()["value"].to_pylist() == ["e", "b", "c"]
    with pytest.raises(ReplayError, match="kept no operations"):
        hook.operation_profiles(str(tmp_path / "out"), [0])
    assert hook.profile(str(tmp_path / "in.txt"), KEEPS).column("value").low == "b"
    with pytest.raises(UnknownColumnError, match="no column 'valu'; its columns are not known"):
        hook.impact(str(tmp_path / "out"), "valu", source=str(tmp_path / "in.txt"), was={"valu": "value"})


def test_a_connection_can_be_tried(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert connect(monkeypatch, store=store).test_connection() == (True, "2 datasets")
    fine, why = connect(monkeypatch, store="/no/such/store").test_connection()
    assert (fine, "no such folder" in why) == (False, True)


def test_a_connection_without_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="'prov' names neither"):
        connect(monkeypatch).datasets()


def test_operations_columns_and_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = connect(monkeypatch, store=people(tmp_path))
    report = str(tmp_path / "report.csv")
    assert hook.columns(report, "first", existence=False).table()["related_column"].to_pylist() == ["name"]
    assert hook.cells(report, [0], "first").table()["related_row"].to_pylist() == [3]
    assert hook.how(report, [0]).table()["related_row"].to_pylist() == [3]
    assert hook.operations(report).table().num_rows == 5
    assert hook.dropped(str(tmp_path / "people.csv"), "age").table()["into"].to_pylist() == [["band"]]


def test_questions_are_methods_of_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that tests of DAGs can replace them, and nothing opens a connection by looking for one."""
    assert hasattr(ProvHook("none"), "backward") and not hasattr(ProvHook("none"), "no_question")
    for name in QUESTIONS:
        assert callable(getattr(ProvHook, name)) and (getattr(ProvHook, name).__doc__ or "").strip(), name
    monkeypatch.setattr(ProvHook, "backward", lambda hook, dataset: dataset)
    assert ProvHook("none").backward("x") == "x"
