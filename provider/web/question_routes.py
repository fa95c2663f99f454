"""A route for each question, generated from its parameters and the class of its answer."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

import numpy as np
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response
from pydantic import TypeAdapter

from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.parameters import documentation, replays
from provspark.index_store.query.question import Question
from provspark.index_store.query.questions.select import select
from provspark.web import answer_models as told
from provspark.web import models, rows
from provspark.web.answer_forms import AskedFor, form_of, shown
from provspark.web.paging import Page, Paged
from provspark.web.problems import RESPONSES, TOO_MANY
from provspark.web.question_arguments import (
    Arguments,
    answered,
    arguments_of,
    checked_columns,
    python,
)
from provspark.web.question_bodies import asked_over_http, body, fields
from provspark.web.replays import replayed
from provspark.web.routes import Seen
from provspark.web.scope import UserScope
from provspark.web.threads import Route, as_json, in_thread

__all__ = ["question_router"]


def question_router() -> APIRouter:
    """Create the routes of all questions that are registered so far."""
    router = APIRouter(prefix="/api/v1", responses=RESPONSES, route_class=Route)
    questions = asked_over_http()
    described = told.QuestionsJson(questions=[_described(q) for q in questions])

    def list_questions(scope: Seen) -> told.QuestionsJson:
        """List the questions that `POST /questions/NAME` answers, with their parameters."""
        return described

    router.add_api_route("/questions", list_questions, methods=["GET"])
    for question in questions:
        again = replays(question)
        router.add_api_route(
            f"/questions/{question.name}",
            _replaying(question) if again else _answering(question),
            methods=["POST"],
            name=question.name,
            description=documentation(question).short_description or "",
            response_model=form_of(question),
            responses=TOO_MANY if again else None,
        )
    return router


def _described(question: Question) -> told.QuestionJson:
    return told.QuestionJson(
        name=question.name,
        summary=documentation(question).short_description or "",
        paper=question.paper,
        replays=replays(question),
        parameters=[
            told.ParameterJson(
                name=p.name,
                takes=p.takes,
                many=p.many,
                required=p.required,
                default=p.default if isinstance(p.default, bool | int | str) else None,
                choices=list(p.choices),
                help=" ".join(p.help.split()),
            )
            for p in fields(question)
        ],
    )


def _answering(question: Question) -> Callable[..., Any]:
    def ask(scope: UserScope, page: Page, query: models.Model) -> models.Model:
        return _answer(scope, question, *arguments_of(scope, question, query), page)

    return _named(question, ask, form_of(question), scope=Seen, page=Paged, query=body(question))


def _replaying(question: Question) -> Callable[..., Any]:
    form = form_of(question)
    kind: TypeAdapter[Any] = TypeAdapter(form)

    async def ask(request: Request, scope: UserScope, page: Page, query: models.Model) -> Response:
        def read() -> tuple[Arguments, VersionReference | None]:
            arguments, at = arguments_of(scope, question, query)
            if _will_replay(question, arguments):
                _few(scope, question, arguments)
            return arguments, at

        def answer() -> Response:
            return as_json(_answer(scope, question, arguments, at, page), kind)

        arguments, at = await in_thread(read)
        if not _will_replay(question, arguments):
            return await in_thread(answer)
        content = await replayed(request, scope, question.name, arguments, page.cursor, page.limit)
        return await in_thread(lambda: as_json(form.model_validate(content), kind))

    return _named(question, ask, Response, request=Request, scope=Seen, page=Paged, query=body(question))


def _named(question: Question, ask: Callable[..., Any], answer: Any, **parameters: Any) -> Callable[..., Any]:
    """Set a function's name, docstring and signature, from which FastAPI describes its route."""
    kinds = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind) for name, kind in parameters.items()]
    ask.__name__, ask.__doc__ = question.name, documentation(question).short_description
    ask.__signature__ = Signature(kinds, return_annotation=answer)  # type: ignore[attr-defined]
    return ask


def _answer(
    scope: UserScope, question: Question, arguments: Arguments, at: VersionReference | None, page: Page
) -> models.Model:
    if question.name == "values":
        return _values(scope, question, arguments, page)
    answer = answered(scope, question, arguments)
    return shown(
        AskedFor(scope, arguments, at, question.words, checked_columns(question), page.cursor, page.limit), answer
    )


def _values(scope: UserScope, question: Question, arguments: Arguments, page: Page) -> told.ValuesJson:
    """Read the values of the page's rows only, since the question may select any number of rows."""
    given = python(question, arguments)
    dataset, columns = given.pop("dataset"), given.pop("columns", None)
    chosen = select(scope.prov, dataset, **given)
    numbers = np.array(given["rows"], dtype=np.int64) if "rows" in given else chosen.runs
    part = rows.page(chosen.at, numbers, scope.visible, page.cursor, page.limit, columns)
    return told.ValuesJson(tables=[part], next=part.next)


def _will_replay(question: Question, arguments: Arguments) -> bool:
    """Return whether the request needs a replay: always, unless the question has a flag `replay` that is not set."""
    flagged = any(p.name == "replay" and p.takes == "flag" for p in fields(question))
    return bool(arguments.get("replay")) or not flagged


def _few(scope: UserScope, question: Question, arguments: Arguments) -> None:
    """Raise an error if a replay selects no rows, or more than the limit."""
    by_column = question.name == "history" and "columns" in arguments and not {"rows", "where"} & arguments.keys()
    if by_column or all(p.name != "rows" for p in fields(question)):
        return  # the history of columns needs no replay; questions without `rows` replay what they need
    count = len(arguments["rows"]) if "rows" in arguments else _selected(scope, question, arguments)
    if not 0 < count <= models.MAX_REPLAYED:
        raise HTTPException(422, f"{count:,} rows are selected for a replay. Select 1 to {models.MAX_REPLAYED} rows.")


def _selected(scope: UserScope, question: Question, arguments: Arguments) -> int:
    which = {k: v for k, v in python(question, arguments).items() if k in ("where", "version", "run", "as_of")}
    return len(select(scope.prov, arguments["dataset"], **which))
