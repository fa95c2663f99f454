"""Where rows of the census end, from the file on, against the file itself."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path
from typing import Any

import pytest

import provspark
from provspark.api import Provenance
from provspark.tracker import attach

pytestmark = pytest.mark.spark
EXAMPLES = Path(__file__).resolve().parents[2] / "dags_examples"
CENSUS = EXAMPLES / "data" / "census.csv"
LINE = 14


@pytest.fixture(scope="module")
def folder(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("census")
    names = runpy.run_path(str(EXAMPLES / "census" / "columns.py"))["NAMES"]
    clean = runpy.run_path(str(EXAMPLES / "census" / "clean.py"))["clean"]
    store = str(folder / "prov")
    with attach(store=store, step="read"):
        spark.read.option("header", True).csv(str(CENSUS)).toDF(*names).write.parquet(str(folder / "people"))
    with attach(store=store, step="clean"):
        clean(spark.read.parquet(str(folder / "people"))).write.parquet(str(folder / "clean"))
    with attach(store=store, step="ages"):
        spark.read.parquet(str(folder / "people")).dropDuplicates(["age"]).write.parquet(str(folder / "ages"))
    return folder


@pytest.fixture(scope="module")
def prov(folder: Path) -> Provenance:
    return provspark.open(str(folder / "prov"))


@pytest.fixture(scope="module")
def lines() -> list[tuple[str, ...]]:
    with CENSUS.open(newline="") as file:
        return [tuple(text.strip() for text in line) for line in [*csv.reader(file)][1:]]


def test_a_line_that_a_filter_left_out_ended_in_its_step(
    prov: Provenance, folder: Path, lines: list[tuple[str, ...]]
) -> None:
    assert "?" in lines[LINE]
    found = prov.trace(str(CENSUS), [LINE], "forward", to=str(folder / "clean"))
    assert [n.dataset for n in found.nodes] == [f"file://{CENSUS}", f"file://{folder}/people"]
    (ending,) = found.endings
    assert (ending.step.split("-")[0], ending.read, ending.kept, ending.node) == ("clean", 1, 0, 1)
    assert (ending.dataset, ending.source) == (f"file://{folder}/clean", f"file://{folder}/people")
    assert str(ending).endswith(f"read 1 row of file://{folder}/people and kept none")
    row = found.ended[ending].rows()
    ended = prov.history(ending.source, row, version=ending.version, direction="forward").endings
    (operation,) = (how for passage, how in ended if passage.step == ending.step)
    assert operation.cause == "condition" and "native_country" in operation.operation.text


def test_of_all_lines_the_incomplete_ones_end_and_repeated_ones_are_kept(
    prov: Provenance, folder: Path, lines: list[tuple[str, ...]]
) -> None:
    found = prov.trace(str(CENSUS), direction="forward", to=str(folder / "clean"))
    (ending,) = found.endings
    complete = [i for i, line in enumerate(lines) if "?" not in line]
    assert len({lines[i] for i in complete}) < len(complete)
    assert (ending.read, ending.kept, ending.context) == (len(lines), len(complete), 0)
    assert found.ended[ending].rows().tolist() == sorted({*range(len(lines))} - {*complete})


def test_rows_that_lost_to_one_of_the_same_age_are_its_context(
    prov: Provenance, folder: Path, lines: list[tuple[str, ...]]
) -> None:
    ages, people = {line[0] for line in lines}, str(folder / "people")
    (ending,) = prov.trace(people, direction="forward", to=str(folder / "ages")).endings
    assert (ending.read, ending.kept, ending.context) == (len(lines), len(ages), len(lines) - len(ages))
    both = prov.trace(people, direction="forward", to=str(folder / "ages"), kinds=["data", "context"])
    assert both.endings == ()
