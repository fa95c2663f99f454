"""Errors as problem documents (RFC 9457) whose `detail` says what to do."""

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
from provspark.web.login import Viewer

__all__ = ["RESPONSES", "TOO_MANY", "ProblemJson", "add_handlers", "described", "problem"]

_log = logging.getLogger(__name__)
_URN = "urn:provspark:"


class ProblemJson(BaseModel):
    """Error (RFC 9457)."""

    type: str = "about:blank"
    """Stable URN of errors that programs may need to distinguish from others with the same status."""
    title: str
    status: int
    detail: str


_TOLD = (400, 401, 403, 404, 409, 413, 422, 503)
RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"model": ProblemJson, "description": HTTPStatus(code).phrase} for code in _TOLD
}

TOO_MANY: dict[int | str, dict[str, Any]] = {
    429: {
        "model": ProblemJson,
        "description": HTTPStatus(429).phrase,
        "headers": {"Retry-After": {"description": "Seconds after which to try again", "schema": {"type": "integer"}}},
    }
}

_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (errors.UnknownDatasetError, 404),
    (errors.UnknownVersionError, 404),
    (errors.UnknownStepError, 404),
    (errors.UnknownRunError, 404),
    (errors.ArgumentError, 422),
    (errors.RowOutOfRangeError, 422),
    (errors.ConditionError, 422),
    (errors.VersionChangedError, 409),
    (errors.ValuesUnavailableError, 409),
    (errors.TooManyReplaysError, 429),
    (errors.ReplayError, 409),
    (errors.TooManyStepsError, 422),
    (errors.UntrackedError, 409),
    (errors.PackageMissingError, 503),
    (errors.JavaNotFoundError, 503),
    (errors.QuestionCancelledError, 503),
    (errors.SettingsError, 503),
)
_STATES: tuple[tuple[type[Exception], str, str], ...] = (
    (
        errors.StoreMissingError,
        "store-missing",
        "There is no store at the place configured for this server: its folder, bucket or format.json is missing. "
        "Check [provspark] store or --store, or restore the store from a backup. The server's log names the place.",
    ),
    (
        errors.StoreAccessError,
        "store-access-denied",
        "The store denies access to this server. Check the permissions of the user that runs it, or its credentials. "
        "The server's log has the reason.",
    ),
    (
        errors.StoreUnreachableError,
        "store-unreachable",
        "The store does not answer: its host is down, its name is unknown, or the connection was refused or timed out. "
        "Try again in a while. The server's log has the reason.",
    ),
    (
        errors.NoCatalogueError,
        "catalogue-missing",
        "There is no catalogue at the place configured for this server. Check [provspark] catalogue, or create the "
        "catalogue with `provspark catalogue init`. The server's log names the place.",
    ),
    (
        errors.CatalogueAccessError,
        "catalogue-access-denied",
        "The catalogue's database denies access to this server. Check the user, the password and the permissions. "
        "The server's log has the reason.",
    ),
    (
        errors.CatalogueUnreachableError,
        "catalogue-unreachable",
        "The catalogue's database does not answer: it is down, its name is unknown, or the connection was refused or "
        "timed out. Try again in a while. The server's log has the reason.",
    ),
)
"""Errors of the store or catalogue as a whole: end of the URN, and a message without locations and names."""
_AGAIN = {"Retry-After": "5"}


_MEND = (
    "Run `provspark verify` to check the store, then `provspark repair`, run the task again, or restore the "
    "file from a backup."
)
_HIDDEN = (
    "This query needs a step that you have no access to, and that step is unreadable. Ask an administrator to check "
    "the server's log."
)


def problem(status: int, detail: str, headers: dict[str, str] | None = None, type: str = "about:blank") -> Response:
    """Return a problem document."""
    body = ProblemJson(type=type, title=HTTPStatus(status).phrase, status=status, detail=detail)
    return JSONResponse(body.model_dump(), status, headers, media_type="application/problem+json")


