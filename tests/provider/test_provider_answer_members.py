"""What answers of every kind have: members, lengths, a short `repr`, and a view in notebooks."""

from __future__ import annotations

import copy
import csv
import inspect
import pickle
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from _every_answer import answer_classes, every_answer, replayed_answers, step_of
from _people import people

import provspark.api
from provspark.api import stops_of
from provspark.errors import AnswerMemberError, ConditionError, ProvSparkError
from provspark.index_store.query.answer import Answer
from provspark.index_store.query.row_values import Values
from provspark.index_store.query.tabular import FormerTable, Readable
from provspark.model.boxes import Boxes
from provspark.model.runs import Runs
from provspark.model.stops import Stop

LONGEST = 600
MEMBERS = ("table", "stops", "exact", "to_pandas", "rows", "values", "possible", "ends")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people(tmp_path)
    return tmp_path


@pytest.fixture
def prov(folder: Path) -> Any:
    return provspark.api.open(folder / "prov")


def test_every_class_of_answers_has_a_short_repr_and_a_view_for_notebooks() -> None:
    """`repr` of a dataclass would write out all that an answer holds."""
    for name, kind in answer_classes().items():
        assert callable(getattr(kind, "_repr_html_", None)), name
        assert kind.__repr__ is not object.__repr__, name
        assert not hasattr(kind.__repr__, "__wrapped__"), f"{name}: a dataclass made it"


def test_every_class_is_among_the_answers_below(prov: Any, folder: Path) -> None:
    classes = {type(a) for a in (*every_answer(prov, folder).values(), *replayed_answers().values())}
    assert {kind.__name__ for kind in answer_classes().values()} <= {kind.__name__ for kind in classes}


def _shown(answer: Any) -> ElementTree.Element:
    said = repr(answer)
    assert len(said) <= LONGEST and said.count("\n") < 4, said
    return ElementTree.fromstring(f"<div>{answer._repr_html_()}</div>")


def test_answers_show_themselves(prov: Any, folder: Path) -> None:
    for name, answer in every_answer(prov, folder).items():
        shown = _shown(answer)
        assert shown.find(".//table") is not None or shown.find(".//svg") is not None, name
        if isinstance(answer, Readable) and not isinstance(answer, provspark.api.Located):
            lines = list(shown.iter("tr"))
            assert len(lines) == 1 + min(20, answer.table().num_rows), name


def test_answers_of_replays_show_themselves() -> None:
    for answer in replayed_answers().values():
        _shown(answer)
        assert "<script" not in answer._repr_html_()
        assert "<script" not in repr(answer) or isinstance(repr(answer), str)


def test_a_history_has_a_graph() -> None:
    shown = _shown(replayed_answers()["history"])
    assert len(list(shown.iter("rect"))) == 2
    assert len(list(shown.iter("path"))) == 1
    assert shown.find(".//table") is not None


def test_no_name_or_value_is_markup(tmp_path: Path) -> None:
    name = "<img src=x>"
    (tmp_path / "in.csv").write_text(f'"{name}"\n"<i>1</i>"\n')
    (tmp_path / "out.csv").write_text("x\n1\n")
    header = {"header": "true"}
    inside = provspark.Data(str(tmp_path / "in.csv"), options=header, columns=[(name, "string")])
    outside = provspark.Data(str(tmp_path / "out.csv"), options=header, columns=[("x", "string")])
    relation = provspark.Relation(inside, pairs=([0], [0]), columns={"x": [name]})
    provspark.record(str(tmp_path / "prov"), task="<b>", output=outside, relations=[relation])
    prov: Any = provspark.open(tmp_path / "prov")
    asked = str(tmp_path / "out.csv")
    answers = [
        prov.backward(asked).values(),
        prov.columns(asked),
        prov.cells(asked),
        prov.trace(asked),
        prov.steps(),
        prov.neighbourhood(asked),
        prov.cell_neighbourhood(asked),
        prov.profile(str(tmp_path / "in.csv")),
    ]
    for answer in answers:
        shown = answer._repr_html_()
        assert not any(tag in shown for tag in ("<img", "<b>1", "<i>1", "<b>-")), shown
        ElementTree.fromstring(f"<div>{shown}</div>")
    assert "&lt;img" in answers[0]._repr_html_()
    assert "&lt;i&gt;1" in answers[0]._repr_html_()


