"""Arguments of a wrong type: a typed error that names the parameter and tells what was found."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _steps import publish, version, write

import provspark
from provspark.errors import ArgumentError, ConditionError
from provspark.index_store.store.store import Store

WRONG: dict[str, tuple[Callable[[Any], object], type[Exception], str]] = {
    "data set": (lambda p: p.backward(5).table(), ArgumentError, "A dataset must be a path or URL, not 5"),
    "goal": (lambda p: p.backward("/out", [0], to=5).table(), ArgumentError, "must be a path or URL, not 5"),
    "no goal": (
        lambda p: p.backward("/out", [0], to="").table(),
        ArgumentError,
        "name of the dataset is empty. Pass its path",
    ),
    "no data set": (lambda p: p.backward(" ").table(), ArgumentError, "The name of the dataset is empty"),
    "no witness": (
        lambda p: p.co_dependency("/out", to="/in", via="").table(),
        ArgumentError,
        "of the dataset is empty",
    ),
    "no step": (lambda p: p.operations("").table(), ArgumentError, "of the dataset is empty"),
    "way": (lambda p: p.backward("/out", [0], via=5).table(), ArgumentError, "via takes a list, found 5"),
    "rows": (lambda p: p.backward("/out", 3).table(), ArgumentError, "rows takes a list, found 3"),
    "kinds": (lambda p: p.backward("/out", [0], kinds=5).table(), ArgumentError, "kinds takes a list, found 5"),
    "mapping as rows": (lambda p: p.backward("/out", {0: 1}).table(), ArgumentError, "rows takes a list, found {0: 1}"),
    "where": (lambda p: p.backward("/out", where=5).table(), ArgumentError, "where takes a list, found 5"),
    "text as where": (lambda p: p.backward("/out", where="a = 1").table(), ConditionError, "not 'a = 1'"),
    "parameter": (
        lambda p: p.backward("/out", [0], who=1).table(),
        ArgumentError,
        "Unknown parameter 'who'. Use one of: where",
    ),
    "answer": (lambda p: p.backward("/out", [0]) | 5, ArgumentError, "another answer, found 5"),
    "set of rows": (lambda p: p.select("/out") - 5, ArgumentError, "another set of rows, found 5"),
    "store": (lambda p: provspark.open(None), ArgumentError, "named by its folder or URL"),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one step: /out of /in."""
    place = tmp_path_factory.mktemp("arguments") / "prov"
    step = write(version("/out", {"o": 2}, ["o"]), [(version("/in", {"i": 2}), [(0, 1)])])
    publish(Store.open(str(place), create=True), "copy", step)
    return place


@pytest.mark.parametrize("name", WRONG)
def test_wrong_types_are_named(name: str, store: Path) -> None:
    ask, kind, says = WRONG[name]
    with pytest.raises(kind, match=re.escape(says)):
        ask(provspark.open(str(store)))


def test_paths_are_as_good_as_text(store: Path) -> None:
    output: Any = Path("/out")
    assert (
        provspark.open(store)
        .backward(output, [0])
        .table()
        .equals(provspark.open(str(store)).backward("/out", [0]).table())
    )
