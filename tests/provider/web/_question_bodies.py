"""Bodies of requests to any question, made of its parameters alone: a new question is asked, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from provspark.index_store.query.parameters import Parameter
from provspark.index_store.query.question import Question
from provspark.web.question_bodies import fields

__all__ = ["every_parameter", "least"]


def least(question: Question, given: Mapping[str, Any]) -> dict[str, Any]:
    """A body with the parameters that must be given.

    Parameters
    ----------
    given : mapping
        Values by what parameters take: `dataset` for what most questions are about; and by the names of parameters that
        take another data set.
    """
    return {p.name: _value(p, given) for p in fields(question) if p.required}


def every_parameter(question: Question, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Bodies that give each parameter once, beside those that must be given; and one that gives no other."""
    must = least(question, given)
    yield must
    for p in fields(question):
        values: tuple[Any, ...] = (_value(p, given),)
        if p.takes in ("choice", "flag"):
            values = p.choices or (True, False)
        more = {"rows": None} if p.name == "where" and "rows" in must else {}
        for value in values:
            yield {**must, **more, p.name: value}


def _value(p: Parameter, given: Mapping[str, Any]) -> Any:
    if p.takes == "former names":
        return {given["column"]: given["column"]}
    if p.takes in _PLACES:
        value = given.get(p.name, given.get(p.takes, given["dataset"]))
    else:
        value = given.get(p.takes, _VALUES.get(p.takes))
    return [value] if p.many and not isinstance(value, list) else value


_PLACES = ("dataset", "step or dataset", "place")
_VALUES: dict[str, Any] = {
    "rows": [0],
    "run": "latest",
    "moment": "2126-01-01T00:00:00Z",
    "operation": 1,
    "kinds": "data",
    "trust": "coarse",
    "number": 100,
    "flag": True,
}