@pytest.mark.parametrize("member", MEMBERS)
def test_answers_have_members_or_say_what_to_call(prov: Any, folder: Path, member: str) -> None:
    for name, answer in every_answer(prov, folder).items():
        if not isinstance(answer, FormerTable):
            continue
        try:
            value = getattr(answer, member)
            value = value() if callable(value) and not isinstance(value, Readable) else value
        except AnswerMemberError as error:
            assert member in ("rows", "values", "possible", "ends"), (name, member)
            assert any(word in str(error) for word in ("prov.", "_of(", "Ask ", "ask ", "Use ", "pass ")), (
                name,
                str(error),
            )
            assert not hasattr(answer, member)
        except ConditionError as error:
            places = {(line["dataset"], line["version"]) for line in answer}
            assert member == "rows" and len(places) != 1, (name, member, error)
        else:
            assert value is not None, name


def test_common_members_work(prov: Any, folder: Path) -> None:
    for name, answer in every_answer(prov, folder).items():
        if not isinstance(answer, FormerTable):
            continue
        table = answer.table()
        assert len(answer) == table.num_rows == len(list(answer)), name
        assert list(answer) == table.to_pylist(), name
        assert answer == answer and answer == copy.copy(answer), name
        assert pickle.loads(pickle.dumps(answer)) == answer, name
        assert answer.stops == stops_of(answer), name
        assert pickle.loads(pickle.dumps(answer)).exact == answer.exact, name
        assert len(answer.to_pandas()) == len(answer), name
        assert pa.table(answer).num_rows == len(answer), name
        assert pd.DataFrame(answer).equals(pd.DataFrame(list(answer))), name
        assert list(np.asarray(answer)) == list(answer), name


def test_other_answers_with_a_table_work_alike(prov: Any, folder: Path) -> None:
    names = ("correspondence", "derivations", "profile", "impact", "locate")
    answers = {name: every_answer(prov, folder)[name] for name in names}
    answers |= {n: a for n, a in replayed_answers().items() if isinstance(a, Readable)}
    for name, answer in answers.items():
        assert pa.table(answer).num_rows == answer.table().num_rows == len(answer.to_pandas()), name
        if name != "locate":
            assert len(answer) == answer.table().num_rows, name
            assert len(list(answer)) == len(answer), name


def test_what_is_not_complete_says_so(prov: Any, folder: Path) -> None:
    place = str(folder / "copy.csv")
    stopped = [prov.columns(place), prov.cells(place), prov.operations(place), prov.operations(place, column="n")]
    for answer in stopped:
        assert [s.what for s in answer.stops] == ["columns"] and not answer.exact, answer
        assert "1 stop" in repr(answer)
    assert prov.operations(str(folder / "clean.csv")).exact
    assert prov.operations(step_of(prov, "clean.csv")).stops == ()
    assert prov.operations(step_of(prov, "copy.csv")).stops == prov.operations(place).stops


def test_cells_that_depend_on_values_are_not_exact(prov: Any, folder: Path) -> None:
    sure = prov.cells(str(folder / "clean.csv"), columns="name")
    unsure = prov.cells(str(folder / "clean.csv"), columns="band")
    assert sure.exact and all(sure.table()["exact"].to_pylist())
    assert not unsure.exact and not all(unsure.table()["exact"].to_pylist())
    assert prov.columns(str(folder / "clean.csv"), "name").exact
    assert not prov.columns(str(folder / "clean.csv"), "band").exact


@pytest.mark.parametrize("columns", ["first", "n", ["city", "first"], None])
def test_cells_have_the_rows_and_their_values(prov: Any, folder: Path, columns: Any) -> None:
    cells = prov.cells(str(folder / "report.csv"), [1], columns, to=str(folder / "people.csv"))
    lines = cells.table().to_pylist()
    rows = sorted({line["related_row"] for line in lines})
    named = {line["related_column"] for line in lines} - {None}
    assert list(cells.rows) == rows == [0, 2]
    with (folder / "people.csv").open() as file:
        stored = [dict(zip(("name", "city", "age"), line, strict=True)) for line in csv.reader(file)]
    expected = [{n: stored[row][n] for n in ("name", "city", "age") if n in named} for row in rows]
    values = cells.values().columns_only()
    assert [{n: str(v) for n, v in line.items()} for line in values.to_pylist()] == expected
    assert values.num_rows == len(rows) or not named
    assert cells.values().table()["row"].to_pylist() == rows
    assert cells.values(["city"]).columns_only().column_names == ["city"]
    assert list(prov.forward(cells, to=str(folder / "report.csv")).rows) == [1]
    with pytest.raises(AnswerMemberError, match="Use backward or forward"):
        _ = cells.possible


