"""`kinds`, `strict` and `trust`: each question follows them, or refuses them by name."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from _least import least
from _people import people

import provspark.api
from provspark.errors import ArgumentError, ConditionError
from provspark.index_store.query.question import QUESTIONS as ALL_QUESTIONS
from provspark.model.writes import Kind

FOLLOWED = {q.name: q.follows for q in ALL_QUESTIONS.values()}
GIVEN: dict[str, Any] = {"place": "clean.csv", "column": "city", "operation": 0, "rows": [0], "conditions": []}
"""By what parameters take; all datasets but the one asked about are `people.csv`."""
REPLAYED = ("replay", "history", "history_pages", "co_contributory_lines", "co_dependency_lines")
DRIVER = ("backward", "forward", "trace")
QUESTIONS = {q.name for q in ALL_QUESTIONS.values() if "which" in inspect.signature(q.function).parameters}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("followed")
    people(made)
    return made


def ask(folder: Path, question: str, **which: Any) -> Any:
    prov = provspark.open(folder / "prov")
    report = str(folder / "report.csv")
    given = {**GIVEN, "dataset": "people.csv", "step or dataset": report, "version": prov.select(report).version}
    asked = least(ALL_QUESTIONS[question], given)
    more = {k: str(folder / v) if str(v) in ("people.csv", "clean.csv") else v for k, v in list(asked.items())[1:]}
    answer = getattr(prov, question)(report, **more, **which)
    return list(answer) if question == "history_pages" else answer


def refusal(folder: Path, question: str, **which: Any) -> str:
    with pytest.raises(ConditionError) as caught:
        ask(folder, question, **which)
    return str(caught.value)


def test_each_question_says_which_edges_it_follows() -> None:
    assert FOLLOWED.keys() >= QUESTIONS
    assert {name for name, kinds in FOLLOWED.items() if kinds == set(get_args(Kind))} == set(DRIVER)


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_kinds(folder: Path, question: str, kind: Kind) -> None:
    if kind in FOLLOWED[question]:
        if question not in REPLAYED:
            ask(folder, question, kinds=["data", kind])
        return
    takers = [name for name, kinds in FOLLOWED.items() if kind in kinds]
    for kinds in ([kind], ["data", kind]):
        said = refusal(folder, question, kinds=kinds)
        assert said.startswith(f"{question} does not follow edges of kind '{kind}'")
        assert said.endswith(", ".join(takers))


@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_strict_and_trust(folder: Path, question: str) -> None:
    if question in DRIVER:
        ask(folder, question, strict=True, trust=["coarse"])
        return
    for name, value in (("strict", True), ("trust", ["coarse"]), ("trust", "coarse")):
        said = refusal(folder, question, **{name: value})
        assert said.startswith(f"{question} does not accept {name}=")
        assert said.endswith("backward, forward, trace")
    if question not in REPLAYED:
        ask(folder, question, strict=False, trust=())


@pytest.mark.parametrize("question", ["forward", "columns", "profile"])
def test_kinds_that_are_no_names(folder: Path, question: str) -> None:
    for wrong in ([["data"]], [{}], [5], [None]):
        with pytest.raises(ConditionError, match=re.escape(f"'context' or 'possible', found {wrong[0]}")):
            ask(folder, question, kinds=wrong)
    with pytest.raises(ArgumentError, match=re.escape("kinds takes a list, found {'data': 1}")):
        ask(folder, question, kinds={"data": 1})


def test_operations_of_some_columns_take_kinds_of_any_iterable(folder: Path) -> None:
    given = ask(folder, "operations", column="first", kinds=iter(("data", "context")))
    assert given.table().equals(ask(folder, "operations", column="first", kinds=("data", "context")).table())
