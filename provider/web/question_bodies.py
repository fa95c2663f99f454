"""Request bodies of questions, generated from the questions' parameters."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model

from provspark.index_store.query.parameters import Parameter, parameters
from provspark.index_store.query.question import QUESTIONS, Question
from provspark.web import models
from provspark.web.limits import MOST_CONDITIONS, few_conditions
from provspark.web.whole_numbers import WHOLE

__all__ = ["asked_over_http", "body", "fields"]

_LEFT_OUT = ("progress", "functions")
"""Parameters that HTTP does not accept: a progress callback, and permission to run the user's functions, which a server
must not do."""
_WORD = Annotated[str, Field(min_length=1, max_length=500)]
_PLACE = Annotated[str, Field(min_length=1, max_length=2000)]
"""Id of a dataset, or its name as the API shows it."""
_TYPES: dict[str, Any] = {
    "dataset": _PLACE,
    "step": _WORD,
    "step or dataset": _PLACE,
    "place": _PLACE,
    "column": models.ColumnName,
    "rows": models.RowId,
    "conditions": models.ConditionText,
    "version": models.VersionId,
    "run": _WORD,
    "moment": Annotated[str, Field(min_length=1, max_length=64, examples=["2026-05-31T12:00:00Z"])],
    "operation": Annotated[int, Field(ge=0, le=1_000_000), WHOLE],
    "trust": _WORD,
    "flag": bool,
    "number": Annotated[int, Field(ge=0, le=models.MAX_ROWS), WHOLE],
}
"""Type of a field, by the kind of its parameter (`takes`)."""
_NAMES = {"dataset", "step or dataset", "place"}
_HOW = "Over HTTP, name a dataset by its `id`, or by its `name` in a response."


def asked_over_http() -> list[Question]:
    """Return the questions that have a route: all but those that return another question's answer page by page."""
    return [q for q in QUESTIONS.values() if not q.pages_of]


def fields(question: Question) -> tuple[Parameter, ...]:
    """Return the parameters of a question that HTTP accepts."""
    return tuple(p for p in parameters(question) if p.name not in _LEFT_OUT)


@cache
def body(question: Question) -> type[models.Model]:
    """Return the model of a question's request body."""
    made: dict[str, Any] = {p.name: (_type(question, p), _field(p)) for p in fields(question)}
    name = "".join(word.capitalize() for word in question.name.split("_"))
    about = f"Parameters of `{question.name}`."
    return create_model(f"{name}Question", __base__=models.Model, __doc__=about, **made)


def _type(question: Question, parameter: Parameter) -> Any:
    kind = _item(question, parameter)
    if parameter.takes == "former names":
        kind = Annotated[dict[models.ColumnName, models.ColumnName], Field(max_length=1000)]
    elif parameter.takes == "conditions":
        some = list[kind] if parameter.required else list[kind] | None  # type: ignore[valid-type]
        few = AfterValidator(few_conditions)
        return Annotated[some, few, Field(json_schema_extra=MOST_CONDITIONS)]
    elif parameter.many:
        kind = Annotated[list[kind], Field(max_length=models.MAX_ROWS)]  # type: ignore[valid-type]
    return kind if parameter.required else kind | None


def _item(question: Question, parameter: Parameter) -> Any:
    if parameter.takes == "choice":
        return Literal[parameter.choices]
    if parameter.takes == "kinds":
        return Literal[tuple(sorted(question.follows))]
    return _TYPES.get(parameter.takes)


def _field(parameter: Parameter) -> Any:
    help = " ".join(parameter.help.split())
    told = f"{help} {_HOW}" if parameter.takes in _NAMES else help
    if parameter.required:
        return Field(description=told)
    default = parameter.default if isinstance(parameter.default, bool | int | str) else None
    return Field(default=default, description=told)