def test_cells_of_several_datasets(prov: Any, folder: Path) -> None:
    cells = prov.cells(str(folder / "copy.csv"), [0], "n", to=None)
    assert {line["dataset"] for line in cells} == set(cells.values().tables)


def test_an_explanation_has_what_its_rows_have(prov: Any, folder: Path) -> None:
    how = prov.how(str(folder / "report.csv"), [1], to=str(folder / "people.csv"))
    backward = prov.backward(str(folder / "report.csv"), [1], to=str(folder / "people.csv"))
    assert how.rows == backward.rows and how.values() == backward.values() and how.exact
    assert prov.values(how) == prov.values(backward)


def test_long_answers_are_counted_and_shown_without_being_written_out(prov: Any, folder: Path) -> None:
    """A thousand billion lines."""
    answer = prov.backward(str(folder / "report.csv"), to=str(folder / "people.csv"))
    one, many = np.array([0]), np.array([10**6])
    wide = Boxes(one, many, one, many, np.array([False]))
    parts = tuple(replace(part, boxes=wide) for part in answer.parts)
    long: Any = replace(answer, labels=Runs.span(10**6), parts=parts, possible_parts=parts)
    assert len(long) == 10**12
    assert f"{10**12:,} lines in" in repr(long) and f"{10**12:,} possible" in repr(long)
    shown = ElementTree.fromstring(f"<div>{long._repr_html_()}</div>")
    cells = [[cell.text for cell in line.iter("td")] for line in shown.iter("tr")][1:]
    assert [(line[0], line[4]) for line in cells] == [("0", str(i)) for i in range(20)]
    assert any(f"{10**12:,} lines, of which 20" in (x.text or "") for x in shown.iter("div"))


def test_lengths_count_pairs_once(prov: Any, folder: Path) -> None:
    answer = prov.backward(str(folder / "report.csv"), to=str(folder / "people.csv"))
    random = np.random.default_rng(7)
    for _ in range(50):
        n = int(random.integers(1, 6))
        slant = random.random(n) < 0.4
        high = random.integers(1, 5, n)
        sides = (
            random.integers(0, 8, n),
            high,
            random.integers(0, 8, n),
            np.where(slant, high, random.integers(1, 5, n)),
        )
        boxes = Boxes(*(np.asarray(side, dtype=np.int64) for side in sides), slant)
        some: Any = replace(answer, labels=Runs.span(20), parts=(replace(answer.parts[0], boxes=boxes),))
        assert len(some) == len(some.table())


def test_names_that_are_long_are_cut(prov: Any, folder: Path) -> None:
    answer = prov.backward(str(folder / "report.csv"), to=str(folder / "people.csv"))

    def named(at: Any, name: str) -> Any:
        version = replace(at.version, dataset=replace(at.version.dataset, name=name))
        return replace(at, version=version)

    parts = tuple(replace(part, at=named(part.at, f"/{n}" + "x" * 4000)) for part in answer.parts for n in range(500))
    many = replace(answer, parts=parts, asked=named(answer.parts[0].at, "/" + "y" * 4000).version)
    assert len(repr(many)) <= LONGEST and "and 497 more" in repr(many)


def test_a_large_graph_is_cut(prov: Any, folder: Path) -> None:
    trace = prov.trace(str(folder / "report.csv"))
    large = replace(trace, nodes=tuple(replace(trace.nodes[0], id=i) for i in range(500)), edges=())
    shown = ElementTree.fromstring(f"<div>{large._repr_html_()}</div>")
    assert len(list(shown.iter("rect"))) == 60
    assert "… and 440 more boxes" in {x.text for x in shown.iter("div")}


ODD = ["related_row", "source_row", "row", "dataset", "version", "kind", "exact", "_row", "related_column"]
"""Columns of the user's with names of ours."""


