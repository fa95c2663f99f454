"""Routes by their paths of the last release, which go with the next one; they answer as before, and name the new."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response, StreamingResponse

from provspark.web import models, related_routes, rows
from provspark.web.paging import LINKED, Paged
from provspark.web.problems import RESPONSES
from provspark.web.related_routes import AnswerVersion
from provspark.web.routes import STREAMS, DatasetPath, Seen, VersionQuery
from provspark.web.threads import Route

__all__ = ["router"]

_log = logging.getLogger(__name__)
_PREFIX = "/api/v1"
_told: set[str] = set()
"""New paths that the log has named."""


class FormerRoute(Route):
    """A route whose answers name the path that takes its place, which its function leaves in the request's state."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Add the headers to what the function answers."""
        answer = super().get_route_handler()

        async def named(request: Request) -> Response:
            response = await answer(request)
            path = f"{_PREFIX}{request.state.provspark_successor}"
            response.headers["Deprecation"] = "true"
            link = f'<{request.scope.get("root_path", "")}{path}>; rel="successor-version"'
            response.headers.append("Link", link)
            if self.path not in _told:
                _told.add(self.path)
                _log.warning("%s goes with the next release: ask %s instead", self.path, path)
            return response

        return named


router = APIRouter(prefix=_PREFIX, responses=RESPONSES, route_class=FormerRoute, deprecated=True)


class BesideJson(models.Model):
    """What can be asked of rows of a data set."""

    together: list[models.ChoiceJson]
    siblings: list[models.ChoiceJson]
    sources: list[models.DatasetJson]
    next: int | None = None


class SidewaysQuery(models.Selection):
    """Rows of `to` that were used together with rows, or that share a source row in `via` (siblings)."""

    relation: Literal["together", "siblings"]
    to: models.DatasetId
    via: models.DatasetId | None = None
    context: bool = False


class SidewaysRowsQuery(models.PageOfRows, SidewaysQuery):
    """Some of those rows, with values, of one version."""

    found: models.VersionId


@router.get("/datasets/{dataset}/beside")
def beside(
    request: Request, scope: Seen, page: Paged, dataset: DatasetPath, version: VersionQuery = None
) -> BesideJson:
    """List the data sets that `/sideways` can name: `GET /datasets/{dataset}/related` takes its place."""
    request.state.provspark_successor = f"/datasets/{dataset}/related"
    told = related_routes.related(scope, page, dataset, version)
    return BesideJson(
        together=told.co_contributory, siblings=told.co_dependency, sources=told.composition, next=told.next
    )


@router.post("/sideways", responses=LINKED)
def sideways(request: Request, scope: Seen, page: Paged, query: SidewaysQuery) -> list[models.FoundJson]:
    """Count rows: `POST /co_contributory` and `/co_dependency` take its place."""
    asked = _asked(request, query, "")
    if isinstance(asked, models.CoContributoryQuery):
        return related_routes.co_contributory(scope, page, asked)
    return related_routes.co_dependency(scope, page, asked)


@router.post("/sideways/rows")
def sideways_rows(request: Request, scope: Seen, query: SidewaysRowsQuery) -> models.RowsJson:
    """Return rows: `POST /co_contributory/rows` and `/co_dependency/rows` take its place."""
    asked = _asked(request, query, "/rows")
    fields = {**_fields(query), "answer_version": query.found}
    if isinstance(asked, models.CoContributoryQuery):
        return related_routes.co_contributory_rows(scope, models.CoContributoryRowsQuery(**fields))
    return related_routes.co_dependency_rows(scope, models.CoDependencyRowsQuery(**fields))


@router.post("/sideways/export", response_class=StreamingResponse, responses=STREAMS)
def sideways_export(
    request: Request, scope: Seen, query: SidewaysQuery, found: AnswerVersion, format: rows.ExportFormat = "csv"
) -> StreamingResponse:
    """Stream rows: `POST /co_contributory/export` and `/co_dependency/export` take its place."""
    asked = _asked(request, query, "/export")
    if isinstance(asked, models.CoContributoryQuery):
        return related_routes.co_contributory_export(scope, asked, found, format)
    return related_routes.co_dependency_export(scope, asked, found, format)


def _asked(request: Request, query: SidewaysQuery, end: str) -> models.CoContributoryQuery | models.CoDependencyQuery:
    """What the new route takes; its path is left in the request's state."""
    name = "co_contributory" if query.relation == "together" else "co_dependency"
    request.state.provspark_successor = f"/{name}{end}"
    fields = {k: v for k, v in _fields(query).items() if k in models.CoContributoryQuery.model_fields}
    if query.relation == "together":
        return models.CoContributoryQuery(**fields)
    if query.via is None:
        raise HTTPException(422, "via: siblings share a witness in a data set; say in which")
    return models.CoDependencyQuery(**fields)


def _fields(query: SidewaysQuery) -> dict[str, Any]:
    return query.model_dump(exclude={"relation", "found"})
