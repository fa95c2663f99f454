"""Errors as problem documents (RFC 9457), with a hint on what to do."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from provspark import errors

__all__ = ["RESPONSES", "TOO_MANY", "Problem", "add_handlers", "described", "problem"]

_log = logging.getLogger(__name__)


class Problem(BaseModel):
    """An error as the API tells it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


_TOLD = (400, 401, 403, 404, 409, 413, 422, 503)
RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": HTTPStatus(code).phrase} for code in _TOLD
}

TOO_MANY: dict[int | str, dict[str, Any]] = {
    429: {
        "model": Problem,
        "description": HTTPStatus(429).phrase,
        "headers": {"Retry-After": {"description": "Seconds after which to try again", "schema": {"type": "integer"}}},
    }
}

_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (errors.UnknownDatasetError, 404),
    (errors.UnknownVersionError, 404),
    (errors.UnknownStepError, 404),
    (errors.RowOutOfRangeError, 422),
    (errors.ConditionError, 422),
    (errors.VersionChangedError, 409),
    (errors.ValuesUnavailableError, 409),
    (errors.TooManyReplaysError, 429),
    (errors.ReplayError, 409),
    (errors.TooManyStepsError, 422),
    (errors.PackageMissingError, 503),
    (errors.JavaNotFoundError, 503),
    (errors.QuestionCancelledError, 503),
    (errors.SettingsError, 503),
    (errors.StoreUnreachableError, 503),
)


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return a problem document."""
    body = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail)
    return JSONResponse(body.model_dump(), status, headers, media_type="application/problem+json")


def described(app: FastAPI) -> dict[str, Any]:
    """Return the app's OpenAPI description with the media type that its errors have."""
    if app.openapi_schema is None:
        description = FastAPI.openapi(app)
        for path in description["paths"].values():
            for operation in path.values():
                for status, answer in operation["responses"].items():
                    if int(status) >= 400:
                        answer["content"] = {"application/problem+json": answer["content"].pop("application/json")}
    assert app.openapi_schema is not None
    return app.openapi_schema


def add_handlers(app: FastAPI) -> None:
    """Let the app answer errors with problem documents."""

    def failed(_request: Request, error: Any) -> Response:
        return problem(error.status_code, str(error.detail), error.headers)

    def invalid(_request: Request, error: Any) -> Response:
        # What was sent is not repeated: it may be long, and it is of no use.
        told = [f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors()[:5]]
        return problem(422, "; ".join(told)[:2000])

    def refused(request: Request, error: Any) -> Response:
        for kind, status in _STATUS:
            if isinstance(error, kind):
                again = {"Retry-After": str(error.seconds)} if isinstance(error, errors.TooManyReplaysError) else None
                return problem(status, request.app.state.source.visible.error(error), again)
        # The rest tells of files and databases, which is for the log.
        _log.error("%s", error)
        down = isinstance(error, errors.CatalogueError)
        what = "the catalogue does not answer" if down else "the question could not be answered"
        return problem(503 if down else 500, f"{what}; the api-server's log says more")

    app.add_exception_handler(HTTPException, failed)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(errors.ProvSparkError, refused)