def _unreadable(error: errors.StepFileError | errors.StoreAccessError) -> Response:
    """Report a file by its path within the store: clients must not see the server's folders."""
    file = error.file or "format.json"
    if isinstance(error, errors.StoreFormatError):
        said = f"{file} has {error.what}. Upgrade airflow-provider-provspark on this server."
        return problem(500, said, type=f"{_URN}format-newer")
    if isinstance(error, errors.StepFileError):
        return problem(500, f"{file} is corrupt: {error.what}. {_MEND}", type=f"{_URN}file-corrupt")
    said = f"{file} can't be read: {error.reason}. Grant read permission to the user that runs this server."
    return problem(500, said, type=f"{_URN}file-unreadable")


def _state_of_store(request: Request, error: Exception) -> Exception:
    """Return the error of the store as a whole if that is why a file can't be read; otherwise the error itself."""
    if isinstance(error, errors.StoreUnreachableError) and error.file:
        try:
            request.app.state.source.check()
        except errors.ProvSparkError as e:
            return e
    return error


def _seen(request: Request, step: str) -> bool:
    """Return whether the user may see a step."""
    viewer: Viewer = request.state.provspark_viewer
    if viewer.dags is None or not step:
        return True
    try:
        scope = request.app.state.source.scope(viewer.dags)
    except errors.ProvSparkError:
        return False
    return bool(scope.sees(step))


def described(app: FastAPI) -> dict[str, Any]:
    """Return the app's OpenAPI description, with the media type of problem documents for errors."""
    if app.openapi_schema is None:
        description = _as_named(FastAPI.openapi(app))
        for path in description["paths"].values():
            for operation in path.values():
                for status, answer in operation["responses"].items():
                    if int(status) >= 400:
                        answer["content"] = {"application/problem+json": answer["content"].pop("application/json")}
        app.openapi_schema = description
    return app.openapi_schema


def _as_named(description: dict[str, Any]) -> dict[str, Any]:
    """Remove the suffix of the models from the schemas' names: `DatasetJson` becomes ``Dataset``."""
    schemas = description["components"]["schemas"]
    names = {name: name.removesuffix("Json") for name in schemas if name.endswith("Json")}

    def renamed(part: Any, key: str = "") -> Any:
        if isinstance(part, dict):
            return {names.get(k, k) if key == "schemas" else k: renamed(v, k) for k, v in part.items()}
        if isinstance(part, list):
            return [renamed(each) for each in part]
        if isinstance(part, str) and key in ("$ref", "title"):
            head, _, name = part.rpartition("/")
            return f"{head}/{names.get(name, name)}" if head else names.get(name, name)
        return part

    named: dict[str, Any] = renamed(description)
    return named


def add_handlers(app: FastAPI) -> None:
    """Make the app respond to errors with problem documents."""

    def failed(_request: Request, error: Any) -> Response:
        return problem(error.status_code, str(error.detail), error.headers)

    def invalid(_request: Request, error: Any) -> Response:
        # Don't repeat the input, which may be long.
        told = [f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors()[:5]]
        return problem(422, "; ".join(told)[:2000])

    def refused(request: Request, error: Any) -> Response:
        error = _state_of_store(request, error)
        if isinstance(error, errors.StepFileError) or (isinstance(error, errors.StoreAccessError) and error.file):
            _log.error("%s", error)
            return (
                _unreadable(error) if _seen(request, error.step) else problem(500, _HIDDEN, type=f"{_URN}step-hidden")
            )
        if isinstance(error, errors.StepRemovedError):
            name = f"Step {error.name}" if _seen(request, error.name) else "A step that you can't see"
            return problem(404, f"{name} was removed from the store while it was being read. Repeat the request.")
        for kind, status in _STATUS:
            if isinstance(error, kind):
                again = {"Retry-After": str(error.seconds)} if isinstance(error, errors.TooManyReplaysError) else None
                return problem(status, request.app.state.source.visible.error(error), again)
        # The messages of other errors name files and databases, which belong in the log only.
        _log.error("%s", error)
        for kind, name, said in _STATES:
            if isinstance(error, kind):
                return problem(503, said, _AGAIN if name.endswith("unreachable") else None, f"{_URN}{name}")
        down = isinstance(error, errors.CatalogueError)
        what = "The catalogue does not answer" if down else "The query failed"
        return problem(503 if down else 500, f"{what}. See the server's log.")

    app.add_exception_handler(HTTPException, failed)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(errors.ProvSparkError, refused)
