"""The page and the API without Airflow: for one person on one machine, who has the token."""

from __future__ import annotations

import secrets
import time
from http import HTTPStatus

from fastapi import FastAPI, HTTPException, Request
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from provspark.web.app import create_app
from provspark.web.events import EVENTS_PATH, Events
from provspark.web.limits import Limits
from provspark.web.login import Viewer, bearer, matches
from provspark.web.problems import problem
from provspark.web.source import AnswerSource

__all__ = ["local_app", "new_token", "nothing_there"]

_LASTS = 12 * 3600
"""Lifetime of a session in seconds; opening the address with the token starts another one."""
_SESSIONS = 1000
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Provenance</title>
<link rel="icon" href="provspark/static/icon.svg">
</head>
<body style="margin:0"><div id="root"></div><script type="module" src="provspark/static/standalone.js"></script></body>
</html>
"""
_PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-store",
}


def new_token() -> str:
    """Return a new random token."""
    return secrets.token_urlsafe(32)


def local_app(
    source: AnswerSource,
    token: str,
    host: str,
    port: int,
    limits: Limits | None = None,
    events: Events | None = None,
) -> Starlette:
    """Create the app that serves the page at ``/`` and the API below ``/provspark``.

    Opening the page's address with the token starts a session. Its cookie contains the session's id, not the token, and
    is sent to this site only. Programs send the token as ``Authorization: Bearer TOKEN``. The server rejects requests
    with another ``Host``, which prevents DNS rebinding, except to the route for `events`: its senders reach this server
    by any name, and a browser that is led here does not have their key.
    """
    logins = _Logins(token, f"provspark_{port}")

    def login(request: Request) -> None:
        user = logins.user(request)
        if user is None:
            raise HTTPException(
                HTTPStatus.UNAUTHORIZED,
                "Not logged in, or the session has expired. Open the address that `provspark serve` printed.",
            )
        request.state.provspark_viewer = Viewer(None, user)

    async def page(request: Request) -> Response:
        given = request.query_params.get("token")
        if given is not None and logins.fits(given):
            rest = request.url.remove_query_params("token")
            answer = RedirectResponse(f"/?{rest.query}" if rest.query else "/", HTTPStatus.SEE_OTHER, _PAGE_HEADERS)
            answer.set_cookie(logins.cookie, logins.begin(), max_age=_LASTS, httponly=True, samesite="strict")
            return answer
        if logins.user(request) is None:
            return problem(
                401, "Not logged in, or the session has expired. Open the address that `provspark serve` printed."
            )
        return HTMLResponse(_PAGE, headers=_PAGE_HEADERS)

    api: FastAPI = create_app(source, login, limits or Limits(), f"serve {source.url()}")
    names = {*_LOOPBACK, host, f"[{host}]"}
    return Starlette(
        routes=[Route("/", page), Mount("/provspark", api), *([events.route] if events else [])],
        lifespan=events.lifespan if events else None,
        middleware=[
            Middleware(_OwnName, names={*names, *(f"{n}:{port}" for n in names)}, events=events is not None),
            Middleware(GZipMiddleware, minimum_size=2000),
        ],
        exception_handlers={HTTPStatus.NOT_FOUND: nothing_there},
    )


async def nothing_there(request: Request, error: Exception) -> Response:
    """Return a 404 for paths of neither the page nor the API, among them paths with a line break."""
    return problem(404, "Nothing exists at this path. The page is at / and the API at /provspark/api/v1.")


class _OwnName:
    """Middleware that rejects requests whose ``Host`` is not one of this server's names."""

    def __init__(self, app: ASGIApp, names: set[str], events: bool) -> None:
        self._app, self._names, self._events = app, names, events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not (self._events and scope["path"] == EVENTS_PATH):
            hosts = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
            if len(hosts) != 1 or hosts[0] not in self._names:
                await problem(
                    421, "The Host header names another server. Open the address that `provspark serve` printed."
                )(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Logins:
    """Logins: programs send the token, browsers the id of a session that was started with it."""

    def __init__(self, token: str, cookie: str) -> None:
        self._token, self.cookie = token, cookie
        self._until: dict[str, float] = {}
        """Time at which each session expires, oldest session first."""

    def fits(self, token: str) -> bool:
        """Return whether this is the token."""
        return matches(token, self._token)

    def begin(self) -> str:
        """Start a session and return its id."""
        while len(self._until) >= _SESSIONS:
            del self._until[next(iter(self._until))]
        made = secrets.token_urlsafe(32)
        self._until[made] = time.monotonic() + _LASTS
        return made

    def user(self, request: Request) -> str | None:
        """Return the request's session id, or "token" if it sends the token; None if it is not logged in."""
        given = bearer(request)
        if given is not None:
            return "token" if self.fits(given) else None
        session = request.cookies.get(self.cookie, "")
        return session if time.monotonic() < self._until.get(session, 0.0) else None
