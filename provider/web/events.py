"""Route that adds OpenLineage events to a catalogue, for senders that have its key."""

from __future__ import annotations

import logging
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from provspark.index_store.catalogue import Catalogue, Ingested
from provspark.model.errors import CatalogueError, EventError, SettingsError
from provspark.web.login import bearer, matches
from provspark.web.problems import problem

__all__ = ["EVENTS_PATH", "Events", "events_app"]

EVENTS_PATH = "/api/v1/lineage"
"""Where OpenLineage's http transport sends events."""
_log = logging.getLogger(__name__)
_MAX_BYTES = 16 * 1024 * 1024


class Events:
    """Receiver of OpenLineage events.

    Senders pass the key as ``Authorization: Bearer KEY``, as OpenLineage's http transport does. Bodies may be
    gzipped. Error responses are problem documents (RFC 9457). File lists are read from the stores that events
    name, so run the server where it can reach these. Otherwise only identical versions are linked.

    Parameters
    ----------
    catalogue_url : str
        As for `Catalogue.open`.
    key : str
        At least 16 characters.
    max_bytes : int
        Maximum size of a body, both compressed and uncompressed.

    Raises
    ------
    SettingsError
        The key is too short.
    CatalogueError
        The catalogue can't be opened.
    """

    def __init__(self, catalogue_url: str, key: str, *, max_bytes: int = _MAX_BYTES) -> None:
        if len(key) < 16:
            raise SettingsError(
                f"the key for events needs at least 16 characters and has {len(key)}; "
                "make one with: python -c 'import secrets; print(secrets.token_urlsafe())'"
            )
        self._key, self._max_bytes = key, max_bytes
        self._catalogue = Catalogue.open(catalogue_url)

    @property
    def route(self) -> Route:
        """The route at `EVENTS_PATH`."""
        return Route(EVENTS_PATH, self._receive, methods=["POST"])

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Close the catalogue when the server stops."""
        yield
        self._catalogue.close()

    async def _receive(self, request: Request) -> Response:
        try:
            self._authorise(request)
            body = await _body(request, self._max_bytes)
            return JSONResponse(_answer(await run_in_threadpool(self._ingest, body)), 201)
        except HTTPException as e:
            return _refused(request, e)

    def _authorise(self, request: Request) -> None:
        given = bearer(request)
        if given is None or not matches(given, self._key):
            why = "the API key is missing or wrong; send it as a header: Authorization: Bearer KEY"
            raise HTTPException(401, why, {"WWW-Authenticate": "Bearer"})

    def _ingest(self, body: bytes) -> Ingested:
        try:
            return self._catalogue.ingest(body)
        except EventError as e:
            raise HTTPException(422, str(e)) from e
        except CatalogueError as e:
            _log.error("An event was not added to the catalogue: %s", e)
            raise HTTPException(503, "the catalogue does not answer; send the event again") from e


def events_app(events: Events) -> Starlette:
    """Create an app that has only the route for events."""
    return Starlette(routes=[events.route], lifespan=events.lifespan, exception_handlers={HTTPException: _refused})


def _refused(_request: Request, error: Any) -> Response:
    return problem(error.status_code, str(error.detail), error.headers)


async def _body(request: Request, limit: int) -> bytes:
    """Read and decompress the body in chunks, so that a large body can't exhaust memory."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise HTTPException(415, f"content encoding {encoding!r} is not supported; send gzip or plain JSON")
    packed = 0
    unpack = zlib.decompressobj(wbits=31) if encoding == "gzip" else None
    body = bytearray()
    async for chunk in request.stream():
        packed += len(chunk)
        if unpack is not None:
            try:
                chunk = unpack.decompress(chunk, limit + 1 - len(body))
            except zlib.error as e:
                raise HTTPException(400, f"the body is not valid gzip: {e}") from e
        body += chunk
        if max(packed, len(body)) > limit:
            raise HTTPException(413, f"the event has more than {limit:,} bytes")
    if unpack is not None and (not unpack.eof or unpack.unused_data):
        raise HTTPException(400, "the gzip body is truncated, or has data after its end")
    return bytes(body)


def _answer(done: Ingested) -> dict[str, Any]:
    if done.declared:
        return {"step": None, "note": "no ProvSpark facet: kept as a declared link"}
    if done.ref is None:
        return {"step": None, "note": "no ProvSpark facet: the event was ignored"}
    return {
        "store": done.ref.store,
        "step": done.ref.step,
        "status": done.status,
        "versions": done.versions,
        "unread": len(done.unread),
    }
