"""Scripts, tasks and commands that were written for the last release: they run, and warn of what goes."""

from __future__ import annotations

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest
from _people import people
from click.testing import CliRunner

import provspark
from provspark.api import gone_of, possible_of, stops_of, versions_of
from provspark.cli.main import main

SCRIPT = """
prov = provspark.open(store)
lines = prov.backward(report, rows=[1], to=people)
assert lines.num_rows == 2 and lines.column_names == ["row", "dataset", "version", "occurrence", "source_row", "kind"]
assert lines["source_row"].to_pylist() == lines.column("source_row").to_pylist() == [0, 2]
assert [x["source_row"] for x in lines.to_pylist()] == [0, 2]
assert lines.filter(pc.equal(lines["source_row"], 2)).num_rows == lines.slice(1).num_rows == 1
assert lines.schema.field("source_row").type == pa.int64() and lines.to_pydict()["row"] == [1, 1]
assert lines.sort_by([("source_row", "descending")])["source_row"][0].as_py() == 2
assert lines.select(["source_row"]).to_pandas()["source_row"].tolist() == [0, 2]
assert stops_of(lines) == gone_of(lines) == () and possible_of(lines).num_rows == 0 and len(versions_of(lines)) == 1
assert prov.values(people, rows=[3, 0, 3]).to_pylist() == [
    {"name": "Ada", "city": "Rome", "age": 36}, {"name": "Dee", "city": "Oslo", "age": 41}
]
assert prov.values(prov.forward(people, [0], to=report)).column_names == ["city", "n", "first"]
assert prov.columns(report, "first")["source_column"].to_pylist() and prov.cells(report, [0], "first").num_rows
assert prov.operations(report).column("text").to_pylist()[0].startswith("read")
assert prov.dropped(people, "age").to_pylist()[0]["text"].startswith("drop age")
assert prov.datasets().num_rows == 4 and prov.steps()["step"].to_pylist() and prov.unfinished().num_rows == 0
assert prov.composition(report, source=people, column="city")["witnesses"].to_pylist() == [1, 2]
how = prov.how(report, [1])
assert how.why()["source_row"].to_pylist() == [0, 2] and how.operations().num_rows
both = prov.ask.backward(report, to=people) & prov.ask.backward(report, [1], to=people)
assert both.table()["source_row"].to_pylist() == [0, 2] and len(both.found()[0] - prov.select(people, [0])) == 1
assert sum(t.num_rows for t in prov.ask.backward(report, to=people).pages(2)) == 3
assert all(t.column_names[4] == "source_row" for t in prov.ask.backward(report).pages(2))
assert [line.text for line in prov.ask.operations(report)] == prov.operations(report)["text"].to_pylist()
assert prov.ask.select(report, [1]) == prov.select(report, [1]) and prov.ask.trace(report).nodes
at, one = prov.select(people, [0]).at.version.id, prov.select(people, [0])
assert list(prov.locate(one, at)) == list(prov.locate(one, version=at)) == list(prov.locate(one)) == [0]
assert len(prov.ask.co_dependency(report, to=report, via=people).table()) == 0
"""
"""As the last release's documentation has it."""


@pytest.fixture
def names(tmp_path: Path) -> dict[str, Any]:
    people(tmp_path)
    places = {name: str(tmp_path / f"{name}.csv") for name in ("people", "report")}
    return {"store": str(tmp_path / "prov"), **places}


def test_a_script(names: dict[str, Any]) -> None:
    names |= {"provspark": provspark, "pa": pa, "pc": pc}
    names |= {f.__name__: f for f in (gone_of, possible_of, stops_of, versions_of)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile(SCRIPT, "script.py", "exec"), names)
    said = {(w.filename, w.lineno, w.category) for w in caught if w.category is DeprecationWarning}
    assert {place for place, *_ in said} == {"script.py"}
    assert len({line for _, line, _ in said}) >= 20
    assert all("goes with the next release" in str(w.message) for w in caught)


def test_before_after(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from provspark.index_store.query import question
    from provspark.index_store.query.question import QUESTIONS, Question

    asked: list[Any] = []
    replay = Question("replay", lambda *args, **kwargs: asked.append((args[1:], kwargs)), question.DATA, False, "")
    monkeypatch.setitem(QUESTIONS, "replay", replay)
    prov = provspark.open(names["store"])
    with pytest.warns(DeprecationWarning, match="before_after goes with the next release: it is called replay now"):
        prov.before_after(names["report"], [0], step="report")
    assert asked == [((names["report"], [0]), {"step": "report"})]


@pytest.mark.parametrize("form", ["--json", "--json-lines", "--csv", "--parquet"])
def test_what_commands_write_has_both_names(names: dict[str, Any], tmp_path: Path, form: str) -> None:
    file = [str(tmp_path / "file")] if form in ("--csv", "--parquet") else []
    done = CliRunner().invoke(main, ["backward", names["report"], "--row", "1", "--store", names["store"], form, *file])
    assert done.exit_code == 0, done.output
    if form == "--json":
        lines = json.loads(done.stdout)["answer"]
    elif form == "--json-lines":
        lines = [json.loads(line) for line in done.stdout.splitlines()]
    elif form == "--csv":
        lines = list(csv.DictReader((tmp_path / "file").read_text().splitlines()))
    else:
        lines = pa.parquet.read_table(file[0]).to_pylist()
    assert lines and all(x["source_row"] == x["related_row"] for x in lines)
    assert "source_row is called related_row now" in done.stderr


def test_people_are_shown_the_new_names(names: dict[str, Any]) -> None:
    done = CliRunner().invoke(main, ["backward", names["report"], "--row", "1", "--store", names["store"]])
    assert "related_row" in done.stdout and "source_row" not in done.output
