"""Answers of every class are pickled, copied and compared by what they hold."""

from __future__ import annotations

import copy
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _every_answer import answer_classes, every_answer, replayed_answers
from _people import people

import provspark
from provspark.errors import ProvSparkError, StoreMissingError, UnpickledAnswerError
from provspark.index_store.query.tabular import FormerTable, Readable

NAMES = (
    *("datasets", "steps", "unfinished", "select", "locate", "values", "backward", "backward to all", "forward"),
    *("trace", "trace forward", "how", "co_contributory", "co_dependency", "composition", "correspondence"),
    *("derivations", "columns", "columns stopped", "cells", "cells forward", "operations", "operations of columns"),
    *("operations of rows", "operations of a step", "dropped", "neighbourhood", "cell_neighbourhood", "profile"),
    *("impact", "answer values", "none", "located elsewhere"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    people(folder)
    return folder


def answers(folder: Path) -> dict[str, Any]:
    """An answer of each question that needs no Spark, from a store that was opened for them."""
    prov = provspark.open(folder / "prov")
    told = every_answer(prov, folder)
    told["trace forward"] = prov.trace(str(folder / "people.csv"), direction="forward")
    told["located elsewhere"] = prov.locate(str(folder / "report.csv"), [1])
    return told


@pytest.fixture(scope="module")
def first(folder: Path) -> dict[str, Any]:
    return answers(folder)


@pytest.fixture(scope="module")
def second(folder: Path) -> dict[str, Any]:
    return answers(folder)


def content(answer: Any) -> list[Any]:
    """What an answer shows."""
    if isinstance(answer, FormerTable):  # whatever else it has is in the table's metadata
        return [answer.table(), answer.table().schema.metadata, answer.stops, answer.exact]
    told = [repr(answer), answer._repr_html_(), *([answer.table()] if isinstance(answer, Readable) else [])]
    told += [getattr(answer, name)() for name in ("as_dict", "graphml", "prov_json", "counts") if has(answer, name)]
    names = ("stops", "exact", "used", "gone", "endings")
    return told + [getattr(answer, name) for name in names if has(answer, name)]


def has(answer: Any, name: str) -> bool:
    return name in dir(type(answer))


def test_every_class_that_a_question_returns_is_among_them(first: dict[str, Any]) -> None:
    assert first.keys() - {"pickled"} == set(NAMES)
    kinds = {type(a).__name__ for a in (*first.values(), *replayed_answers().values())}
    assert {kind.__name__ for kind in answer_classes().values()} <= kinds


@pytest.mark.parametrize("name", NAMES)
def test_pickled_answers_keep_what_they_hold(name: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    answer = first[name]
    for other in (pickle.loads(pickle.dumps(answer)), pickle.loads(pickle.dumps(copy.copy(answer)))):
        assert content(other) == content(answer)
        assert other == answer == copy.deepcopy(answer)
        assert pickle.loads(pickle.dumps(other)) == answer
    assert answer == second[name], "from the reopened store"
    assert type(answer).__hash__ is None or hash(answer) == hash(second[name]) == hash(other)


@pytest.mark.parametrize("name", list(replayed_answers()))
def test_answers_that_need_spark_are_pickled_and_compared(name: str) -> None:
    answer, again = replayed_answers()[name], replayed_answers()[name]
    assert pickle.loads(pickle.dumps(answer)) == answer == copy.deepcopy(answer) == again
    assert content(pickle.loads(pickle.dumps(answer))) == content(answer)
    assert hash(answer) == hash(again)


def test_answers_to_other_questions_are_not_equal(first: dict[str, Any]) -> None:
    kinds = [first[name] for name in NAMES if not isinstance(first[name], FormerTable)]
    for number, answer in enumerate(kinds):
        for other in kinds[:number]:
            same = {type(answer).__name__, type(other).__name__} == {"RowSet", "Located"}
            assert same or answer != other, (answer, other)
        assert answer != "an answer"


@pytest.mark.parametrize(
    "ask",
    [
        lambda prov, of, rows: prov.select(of, rows),
        lambda prov, of, rows: prov.locate(of, rows),
        lambda prov, of, rows: prov.trace(of, rows),
        lambda prov, of, rows: prov.derivations(of, rows),
        lambda prov, of, rows: prov.neighbourhood(of, rows),
        lambda prov, of, rows: prov.cell_neighbourhood(of, rows),
        lambda prov, of, rows: prov.correspondence(of, to=of.replace("clean", "people"), rows=prov.select(of, rows)),
    ],
    ids=["select", "locate", "trace", "derivations", "neighbourhood", "cell_neighbourhood", "correspondence"],
)
def test_answers_about_other_rows_are_not_equal(folder: Path, ask: Callable[..., Any]) -> None:
    prov, of = provspark.open(folder / "prov"), str(folder / "clean.csv")
    assert ask(prov, of, [0]) == ask(prov, of, [0]) != ask(prov, of, [1])


def test_an_unpickled_answer_can_be_asked_about(folder: Path, first: dict[str, Any]) -> None:
    prov, report = provspark.open(folder / "prov"), str(folder / "report.csv")
    for name in ("select", "locate"):
        rows = pickle.loads(pickle.dumps(first[name]))
        for question in (prov.backward, prov.trace, prov.neighbourhood, prov.derivations, prov.values, prov.cells):
            assert question(rows) == question(report)
        assert prov.locate(rows) == prov.locate(prov.select(report))
        assert rows | prov.select(report) == rows
    told = pickle.loads(pickle.dumps(first["derivations"]))
    some = prov.select(str(folder / "clean.csv"), [1])
    assert told.slice(some).table() == first["derivations"].slice(some).table() != told.table()


def test_without_the_store_what_an_answer_holds_stays(tmp_path: Path) -> None:
    """What is read from the store says that the answer was unpickled, and what to do."""
    people(tmp_path)
    told = {name: a for name, a in answers(tmp_path).items() if name != "pickled"}
    pickled, shown = pickle.dumps(told), {name: content_of_own(a) for name, a in told.items()}
    derivations = told["derivations"].kept
    shutil.move(tmp_path / "prov", tmp_path / "moved")
    again = pickle.loads(pickled)
    assert {name: content_of_own(a) for name, a in again.items()} == shown
    with pytest.raises(UnpickledAnswerError, match=r"was unpickled.*provspark.open") as raised:
        again["neighbourhood"].prov_json()
    assert pickle.loads(pickle.dumps(raised.value)).url == raised.value.url
    assert isinstance(raised.value.__cause__, StoreMissingError) and isinstance(raised.value, ProvSparkError)
    with pytest.raises(UnpickledAnswerError):
        again["derivations"].project(derivations).table()
    prov = provspark.open(tmp_path / "moved")
    report = str(tmp_path / "report.csv")
    assert prov.backward(again["select"]) == prov.backward(report)
    assert prov.locate(again["select"]) == prov.locate(prov.select(report))


def content_of_own(answer: Any) -> list[Any]:
    """What an answer holds itself."""
    return content(answer) if not has(answer, "prov_json") else [answer, repr(answer), answer._repr_html_()]


def test_another_process_reads_them(folder: Path, first: dict[str, Any], tmp_path: Path) -> None:
    there = tmp_path / "answers.pickle"
    there.write_bytes(pickle.dumps([first["select"], first["correspondence"], first["trace"]]))
    code = (
        "import pickle, sys; rows, pairs, trace = pickle.load(open(sys.argv[1], 'rb'));"
        "print(list(rows), pairs.table().num_rows, len(trace.nodes), trace.as_dict()['stops'])"
    )
    run = subprocess.run([sys.executable, "-c", code, str(there)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == f"[0, 1] {len(first['correspondence'])} {len(first['trace'].nodes)} []"
