"""Each question's parameters, as the command line and HTTP read them from its function."""

from __future__ import annotations

import inspect

import pytest

import provspark.api  # registers all questions
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.parameter_types import DatasetName
from provspark.index_store.query.parameters import documentation, parameters
from provspark.index_store.query.question import QUESTIONS, question


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_parameter_says_what_it_takes_and_what_it_is_for(name: str) -> None:
    asked = QUESTIONS[name]
    own = list(inspect.signature(asked.function).parameters)[1:]
    told = parameters(asked)
    assert [p.name for p in told if not p.shared] == [n for n in own if n != "which"]
    assert all(p.help for p in told)
    assert {p.name for p in told if p.shared} <= Which.__annotations__.keys()
    assert documentation(asked).short_description


def test_shared_parameters_are_those_that_a_question_follows() -> None:
    shared = {name: {p.name for p in parameters(QUESTIONS[name]) if p.shared} for name in QUESTIONS}
    rows = {"where", "version", "run", "as_of", "semantics"}
    assert shared["forward"] == {*rows, "kinds", "strict", "trust", "versions"}
    assert shared["backward"] == {*rows, "kinds", "strict", "trust"}
    assert shared["values"] == rows
    assert shared["columns"] == {"version", "run", "as_of", "kinds"}
    assert shared["steps"] == set()


@pytest.mark.usefixtures("registry")
def test_a_type_that_says_nothing_is_refused() -> None:
    @question()
    def vague(prov: Asking, dataset: DatasetName, place: str) -> None:
        """Ask.

        Parameters
        ----------
        dataset : str
            A dataset.
        place : str
            Somewhere.
        """

    with pytest.raises(TypeError, match=r"The type .*str.* of the parameter 'place' of vague does not say"):
        parameters(QUESTIONS["vague"])


@pytest.mark.usefixtures("registry")
def test_a_parameter_that_is_not_described_is_refused() -> None:
    @question()
    def silent(prov: Asking, hops: int) -> None:
        """Ask."""

    with pytest.raises(TypeError, match="The docstring of silent does not describe the parameter 'hops'"):
        parameters(QUESTIONS["silent"])


@pytest.mark.parametrize("name", QUESTIONS)
def test_provenance_has_each_question_by_plain_assignment(name: str) -> None:
    """So that editors and mypy see its signature."""
    own = vars(provspark.api.Provenance)
    assert own.get(name) is QUESTIONS[name].function, f"add `{name} = {name}` to `Provenance` in provider/api.py"
