"""The Census example in real Airflow: its lineage against the same pipeline in plain Python over tagged rows."""

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from _dags import ROOT, Run, run_dag

import provspark
from provspark.airflow.events import read_events
from provspark.airflow.facet import KEY
from provspark.index_store.catalogue import Catalogue

pytestmark = [pytest.mark.airflow, pytest.mark.spark]
DATA = ROOT / "dags_examples" / "data"
TASKS = ("read", "clean", "regions", "report")
Pairs = set[tuple[int, int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("census")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    """One run, with OpenLineage's file transport and a catalogue."""
    return run_dag(
        ROOT / "dags_examples",
        "census",
        folder / "airflow",
        {"out": str(folder / "out"), "store": str(folder / "prov")},
        AIRFLOW__PROVSPARK__CATALOGUE=f"sqlite:///{folder}/catalogue.db",
        AIRFLOW__OPENLINEAGE__TRANSPORT=json.dumps(
            {"type": "file", "log_file_path": str(folder / "events.json"), "append": True}
        ),
    )


@pytest.fixture(scope="module")
def prov(run: Run, folder: Path) -> Any:
    assert run.code == 0, run.log[-5000:]
    return provspark.open(str(folder / "prov"))


def lines(name: str) -> list[list[str]]:
    with (DATA / name).open(newline="") as file:
        return list(csv.reader(file))[1:]


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, str], tuple[set[int], set[int]]]:
    """Report key to the census lines and the lookup lines that it came from, worked out without Spark."""
    regions = {country: (line, region) for line, (country, region) in enumerate(lines("regions.csv"))}
    distinct: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for line, values in enumerate(lines("census.csv")):
        trimmed = tuple(v.strip(" ") for v in values)
        if "?" not in trimmed:
            distinct[trimmed].add(line)
    groups: dict[tuple[str, str], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for person, witnesses in distinct.items():
        age, country = int(person[0]), person[13]
        if country in regions:
            looked_up, region = regions[country]
            band = "under 30" if age < 30 else "30 to 49" if age < 50 else "50 and over"
            groups[region, band][0].update(witnesses)
            groups[region, band][1].add(looked_up)
    return groups


@pytest.fixture(scope="module")
def report(run: Run, folder: Path) -> list[dict[str, Any]]:
    """The report's rows in file order: there is one file."""
    return ds.dataset(folder / "out" / "report", format="parquet").to_table().to_pylist()


def pairs(table: Any, out: str, src: str) -> Pairs:
    return set(zip(table[out].to_pylist(), table[src].to_pylist(), strict=True))


def test_all_tasks_succeed_and_are_exact(run: Run) -> None:
    assert run.states() == dict.fromkeys(TASKS, "success")
    assert run.warnings() == []
    for task, rows in zip(TASKS, (32561, 30139, 30068, 15), strict=True):
        (output,) = run.xcom(task)["outputs"]
        assert (output["rows"], output["coverage"]) == (rows, "exact")


@pytest.mark.parametrize(("name", "which"), [("census.csv", 0), ("regions.csv", 1)])
def test_backward_and_forward_are_the_oracles(
    name: str, which: int, prov: Any, folder: Path, report: list[dict[str, Any]], expected: Any
) -> None:
    wanted = {
        (row, line)
        for row, values in enumerate(report)
        for line in expected[values["region"], values["age_band"]][which]
    }
    assert len(report) == len(expected)
    out, source = str(folder / "out" / "report"), str(DATA / name)
    backward = prov.backward(out, to=source).table()
    assert pairs(backward, "row", "related_row") == wanted
    assert set(backward["kind"].to_pylist()) == {"data"}
    assert {(b, a) for a, b in pairs(prov.forward(source, to=out).table(), "row", "related_row")} == wanted


def test_values_of_the_lines_are_the_files(prov: Any, folder: Path) -> None:
    source = str(DATA / "census.csv")
    found = prov.backward(str(folder / "out" / "report"), [13], to=source).table()["related_row"].to_pylist()
    values = prov.values(source, sorted(set(found))).columns_only()
    census = lines("census.csv")
    assert [list(row.values()) for row in values.to_pylist()] == [census[i] for i in sorted(set(found))]


def test_the_people_counted_are_the_rows_traced(prov: Any, folder: Path, report: list[dict[str, Any]]) -> None:
    joined = prov.backward(str(folder / "out" / "report"), to=str(folder / "out" / "regions")).table()
    counts = dict.fromkeys(range(len(report)), 0)
    for row in joined["row"].to_pylist():
        counts[row] += 1
    assert [counts[i] for i in range(len(report))] == [row["people"] for row in report]


def test_openlineage_events_carry_our_facet(run: Run, folder: Path) -> None:
    done = {}
    for event in read_events(folder / "events.json"):
        if event["eventType"] == "COMPLETE" and event["job"]["name"].startswith("census."):
            done[event["job"]["name"]] = event
    assert set(done) == {f"census.{task}" for task in TASKS}
    for task in TASKS:
        (output,) = done[f"census.{task}"]["outputs"]
        (summary,) = run.xcom(task)["outputs"]
        assert output["facets"][KEY]["version"] == summary["version"]
        assert done[f"census.{task}"]["run"]["facets"][KEY]["step"] == run.xcom(task)["step"]
    read_by = {d["name"] for d in done["census.regions"]["inputs"]}
    assert read_by == {str(folder / "out" / "clean"), str(DATA / "regions.csv")}


def test_the_catalogue_links_the_tasks(run: Run, folder: Path) -> None:
    with Catalogue.open(f"sqlite:///{folder}/catalogue.db") as catalogue:
        assert sorted(s.key.task_id for s in catalogue.steps()) == sorted(TASKS)
        above = catalogue.upstream(run.xcom("report")["step"])
        assert [s.key.task_id for s in above] == ["regions", "clean", "read"]


def test_events_alone_make_the_same_catalogue(run: Run, folder: Path) -> None:
    with (
        Catalogue.open(f"sqlite:///{folder}/catalogue.db") as told,
        Catalogue.open(f"sqlite:///{folder}/rebuilt.db") as rebuilt,
    ):
        rebuilt.rebuild(read_events(folder / "events.json"))
        assert rebuilt.dump() == told.dump()
