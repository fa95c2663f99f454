"""The FastAPI app: routes that need a login, error documents, limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import FileResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from provspark.model.release import __version__
from provspark.web.following import Following
from provspark.web.former_routes import router as former
from provspark.web.limits import Limits, named
from provspark.web.operation_routes import router as operations
from provspark.web.problems import add_handlers, described, problem
from provspark.web.question_routes import question_router
from provspark.web.related_routes import router as related
from provspark.web.replay_routes import router as replay
from provspark.web.replays import Replays
from provspark.web.routes import router
from provspark.web.source import AnswerSource
from provspark.web.threads import Route

__all__ = ["STATIC", "create_app", "manifest"]

STATIC = Path(__file__).with_name("static")
_TYPES = {".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}


def create_app(
    source: AnswerSource, login: Callable[..., Any], limits: Limits, installation: str, *, airflow: bool = False
) -> FastAPI:
    """Create the app, to be mounted at ``/provspark``.

    Parameters
    ----------
    source : AnswerSource
    login : callable
        FastAPI dependency that runs before each route. It sets ``request.state.provspark_viewer`` to a `Viewer`, or
        raises.
    limits : Limits
    installation : str
        Servers of this machine that pass the same text share the limits of replays.
    airflow : bool
        Whether Airflow serves the page.
    """
    # FastAPI would serve the documentation pages without a login. The description is in docs/openapi.json.
    app = FastAPI(
        title="ProvSpark",
        version=__version__,
        summary="Row-level data lineage of Spark jobs.",
        servers=[{"url": "/provspark"}],
        dependencies=[Depends(login)],
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    app.state.source, app.state.airflow, app.state.replays = source, airflow, Replays(limits, installation)
    app.include_router(router)
    app.include_router(related)
    app.include_router(former)
    app.include_router(operations)
    app.include_router(replay)
    app.include_router(question_router())
    app.router.route_class = Route
    app.add_api_route("/static/{name}", _static, include_in_schema=False, response_class=FileResponse)
    app.add_middleware(Following, limits=limits)
    app.add_middleware(_Guard, limits=limits)
    add_handlers(app)
    app.openapi = partial(described, app)  # type: ignore[method-assign]
    return app


def manifest() -> dict[str, Any]:
    """Return the manifest of the built page: its files, and what it was built from."""
    content: dict[str, Any] = json.loads((STATIC / "manifest.json").read_text(encoding="utf-8"))
    return content


def _static(name: str) -> FileResponse:
    """Serve a file of the page; only files that its manifest lists."""
    if name not in manifest()["files"]:
        raise HTTPException(404, "The page has no such file. Reload the page.")
    kind = _TYPES.get(Path(name).suffix, "application/octet-stream")
    return FileResponse(STATIC / name, media_type=kind, headers={"Cache-Control": "private, no-cache"})


class _Guard:
    """Middleware that rejects request bodies over the limit, and adds ``nosniff`` and ``no-store`` to responses."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        taken = 0
        body: list[bytes] = []
        announced = {b"content-length", b"transfer-encoding"}
        more = scope["method"] not in ("GET", "HEAD") or any(name.lower() in announced for name, _ in scope["headers"])
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            body.append(message.get("body", b""))
            taken += len(body[-1])
            more = message.get("more_body", False)
            if taken > self._limits.max_body:
                why = (
                    f"The request body has more than {self._limits.max_body:,} bytes, this server's limit "
                    f"({named('max_body')}). Select fewer rows, or select them by conditions (`where`)."
                )
                await problem(413, why)(scope, receive, send)
                return
        whole: Message | None = {"type": "http.request", "body": b"".join(body), "more_body": False}

        async def replay() -> Message:
            nonlocal whole
            message, whole = whole, None
            return message if message is not None else await receive()

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"] = list(message["headers"])
                headers.append((b"x-content-type-options", b"nosniff"))
                if not any(name.lower() == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"private, no-store"))
            await send(message)

        await self._app(scope, replay if body else receive, guarded)
