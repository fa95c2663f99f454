"""HTTP receiver that adds OpenLineage events to a catalogue: a small app with its own API key."""

from __future__ import annotations

import hmac
import logging
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from provspark.index_store.catalogue import Catalogue, Ingested
from provspark.model.errors import CatalogueError, EventError, PackageMissingError, SettingsError

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["create_app"]

_log = logging.getLogger(__name__)
_MAX_BYTES = 16 * 1024 * 1024


class _RefusedError(Exception):
    """An error response to a request. The sender sees `detail`."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def create_app(catalogue_url: str, api_key: str, *, max_bytes: int = _MAX_BYTES) -> FastAPI:
    """Create the app that receives OpenLineage events at ``POST /api/v1/lineage`` and adds them to a catalogue.

    Senders pass the key as ``Authorization: Bearer KEY``, as OpenLineage's http transport does. Bodies may be
    gzipped. Error responses are problem documents (RFC 9457). The app reads file lists from the stores that events
    name, so run it where it can reach these. Otherwise only identical versions are linked.

    Parameters
    ----------
    catalogue_url : str
        As for `Catalogue.open`.
    api_key : str
        At least 16 characters.
    max_bytes : int
        Maximum size of a body, both compressed and uncompressed.

    Raises
    ------
    SettingsError
        The key is too short.
    CatalogueError
        The catalogue can't be opened.
    PackageMissingError
        FastAPI is not installed.
    """
    try:
        from fastapi import FastAPI
        from starlette.concurrency import run_in_threadpool
        from starlette.exceptions import HTTPException
        from starlette.responses import JSONResponse
    except ImportError as e:
        raise PackageMissingError("the receiver of OpenLineage events", "fastapi") from e
    if len(api_key) < 16:
        raise SettingsError(
            f"the receiver's API key needs at least 16 characters and has {len(api_key)}; "
            "make one with: python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    catalogue = Catalogue.open(catalogue_url)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        catalogue.close()

    async def receive(request: Request) -> Response:
        _authorise(request, api_key)
        body = await _body(request, max_bytes)
        done = await run_in_threadpool(_ingest, catalogue, body)
        return JSONResponse(_answer(done), HTTPStatus.CREATED)

    def refused(_request: Request, error: Any) -> Response:
        return _problem(error.status, error.detail)

    def failed(_request: Request, error: Any) -> Response:
        return _problem(HTTPStatus(error.status_code), str(error.detail))

    app = FastAPI(title="ProvSpark", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    # A plain route, because FastAPI can't resolve the handler's annotations, whose classes are imported above.
    app.router.add_route("/api/v1/lineage", receive, methods=["POST"])
    app.add_exception_handler(_RefusedError, refused)
    app.add_exception_handler(HTTPException, failed)
    return app


def _authorise(request: Request, api_key: str) -> None:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    same = hmac.compare_digest(given.strip().encode(), api_key.encode())
    if scheme.lower() != "bearer" or not same:
        raise _RefusedError(
            HTTPStatus.UNAUTHORIZED, "the API key is missing or wrong; send it as a header: Authorization: Bearer KEY"
        )


async def _body(request: Request, limit: int) -> bytes:
    """Read and decompress the body in chunks, so that a large body can't exhaust memory."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise _RefusedError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"content encoding {encoding!r} is not supported; send gzip or plain JSON",
        )
    packed = 0
    unpack = zlib.decompressobj(wbits=31) if encoding == "gzip" else None
    body = bytearray()
    async for chunk in request.stream():
        packed += len(chunk)
        if unpack is not None:
            try:
                chunk = unpack.decompress(chunk, limit + 1 - len(body))
            except zlib.error as e:
                raise _RefusedError(HTTPStatus.BAD_REQUEST, f"the body is not valid gzip: {e}") from e
        body += chunk
        if max(packed, len(body)) > limit:
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the event has more than {limit:,} bytes")
    if unpack is not None and (not unpack.eof or unpack.unused_data):
        raise _RefusedError(HTTPStatus.BAD_REQUEST, "the gzip body is truncated, or has data after its end")
    return bytes(body)


def _ingest(catalogue: Catalogue, body: bytes) -> Ingested:
    try:
        return catalogue.ingest(body)
    except EventError as e:
        raise _RefusedError(HTTPStatus.UNPROCESSABLE_ENTITY, str(e)) from e
    except CatalogueError as e:
        _log.error("An event was not added to the catalogue: %s", e)
        raise _RefusedError(
            HTTPStatus.SERVICE_UNAVAILABLE, "the catalogue does not answer; send the event again"
        ) from e


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


def _problem(status: HTTPStatus, detail: str) -> Response:
    from starlette.responses import JSONResponse

    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    content = {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail}
    return JSONResponse(content, status, headers, media_type="application/problem+json")
