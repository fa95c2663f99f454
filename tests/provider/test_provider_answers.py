"""Answers: what they hold, what other libraries take of them, and what the last release's scripts still find."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from _people import people

import provspark.api
from provspark.api import stops_of, versions_of
from provspark.errors import ArgumentError, ConditionError, RowOutOfRangeError
from provspark.index_store.query.notebook import graph_html, table_html
from provspark.index_store.query.question import QUESTIONS
from provspark.index_store.query.row_values import Values, _joined
from provspark.index_store.query.tabular import Tabular, both_names

FOLDERS = ("index_store/query/questions", "replay/questions")
ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    [3, 1, 3],
    range(3, 0, -2),
    np.array([3, 1, 3]),
    pd.Series([3, 1, 3]),
    pa.array([3, 1]),
    pa.chunked_array([[3], [1]]),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people(tmp_path)
    return tmp_path


@pytest.fixture
def prov(folder: Path) -> provspark.api.Provenance:
    return provspark.api.open(folder / "prov")


def test_each_question_is_a_file_and_a_method() -> None:
    files = {p.stem for folder in FOLDERS for p in (ROOT / folder).glob("*.py") if p.stem != "__init__"}
    assert files == QUESTIONS.keys()
    for name, question in QUESTIONS.items():
        assert question.name == question.function.__module__.rsplit(".", 1)[1] == name
        assert vars(provspark.api.Provenance)[name] is question.function
        assert (question.function.__doc__ or "").strip(), name


@pytest.mark.parametrize("rows", ROWS, ids=lambda rows: type(rows).__name__)
def test_values_are_in_the_order_asked(prov: Any, folder: Path, rows: Any) -> None:
    values = prov.values(str(folder / "people.csv"), rows)
    rows = rows.to_pylist() if isinstance(rows, pa.Array | pa.ChunkedArray) else list(rows)
    assert values.table()["row"].to_pylist() == rows
    names = [line.split(",")[0] for line in (folder / "people.csv").read_text().splitlines()]
    if names[0] == "name":
        del names[0]
    assert values.table()["name"].to_pylist() == [names[row] for row in rows]
    assert set(values.table()["dataset"].to_pylist()) == {(folder / "people.csv").as_uri()}


def test_rows_that_are_none(prov: Any, folder: Path) -> None:
    for rows, why in ((pa.array([1, None]), "found null"), ([1.5], "whole numbers"), (["1"], "whole numbers")):
        with pytest.raises(ConditionError, match=why):
            prov.values(str(folder / "people.csv"), rows)
    with pytest.raises(ArgumentError, match="rows takes a list"):
        prov.values(str(folder / "people.csv"), 3)


def test_an_answer_has_its_rows_and_their_values(prov: Any, folder: Path) -> None:
    answer = prov.backward(str(folder / "report.csv"), to=str(folder / "people.csv"))
    lines = answer.table().to_pylist()
    assert len(answer) == len(lines) > 1 and list(answer) == lines
    assert [x["row"] for x in answer.values()] == [x["related_row"] for x in lines]
    assert list(answer.rows) == sorted({x["related_row"] for x in lines})
    assert prov.forward(answer.rows, to=str(folder / "report.csv")).rows == prov.select(str(folder / "report.csv"))
    assert answer.exact and answer.stops == () and len(answer.possible) == 0
    assert repr(answer) == (
        f"<backward from {(folder / 'report.csv').as_uri()}: {len(lines)} lines in {(folder / 'people.csv').as_uri()}>"
    )


def test_an_answer_is_read_by_other_libraries(prov: Any, folder: Path) -> None:
    answer = prov.backward(str(folder / "report.csv"))
    assert pa.table(answer).column_names == [*answer.table().column_names, "source_row"]
    assert list(answer.to_pandas()["related_row"]) == answer.table()["related_row"].to_pylist()


def test_values_of_several_datasets(prov: Any, folder: Path) -> None:
    answer = prov.backward(str(folder / "report.csv"))
    values = answer.values()
    if len(values.tables) > 1:
        with pytest.raises(ConditionError, match="to=DATASET"):
            values.table()
    assert sum(t.num_rows for t in values.tables.values()) == len(answer)


def test_what_the_last_release_returned(prov: Any, folder: Path) -> None:
    report = str(folder / "report.csv")
    answer = prov.backward(report)
    with pytest.warns(DeprecationWarning, match=r"answer\.table\(\)\.num_rows"):
        assert answer.num_rows == len(answer)
    with pytest.warns(DeprecationWarning, match="source_row and source_column are called related_row"):
        assert answer["source_row"].to_pylist() == answer.table()["related_row"].to_pylist()
    with pytest.warns(DeprecationWarning):
        assert prov.values(report, [1, 0, 1]).column_names == list(prov.values(report).table().column_names[3:])
    with pytest.warns(DeprecationWarning):
        assert prov.values(report, [1, 0, 1]).num_rows == 2
    with pytest.warns(DeprecationWarning, match=r"prov\.backward returns the same answer"):
        former = prov.ask.backward(report, [0]) | prov.ask.backward(report, [1])
    assert "source_row" in former.table().column_names
    assert prov.values(former, columns=[]).table().num_rows == len(former.found()[0])
    with pytest.warns(DeprecationWarning):
        assert isinstance(prov.ask.operations(report), list)
    with pytest.raises(AttributeError, match="unknown query 'sideways'"):
        prov.ask.sideways  # noqa: B018


@pytest.mark.parametrize("name", ["datasets", "steps", "unfinished"])
def test_lists_are_answers(prov: Any, name: str) -> None:
    answer = getattr(prov, name)()
    assert isinstance(answer, Tabular) and len(answer) == answer.table().num_rows


def test_notebooks_show_tables_and_graphs(prov: Any, folder: Path) -> None:
    report = str(folder / "report.csv")
    answer = prov.backward(report)
    shown = ElementTree.fromstring(f"<div>{answer._repr_html_()}</div>")
    assert [x.text for x in shown.iter("th")] == answer.table().column_names
    assert len(list(shown.iter("tr"))) == 1 + min(20, len(answer))
    trace = prov.trace(report)
    graph = ElementTree.fromstring(f"<div>{trace._repr_html_()}</div>")
    assert len(list(graph.iter("rect"))) == len(trace.nodes) and len(list(graph.iter("path"))) == len(trace.edges)
    assert len(repr(trace)) < 300 and "trace backward of" in repr(trace)


def test_no_value_is_markup() -> None:
    name = "<script>alert(1)</script>"
    shown = table_html(pa.table({name: [name, None]}), [name]) + graph_html([(name, name)], [(0, 0, name)], [name])
    assert "<script" not in shown and "<i>null</i>" in shown


@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (0, 2)], [(0, 1), (1, 0)], [(0, 0)], []])
def test_boxes_stand_in_the_order_in_which_data_flow(edges: list[tuple[int, int]]) -> None:
    shown = ElementTree.fromstring(graph_html([("a", "")] * 3, [(a, b, "") for a, b in edges]))
    places = [int(rect.attrib["x"]) for rect in shown.iter("rect")]
    cyclic = any((b, a) in edges for a, b in edges)
    assert cyclic or all(places[a] < places[b] for a, b in edges)


def test_former_tables_say_what_the_answer_says(prov: Any, folder: Path) -> None:
    """Stops above all: a table without them reads as complete."""
    place = str(folder / "copy.csv")
    with pytest.warns(DeprecationWarning):
        former = [prov.ask.columns(place, "first").table(), prov.columns(place, "first").slice(0)]
    assert [stops_of(t) for t in former] == [prov.columns(place, "first").stops] * 2 != [()] * 2
    answer = prov.backward(place)
    with pytest.warns(DeprecationWarning):
        former = [prov.ask.backward(place).table(), *prov.ask.backward(place).pages(), answer.sort_by("row")]
        former.append(prov.how(place).why())
    assert [versions_of(t) for t in former] == [versions_of(answer)] * 4
    assert versions_of(answer)


def test_readers_of_streams_see_one_schema(prov: Any, folder: Path) -> None:
    for answer in (prov.backward(str(folder / "report.csv")), prov.values(str(folder / "people.csv"), [1, 0])):
        read = pa.RecordBatchReader.from_stream(answer)
        assert read.schema.names == answer.schema.names == both_names(answer.table()).column_names
        assert pickle.loads(pickle.dumps(answer)) == answer == copy.deepcopy(answer)


def test_an_answer_duckdb_reads(prov: Any, folder: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    answer = prov.values(str(folder / "people.csv"), [2, 0, 2])  # noqa: F841 - duckdb finds it by its name
    assert duckdb.sql("SELECT row, name FROM answer").fetchall() == [(2, "Cy"), (0, "Ada"), (2, "Cy")]
    lines = prov.backward(str(folder / "report.csv"))  # noqa: F841
    assert duckdb.sql("SELECT max(related_row) FROM lines").fetchall() == [(3,)]


def test_rows_that_are_given_once(prov: Any, folder: Path) -> None:
    people = str(folder / "people.csv")
    assert prov.values(people, (i for i in [2, 0, 0])).table()["row"].to_pylist() == [2, 0, 0]
    with pytest.raises(RowOutOfRangeError, match="18446744073709551615"):
        prov.values(people, np.array([2**64 - 1], dtype=np.uint64))
    with pytest.raises(ConditionError, match="whole numbers"):
        prov.values(people, [[1], [0, 1]])
    assert np.int64(1) in prov.select(people, [1])


def test_questions_about_an_answer_are_about_its_rows(prov: Any, folder: Path) -> None:
    answer = prov.backward(str(folder / "report.csv"), [0], to=str(folder / "people.csv"))
    way = {"direction": "forward", "to": str(folder / "clean.csv")}
    assert list(prov.operations(answer, **way)) == list(prov.operations(answer.rows, **way))


def test_values_of_versions_that_differ(prov: Any) -> None:
    def part(**columns: Any) -> Any:
        table = pa.table(columns)
        return [pa.array(["d"]), pa.array(["v"]), pa.array([0])], table

    joined = _joined("d", [part(x=[1]), part(x=[2], row=[7])])
    assert joined.column_names == ["dataset", "version", "_row", "x", "row"] and joined["row"].to_pylist() == [None, 7]
    with pytest.raises(ConditionError, match="different types"):
        _joined("d", [part(x=[1]), part(x=["a"])])
    several = Values({"d": joined, "e": joined})
    assert len(several) == 4 and not hasattr(several, "no_such") and "<table>" in several._repr_html_()


def test_possible_rows_are_not_exact(prov: Any, folder: Path) -> None:
    answer = prov.backward(str(folder / "report.csv"))
    unsure = replace(answer, parts=(), possible_parts=tuple(replace(p, kind="possible") for p in answer.parts))
    assert not unsure.exact and not unsure.possible.exact and answer.exact


def test_pandas_is_not_imported_before_it_is_needed() -> None:
    """It takes longer than all of ours, and Airflow imports the operators for each DAG that it reads."""
    code = "import sys, provspark.api; assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
