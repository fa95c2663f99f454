"""Bodies of requests to any question, made of its parameters alone: a new question is asked, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from provspark.index_store.query.question import Question
from provspark.web.question_bodies import fields

__all__ = ["every_parameter", "least"]


def least(question: Question, given: Mapping[str, Any]) -> dict[str, Any]:
    """A body with the parameters that must be given, by what they take; `dataset` is what most of them are about."""
    return {p.name: _value(p.takes, p.many, given) for p in fields(question) if p.required}


def every_parameter(question: Question, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Bodies that give each parameter once, beside those that must be given; and one that gives no other."""
    must = least(question, given)
    yield must
    for p in fields(question):
        for value in p.choices or (True, False) if p.takes in ("choice", "flag") else [_value(p.takes, p.many, given)]:
            more = {"rows": None} if p.name == "where" and "rows" in must else {}
            yield {**must, **more, p.name: value}


def _value(takes: str, many: bool, given: Mapping[str, Any]) -> Any:
    if takes == "former names":
        return {given["column"]: given["column"]}
    value = given.get(takes, given["dataset"] if takes in ("step or dataset", "place") else _VALUES.get(takes))
    return [value] if many and not isinstance(value, list) else value


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