@pytest.fixture
def odd(tmp_path: Path) -> Any:
    """A dataset with such columns, and a copy of its last two rows."""
    rows = [[str(100 * r + c) for c in range(len(ODD))] for r in range(3)]
    for name, some in (("odd.csv", rows), ("copy.csv", rows[1:])):
        (tmp_path / name).write_text("".join(",".join(r) + "\n" for r in [ODD, *some]))
    places = {
        name: provspark.Data(str(tmp_path / name), options={"header": "true"}, columns=[(c, "bigint") for c in ODD])
        for name in ("odd.csv", "copy.csv")
    }
    relation = provspark.Relation(places["odd.csv"], pairs=([0, 1], [1, 2]))
    provspark.record(str(tmp_path / "prov"), task="t", output=places["copy.csv"], relations=[relation])
    return provspark.open(tmp_path / "prov")


def test_columns_of_the_users_are_not_taken_for_ours(odd: Any, tmp_path: Path) -> None:
    copied, source = str(tmp_path / "copy.csv"), str(tmp_path / "odd.csv")
    values = odd.backward(copied, [1, 0]).values()
    ours = ["_dataset", "_version", "__row"]
    assert values.table().column_names == [*ours, *ODD]
    assert values.table()["related_row"].to_pylist() == [100, 200]
    assert values.to_pandas().columns.tolist() == pa.table(values).column_names == [*ours, *ODD]
    assert values.exact and values.stops == ()
    for given in (values, values.table(), pa.Table.from_pandas(values.to_pandas()), pickle.loads(pickle.dumps(values))):
        assert list(odd.forward(given, to=copied).rows) == [0, 1]
        assert odd.values(given) == odd.values(source, [1, 2])
    assert list(odd.forward(odd.values(source, [2]), to=copied).rows) == [1]
    few = values.table().select(["related_row", "dataset", "version"])
    with pytest.raises(ProvSparkError):
        odd.forward(few)
    assert _shown(values).find(".//table") is not None
    with pytest.warns(DeprecationWarning):
        assert odd.ask.values(source).column_names == ODD


def test_values_are_rows_to_ask_about(prov: Any, folder: Path) -> None:
    values = prov.values(str(folder / "people.csv"), [3, 0, 3])
    assert list(prov.forward(values, to=str(folder / "report.csv")).rows) == [0, 1]
    with pytest.raises(AnswerMemberError, match="in place of a dataset"):
        _ = values.rows
    assert values.values() is values


def test_values_of_several_datasets_can_be_pickled(prov: Any, folder: Path) -> None:
    table = prov.values(str(folder / "people.csv")).table()
    several = Values({"a": table, "b": table.slice(1)})
    copied = pickle.loads(pickle.dumps(several))
    assert isinstance(copied, Values) and copied == several and copied.tables["b"].num_rows == 4
    assert several != Values({"a": table, "c": table.slice(1)}) and several != Values({"a": table})
    assert several != prov.values(str(folder / "people.csv")) != several
    assert len(several) == len(list(several)) == 9
    assert copy.deepcopy(several) is several


def test_values_say_whether_they_are_of_an_exact_answer(prov: Any, folder: Path) -> None:
    answer = prov.backward(str(folder / "report.csv"), to=str(folder / "people.csv"))
    stop = Stop("coarse", "s", "d", "why")
    unsure: Answer = replace(answer, stops=(stop,))
    assert answer.values().exact and not unsure.values().exact
    assert unsure.values().stops == (stop,) == pickle.loads(pickle.dumps(unsure.values())).stops


def test_unknown_members_are_unknown(prov: Any, folder: Path) -> None:
    for answer in every_answer(prov, folder).values():
        with pytest.raises(AttributeError):
            _ = answer.no_such
        assert inspect.isclass(type(answer))


def test_no_name_steers_a_terminal_or_forges_a_line(tmp_path: Path) -> None:
    """Names of folders and steps may hold line breaks and controls: a `repr` and HTML show them escaped."""
    folder = tmp_path / "first\nforged\x1b[31m\x9b\u202e\u2028\t"
    folder.mkdir()
    people(folder)
    told = every_answer(provspark.api.open(folder / "prov"), folder) | replayed_answers()
    for name, answer in told.items():
        for shown in (repr(answer), answer._repr_html_()):
            hidden = [c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")]
            assert not hidden, (name, shown)
    assert "first⏎forged\\x1b[31m\\x9b\\u202e\\u2028⇥" in repr(told["select"])
    assert all("forged" in told[name]._repr_html_() for name in ("select", "trace", "neighbourhood"))
