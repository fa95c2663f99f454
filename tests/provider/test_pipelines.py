"""The published pipelines: what plain Spark writes, and rows and lineage worked out without Spark."""

from __future__ import annotations

import runpy
import statistics
import sys
from pathlib import Path
from typing import Any

import pytest
from oracle import pipelines as oracle

import provspark

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import pipelines
from pipelines import CENSUS, DATA, EXAMPLES, TASKS, Task, place

pytestmark = pytest.mark.spark

SHAPES = {
    "credit_terms": (1000, 21),
    "credit": (1000, 60),
    "credit_imputed": (1000, 60),
    "compas_complete": (6907, 9),
    "compas": (6907, 8),
    "compas_imputed": (7214, 9),
    "texts": (32561, 15),
    "census": (32561, 104),
    "imputed": (32561, 104),
}


@pytest.fixture(scope="module")
def folder(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pipelines")
    pipelines.run(folder, TASKS, str(folder / "prov"))
    return folder


@pytest.fixture(scope="module")
def prov(folder: Path) -> Any:
    return provspark.open(str(folder / "prov"))


@pytest.fixture(scope="module")
def expected() -> dict[str, oracle.Lines]:
    book = runpy.run_path(str(EXAMPLES / "credit" / "codes.py"))
    terms = oracle.credit_terms(DATA / "german.csv", book["TERMS"])
    credit = oracle.credit_encoded(terms, book["TERMS"], book["STATUS"], book["WOMEN"])
    amounts = [float(row["credit_amount"]) for _, row in credit]
    mean, spread = statistics.fmean(amounts), statistics.stdev(amounts)
    floats = [(line, row | {"credit_amount": float(row["credit_amount"])}) for line, row in credit]
    complete = oracle.compas_complete(DATA / "compas.csv")
    compas = [(line, {c: row[c] for c in oracle.COMPAS}) for line, row in oracle.lines(DATA / "compas.csv")]
    days = "days_b_screening_arrest"
    for _, row in compas:
        row[days] = None if row[days] is None else float(row[days])
    texts = oracle.census_texts(DATA / "census.csv")
    census = oracle.census_encoded(texts)
    return {
        "credit_terms": terms,
        "credit": credit,
        "credit_imputed": oracle.filled(
            floats, "credit_amount", [i for i, a in enumerate(amounts) if abs(a - mean) > 3 * spread]
        ),
        "compas_complete": complete,
        "compas": oracle.compas_label(complete),
        "compas_imputed": oracle.filled(compas, days, [line for line, row in compas if row[days] is None]),
        "texts": texts,
        "census": census,
        # Spark's Imputer puts a mean of whole numbers as a whole number.
        "imputed": [
            (line, row | {"capital_gain": int(row["capital_gain"])})
            for line, row in oracle.filled(
                census, "capital_gain", [line for line, row in census if row["capital_gain"] == 99999]
            )
        ],
    }


def source(name: str) -> str:
    return str(DATA / next(k for k in _SOURCES if name in _SOURCES[k]))


_SOURCES = {
    "german.csv": ("credit_terms", "credit", "credit_imputed"),
    "compas.csv": ("compas_complete", "compas", "compas_imputed"),
    "census.csv": ("texts", "census", "imputed"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape_rows_and_lines_are_the_oracles(name: str, folder: Path, prov: Any, expected: Any) -> None:
    table = pipelines.table(folder, name)
    assert table.shape == SHAPES[name]
    rows = table.to_pylist()
    assert set(rows[0]) == set(expected[name][0][1])
    close = {"credit_amount", "days_b_screening_arrest"}
    for row, (_, wanted) in zip(rows, expected[name], strict=True):
        assert row == wanted or all(row[k] == (pytest.approx(v) if k in close else v) for k, v in wanted.items())
    backward = prov.backward(place(folder, name), to=source(name))
    assert backward["row"].to_pylist() == list(range(len(rows)))
    assert backward["source_row"].to_pylist() == [line for line, _ in expected[name]]


def test_the_join_takes_both_lines_of_each_row(folder: Path, prov: Any, expected: Any) -> None:
    rows = pipelines.table(folder, "joined").to_pylist()
    out = place(folder, "joined")
    people, regions = (
        dict(zip(found["row"].to_pylist(), found["source_row"].to_pylist(), strict=True))
        for found in (prov.backward(out, to=str(DATA / name)) for name in ("census.csv", "regions.csv"))
    )
    found = sorted((people[i], regions[i], sorted(map(str, row.items()))) for i, row in enumerate(rows))
    joined = oracle.census_joined(expected["texts"], oracle.lines(DATA / "regions.csv"))
    assert found == sorted((person, region, sorted(map(str, row.items()))) for person, region, row in joined)


@pytest.mark.parametrize(
    ("name", "context"),
    [("credit_imputed", 1000), ("compas_imputed", 7214), ("imputed", 32561)],
)
def test_an_imputed_mean_stands_on_every_record(name: str, context: int, folder: Path, prov: Any) -> None:
    used = prov.backward(place(folder, name), [5], to=source(name), kinds="context")
    assert set(used["source_row"].to_pylist()) >= set(range(context)) - {5}


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.output))
def test_what_is_written_is_what_plain_spark_writes(task: Task, folder: Path, tmp_path: Path) -> None:
    for name in task.inputs:
        if not name.endswith(".csv"):
            (tmp_path / name).symlink_to(folder / name)
    pipelines.run(tmp_path, (task,), None)
    assert pipelines.table(folder, task.output).equals(pipelines.table(tmp_path, task.output))


def test_every_task_is_captured_exactly(prov: Any) -> None:
    steps = prov.steps()
    assert set(steps["coverage"].to_pylist()) == {"exact"}
    assert steps.num_rows == len(TASKS) > len(CENSUS)
