"""Arguments of a question from a request, limited to what the user may see and to columns that are not masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fastapi import HTTPException

from provspark.index_store.query.asking import Which
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.parameters import Parameter
from provspark.index_store.query.question import Question
from provspark.index_store.query.questions.select import select
from provspark.index_store.values.conditions import parse_condition
from provspark.model.datasets import Dataset
from provspark.model.errors import UnknownColumnError
from provspark.web import models
from provspark.web.question_bodies import fields
from provspark.web.scope import UserScope

__all__ = ["Arguments", "answered", "arguments_of", "checked_columns", "version_asked"]

Arguments = dict[str, Any]
"""Arguments by parameter name, as in the JSON body: conditions are texts."""
_VERSION = ("version", "run", "as_of")


def arguments_of(scope: UserScope, question: Question, body: models.Model) -> tuple[Arguments, VersionReference | None]:
    """Return the arguments in a request, and the version that the question is about (see `version_asked`).

    Raises
    ------
    HTTPException
        404 for a dataset or step that does not exist or that the user may not see; 403 for a question about masked
        values.
    """
    if question.compares and not scope.visible.open:
        raise HTTPException(
            403,
            f"`{question.name}` compares the values of all columns, which is not allowed while values are masked. "
            "Ask an administrator.",
        )
    parameters = fields(question)
    given = {p: getattr(body, p.name) for p in parameters if p.name in body.model_fields_set}
    arguments = {p.name: _resolved(scope, p, value) for p, value in given.items() if value is not None}
    at = _version(scope, parameters, arguments)
    _check(scope, parameters, arguments, at)
    return arguments, at


def python(question: Question, arguments: Arguments) -> Arguments:
    """Convert arguments to those of the question's Python function."""
    read = {p.name for p in fields(question) if p.takes == "conditions"}
    return {k: [parse_condition(text) for text in v] if k in read else v for k, v in arguments.items()}


def answered(scope: UserScope, question: Question, arguments: Arguments, **more: Any) -> Any:
    """Run a question on what the user may see.

    Raises
    ------
    UnknownColumnError
        If columns are masked, the message suggests no names, since names can be made from values.
    """
    try:
        return question.function(scope.prov, **python(question, arguments), **more)
    except UnknownColumnError:
        if scope.visible.open:
            raise
        raise _unknown() from None


def version_asked(scope: UserScope, question: Question, arguments: Arguments) -> VersionReference | None:
    """Return the version that a question is about; None for a question about a step or the whole store."""
    return _version(scope, fields(question), arguments)


def checked_columns(question: Question) -> bool:
    """Return whether requests must name the column of the answer's values; `arguments_of` rejects masked columns."""
    return any(p.takes == "column" and not p.many and p.required for p in fields(question))


def _resolved(scope: UserScope, parameter: Parameter, value: Any) -> Any:
    if parameter.takes == "dataset":
        find = _dataset
    elif parameter.takes == "step":
        find = _step
    elif parameter.takes in ("step or dataset", "place"):
        find = _place
    else:
        return value
    return [find(scope, one) for one in value] if parameter.many else find(scope, value)


def _dataset(scope: UserScope, name: str) -> str:
    return str(scope.named(name))


def _step(scope: UserScope, name: str) -> str:
    return scope.step(name).step


def _place(scope: UserScope, name: str) -> str:
    return name if name in scope.manifests else _dataset(scope, name)


def _check(
    scope: UserScope, parameters: Iterable[Parameter], arguments: Arguments, at: VersionReference | None
) -> None:
    """Reject requests whose answers would reveal masked values: which rows have them, how many, or which are equal."""
    if at is not None and arguments.get("semantics") == "set" and any(scope.visible.masked(at)):
        raise HTTPException(
            403,
            "`semantics: set` compares rows by all their columns, and this dataset has masked columns. "
            "Leave out `semantics`.",
        )
    if arguments.get("replay") and not scope.visible.open:
        raise HTTPException(
            403, "`replay: true` would reveal masked values, and this server masks columns. Leave out `replay`."
        )
    for p in parameters:
        if p.name not in arguments:
            continue
        if p.takes == "conditions":
            asked = [parse_condition(text).column for text in arguments[p.name]]
        elif p.takes == "column" and not p.many:
            asked = [arguments[p.name]]
        else:
            if p.takes == "column" and at is not None:
                for name in arguments[p.name]:
                    scope.visible.find(at, name)
            continue
        for column in asked:
            if p.name == "where" and at is not None:
                scope.visible.ask(at, column)
            else:
                _ask(scope, list(_versions(scope, parameters, arguments)), column)


def _ask(scope: UserScope, versions: Iterable[VersionReference], column: str) -> None:
    """Reject a column that is masked in any of the versions that the question may read."""
    known = False
    for at in versions:
        try:
            scope.visible.ask(at, column)
        except UnknownColumnError:
            continue
        known = True
    if not known:
        raise _unknown()


def _version(scope: UserScope, parameters: Iterable[Parameter], arguments: Arguments) -> VersionReference | None:
    first = next(iter(parameters), None)
    if first is None or first.takes not in ("dataset", "step or dataset") or arguments[first.name] in scope.manifests:
        return None
    which: Which = {name: arguments[name] for name in _VERSION if name in arguments}  # type: ignore[assignment]
    return select(scope.prov, arguments[first.name], (), **which).at


def _versions(
    scope: UserScope, parameters: Iterable[Parameter], arguments: Mapping[str, Any]
) -> Iterator[VersionReference]:
    """Yield all versions of the datasets that a request names, and those that the steps it names read or wrote."""
    graph = scope.prov.graph
    for p in parameters:
        if p.takes not in ("dataset", "step", "step or dataset", "place") or p.name not in arguments:
            continue
        for name in arguments[p.name] if p.many else [arguments[p.name]]:
            if name in scope.manifests:
                for node in (n for n in graph.nodes if n.step == name):
                    yield from (node.output, *node.inputs.values())
            else:
                yield from graph.references(Dataset.parse(name))


def _unknown() -> UnknownColumnError:
    return UnknownColumnError("A column in the request does not exist. GET /datasets/{dataset} lists the columns.")
