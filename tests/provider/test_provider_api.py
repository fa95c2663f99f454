import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _steps import publish, read, version, write

import provspark
from provspark.api import stops_of
from provspark.errors import (
    ConditionError,
    RowOutOfRangeError,
    StoreUnreachableError,
    UnknownColumnError,
    UnknownDatasetError,
    UnknownVersionError,
    UntrackedError,
    ValuesUnavailableError,
    VersionChangedError,
)
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.driver_datasets import driver_version
from provspark.model.pending import PendingVersion
from provspark.model.steps import StepKey
from provspark.model.writes import Untracked
from provspark.rebuild import rebuild_from_stores

PEOPLE = {"name": ["Ann", "Bob", "Ann", None], "age": [30, 40, 30, 50]}
FIELDS = (Field("name", "string"), Field("age", "bigint"))
ADULTS = [(0, 0), (1, 2), (2, 3)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store, and /in → /out (rows 0, 2, 3 of it) → /report (rows 0 and 1 of /out in one), with files on disk."""
    store = Store.open(str(tmp_path / "prov"), create=True)
    source = on_disk(tmp_path / "in", {"a.parquet": PEOPLE}, written=False)
    kept = {name: [values[s] for _, s in ADULTS] for name, values in PEOPLE.items()}
    out = on_disk(tmp_path / "out", {"o.parquet": kept}, written=True)
    publish(store, "clean", write(out, [(source, ADULTS)]))
    report = on_disk(tmp_path / "report", {"r.parquet": {"name": ["Ann"], "age": [60]}}, written=True)
    publish(store, "report", write(report, [(read(out), [(0, 0), (0, 1)]), (read(out), [(0, 2)], "context")]))
    return tmp_path


def on_disk(folder: Path, files: dict[str, dict[str, list[object]]], *, written: bool) -> PendingVersion:
    folder.mkdir()
    entries = []
    for name, columns in files.items():
        table = pa.table(columns, pa.schema([("name", pa.string()), ("age", pa.int64())]))
        pq.write_table(table, folder / name)
        stat = (folder / name).stat()
        entries.append((name, stat.st_size, stat.st_mtime_ns // 10**6, len(table), written))
    return PendingVersion(Dataset.parse(str(folder)), Files.of(entries), "parquet", (), FIELDS)


@pytest.fixture
def prov(folder: Path) -> provspark.Provenance:
    return provspark.open(str(folder / "prov"))


def test_backward_and_forward_are_tables(prov: provspark.Provenance, folder: Path) -> None:
    table = prov.backward(str(folder / "report"), rows=[0]).table()
    assert table.column_names == ["row", "dataset", "version", "occurrence", "related_row", "kind"]
    assert table.column("row").type == table.column("related_row").type == pa.int64()
    source = (folder / "in").as_uri()
    version_id = prov.datasets().table().filter(pa.compute.field("dataset") == source).column("version")[0].as_py()
    assert [tuple(line.values()) for line in table.to_pylist()] == [
        (0, source, version_id, 0, 0, "data"),
        (0, source, version_id, 0, 2, "data"),
    ]
    both = prov.backward((folder / "report").as_uri(), rows=[0], kinds=("data", "context")).table()
    assert [(x["related_row"], x["kind"]) for x in both.to_pylist()] == [(0, "data"), (2, "data"), (3, "context")]
    forward = prov.forward(str(folder / "in"), rows=[2, 1, 2]).table()
    assert [(x["row"], x["dataset"], x["related_row"]) for x in forward.to_pylist()] == [
        (2, (folder / "report").as_uri(), 0)
    ]
    to = prov.forward(str(folder / "in"), rows=range(4), to=str(folder / "out")).table()
    assert [(x["row"], x["related_row"]) for x in to.to_pylist()] == [(0, 0), (2, 1), (3, 2)]


@pytest.mark.parametrize("rows", [[0, 1, 2], (2, 0, 1), range(3), np.arange(3, dtype=np.uint8), {2, 1, 0}, None])
def test_rows_in_any_form(prov: provspark.Provenance, folder: Path, rows: object) -> None:
    table = prov.backward(str(folder / "out"), rows=rows).table()  # type: ignore[arg-type]
    assert [(x["row"], x["related_row"]) for x in table.to_pylist()] == ADULTS


def test_rows_of_a_source_are_their_own(prov: provspark.Provenance, folder: Path) -> None:
    table = prov.backward(str(folder / "in"), rows=[3]).table()
    assert [(x["row"], x["occurrence"], x["related_row"]) for x in table.to_pylist()] == [(3, -1, 3)]


def test_rows_selected_by_value(prov: provspark.Provenance, folder: Path) -> None:
    table = prov.forward(str(folder / "in"), where=[("name", "=", "Ann")], to=str(folder / "out")).table()
    assert [(x["row"], x["related_row"]) for x in table.to_pylist()] == [(0, 0), (2, 1)]
    assert prov.values(str(folder / "in"), where=[("age", ">", 35)]).table().column("name").to_pylist() == ["Bob", None]
    found = prov.trace(str(folder / "in"), where=[("name", "is null", None)], direction="forward")
    assert found.nodes[0].data.rows().tolist() == [3]
    with pytest.raises(UnknownColumnError):
        prov.backward(str(folder / "in"), where=[("nome", "=", "Ann")]).table()


def test_set_semantics_answers_for_equal_rows_too(prov: provspark.Provenance, folder: Path) -> None:
    bag = prov.backward(str(folder / "out"), rows=[0, 2]).table()
    assert [(x["row"], x["related_row"]) for x in bag.to_pylist()] == [(0, 0), (2, 3)]
    by_value = prov.backward(str(folder / "out"), rows=[0, 2], semantics="set").table()
    assert [(x["row"], x["related_row"]) for x in by_value.to_pylist()] == [(0, 0), (0, 2), (2, 3)]
    whole = prov.correspondence(str(folder / "out"), to=str(folder / "in"), semantics="set")
    each = prov.backward(str(folder / "out"), to=str(folder / "in"), semantics="set").table()
    assert [(x["row"], x["related_row"]) for x in whole.table().to_pylist()] == [
        (x["row"], x["related_row"]) for x in each.to_pylist()
    ]
    assert whole.edges == each.num_rows > prov.correspondence(str(folder / "out"), to=str(folder / "in")).edges
    some = prov.correspondence(str(folder / "out"), rows=[2, 0], to=str(folder / "in"), semantics="set")
    assert [(x["row"], x["related_row"]) for x in some.table().to_pylist()] == [(0, 0), (0, 2), (2, 3)]
    forward = prov.forward(str(folder / "in"), rows=[0], semantics="set", to=str(folder / "out")).table()
    assert [(x["row"], x["related_row"]) for x in forward.to_pylist()] == [(0, 0), (0, 1)]


def test_values(prov: provspark.Provenance, folder: Path) -> None:
    table = prov.values(str(folder / "in"), rows=[3, 0]).columns_only()
    assert table.to_pydict() == {"name": [None, "Ann"], "age": [50, 30]}
    assert prov.values(str(folder / "in"), rows=[1], columns=["age"]).columns_only().to_pydict() == {"age": [40]}
    file = folder / "in" / "a.parquet"
    pq.write_table(pq.read_table(file).slice(1), file)
    with pytest.raises(VersionChangedError, match=r"a\.parquet (has changed|was written again).*row ids are still"):
        prov.values(str(folder / "in"), rows=[0]).table()
    assert prov.backward(str(folder / "report"), rows=[0]).table().num_rows == 2


def test_datasets_and_steps(prov: provspark.Provenance, folder: Path) -> None:
    lines = prov.datasets().table().to_pylist()
    names = [(folder / n).as_uri() for n in ("in", "out", "report")]
    assert [(x["dataset"], x["versions"], x["rows"], x["role"], x["coverage"]) for x in lines] == [
        (names[0], 1, 4, "source", None),
        (names[1], 1, 3, "derived", "exact"),
        (names[2], 1, 1, "derived", "exact"),
    ]
    assert lines[0]["step"] is None
    steps = prov.steps().table().to_pylist()
    assert [(x["task_id"], x["inputs"], x["outputs"], x["coverage"]) for x in steps] == [
        ("clean", names[:1], names[1:2], "exact"),
        ("report", names[1:2], names[2:], "exact"),
    ]
    assert lines[1]["step"] == steps[0]["step"]
    assert provspark.open(str(Store.open(str(folder / "empty"), create=True).url)).datasets().table().num_rows == 0


def test_lists_have_what_a_driver_read_and_not_where_it_went(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    key = StepKey("report", "run", "dag")
    writer = store.writer(key, driver_reads="on")
    made = driver_version(key.id, 0, "job.py:3", 2)
    writer.add_read(write(made, [(version("/in", {"i": 2}), [(0, 0), (1, 1)])]))
    writer.add(write(version("/out", {"o": 2}, "o"), [(made, [(0, 0)])]))
    writer.publish(status="succeeded", started="2024", ended="2024")
    prov = provspark.open(str(tmp_path / "prov"))
    assert prov.datasets().table()["dataset"].to_pylist() == ["file:///in", "file:///out"]
    assert [(x["inputs"], x["outputs"]) for x in prov.steps().table().to_pylist()] == [
        (["file:///in"], ["file:///out"])
    ]


def test_steps_tell_the_least_coverage_and_why(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    dark = write(version("/dark", {"d": 1}, "d"), coverage="untracked")
    publish(store, "one", write(version("/ok", {"k": 1}, "k")), dark)
    publish(store, "two", untracked=[Untracked("save", "went around")], status="failed")
    publish(store, "three")
    steps = provspark.open(str(tmp_path / "prov")).steps().table().to_pylist()
    assert [(x["coverage"], x["reasons"], x["status"]) for x in steps] == [
        ("untracked", ["MapInPandas: opaque function (job.py:7)"], "succeeded"),
        ("untracked", ["save: went around"], "failed"),
        (None, [], "succeeded"),
    ]


def test_stops_travel_in_the_tables_metadata(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "prov"), create=True)
    dark, light = version("/dark", {"d": 2}, "d"), version("/light", {"l": 2})
    publish(store, "dark", write(dark, coverage="untracked"))
    publish(store, "join", write(version("/out", {"o": 2}, "o"), [(read(dark), [(0, 0)]), (light, [(0, 1)])]))
    prov = provspark.open(str(tmp_path / "prov"))
    table = prov.backward("/out", rows=[0]).table()
    (stop,) = stops_of(table)
    assert (stop.what, stop.dataset) == ("untracked", "file:///dark")
    assert json.loads(table.schema.metadata[b"provspark"])["direction"] == "backward"
    assert stops_of(prov.backward("/light", rows=[0]).table()) == ()
    with pytest.raises(UntrackedError, match=r"/dark.*fix what prevented its capture and run it again"):
        prov.backward("/dark", rows=[0]).table()
    assert [s.what for s in prov.trace("/dark", rows=[0]).stops] == ["untracked"]
    with pytest.raises(ValuesUnavailableError, match="columns of file:///light are not known"):
        prov.forward("/light", rows=[0], semantics="set").table()


def test_refresh_takes_in_new_steps(prov: provspark.Provenance, folder: Path) -> None:
    publish(Store.open(str(folder / "prov")), "late", write(version("/late", {"l": 1}, "l")))
    with pytest.raises(UnknownDatasetError):
        prov.backward("/late", rows=[0]).table()
    prov.refresh()
    assert prov.backward("/late", rows=[0]).table().num_rows == 0


def test_a_catalogue_leads_to_all_its_stores(tmp_path: Path) -> None:
    from provspark.index_store.catalogue import Catalogue

    middle, source = version("/mid", {"m": 1}, "m"), version("/in", {"a": 1})
    publish(Store.open(str(tmp_path / "one"), create=True), "first", write(middle, [(source, [(0, 0)])]))
    out = write(version("/out", {"o": 1}, "o"), [(read(middle), [(0, 0)])])
    publish(Store.open(str(tmp_path / "two"), create=True), "second", out)
    url = f"sqlite:///{tmp_path}/catalogue.db"
    with Catalogue.open(url) as catalogue:
        rebuild_from_stores(catalogue, [str(tmp_path / name) for name in ("one", "two")])
    table = provspark.open(url).backward("/out", rows=[0]).table()
    assert table.column("dataset").to_pylist() == ["file:///in"]


def test_bad_questions_have_typed_errors(prov: provspark.Provenance, folder: Path) -> None:
    out = str(folder / "out")
    with pytest.raises(UnknownDatasetError, match=r"Did you mean file:.*/out"):
        prov.backward(str(folder / "ouut"), rows=[0]).table()
    with pytest.raises(UnknownDatasetError):
        prov.backward(out, rows=[0], to="/nowhere").table()
    with pytest.raises(UnknownVersionError, match="No version 'beef'"):
        prov.backward(out, rows=[0], version="beef").table()
    for row in (3, -1):
        with pytest.raises(RowOutOfRangeError, match=f"row {row} .* this version has 3 rows") as caught:
            prov.backward(out, rows=[0, row]).table()
        assert caught.value.rows == 3
    for rows in ([0.5], ["a"], [True], [[0, 1]]):
        with pytest.raises(ConditionError, match="whole numbers"):
            prov.backward(out, rows=rows).table()  # type: ignore[arg-type]
    with pytest.raises(ConditionError, match="not both"):
        prov.backward(out, rows=[0], where=[("age", "=", 30)]).table()
    for wrong in (("dta",), (), "dta"):
        with pytest.raises(ConditionError, match="'data', 'context' or 'possible'"):
            prov.backward(out, rows=[0], kinds=wrong).table()  # type: ignore[arg-type]
    with pytest.raises(ConditionError, match="'bag' or 'set'"):
        prov.backward(out, rows=[0], semantics="heap").table()  # type: ignore[arg-type]
    with pytest.raises(ConditionError, match="'backward' or 'forward'"):
        prov.trace(out, rows=[0], direction="up")  # type: ignore[arg-type]
    with pytest.raises(StoreUnreachableError):
        provspark.open(str(folder / "no-store"))


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ("numpy", "pyarrow", "sqlalchemy", "airflow", "pyspark")
    code = f"import sys, provspark; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
    code = f"import sys, provspark.api; print([m for m in {heavy[2:]} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_restricted_view_knows_nothing_of_other_steps(prov: provspark.Provenance, folder: Path) -> None:
    report, out, source = (str(folder / name) for name in ("report", "out", "in"))
    seen = prov.restricted(lambda m: m.key.task_id == "report")
    assert {d["dataset"] for d in seen.datasets().table().to_pylist()} == {
        (folder / n).as_uri() for n in ("report", "out")
    }
    assert seen.backward(report, [0]).table().column("related_row").to_pylist() == [0, 1]
    with pytest.raises(UnknownDatasetError) as caught:
        seen.values(source, [0]).table()
    assert f"{source}?" not in str(caught.value) and f"{source} " not in str(caught.value)
    seen.refresh()
    assert [m.key.task_id for m in seen.graph.manifests] == ["report"]
    assert not seen.restricted(lambda m: m.key.task_id == "clean").graph.manifests
    assert prov.backward(out, [0]).table().num_rows == 1
