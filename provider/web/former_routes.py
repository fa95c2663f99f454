"""Deprecated routes, which the next release removes. They respond as before, and their headers name the new path."""

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
"""Deprecated paths that were already logged."""


class FormerRoute(Route):
    """Route whose responses name its replacement: the path that its function stores in the request's state."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that adds the headers ``Deprecation`` and ``Link``."""
        answer = super().get_route_handler()

        async def named(request: Request) -> Response:
            response = await answer(request)
            path = f"{_PREFIX}{request.state.provspark_successor}"
            response.headers["Deprecation"] = "true"
            link = f'<{request.scope.get("root_path", "")}{path}>; rel="successor-version"'
            response.headers.append("Link", link)
            if self.path not in _told:
                _told.add(self.path)
                _log.warning("The next release removes %s. Use %s instead.", self.path, path)
            return response

        return named


router = APIRouter(prefix=_PREFIX, responses=RESPONSES, route_class=FormerRoute, deprecated=True)


class BesideJson(models.Model):
    """Datasets that `/sideways` accepts for rows of a dataset."""

    together: list[models.ChoiceJson]
    siblings: list[models.ChoiceJson]
    sources: list[models.DatasetJson]
    next: int | None = None


class SidewaysQuery(models.Selection):
    """Rows of `to` that were combined with the selected rows, or that share a source row in `via` (siblings)."""

    relation: Literal["together", "siblings"]
    to: models.DatasetId
    via: models.DatasetId | None = None
    context: bool = False


class SidewaysRowsQuery(models.PageOfRows, SidewaysQuery):
    """A page of those rows, with values, from one version."""

    found: models.VersionId


@router.get("/datasets/{dataset}/beside")
def beside(
    request: Request, scope: Seen, page: Paged, dataset: DatasetPath, version: VersionQuery = None
) -> BesideJson:
    """List the datasets that `/sideways` accepts. Use `GET /datasets/{dataset}/related` instead."""
    request.state.provspark_successor = f"/datasets/{dataset}/related"
    told = related_routes.related(scope, page, dataset, version)
    return BesideJson(
        together=told.co_contributory, siblings=told.co_dependency, sources=told.composition, next=told.next
    )


@router.post("/sideways", responses=LINKED)
def sideways(request: Request, scope: Seen, page: Paged, query: SidewaysQuery) -> list[models.FoundJson]:
    """Count rows. Use `POST /co_contributory` or `/co_dependency` instead."""
    asked = _asked(request, query, "")
    if isinstance(asked, models.CoContributoryQuery):
        return related_routes.co_contributory(scope, page, asked)
    return related_routes.co_dependency(scope, page, asked)


@router.post("/sideways/rows")
def sideways_rows(request: Request, scope: Seen, query: SidewaysRowsQuery) -> models.RowsJson:
    """Return rows. Use `POST /co_contributory/rows` or `/co_dependency/rows` instead."""
    asked = _asked(request, query, "/rows")
    fields = {**_fields(query), "answer_version": query.found}
    if isinstance(asked, models.CoContributoryQuery):
        return related_routes.co_contributory_rows(scope, models.CoContributoryRowsQuery(**fields))
    return related_routes.co_dependency_rows(scope, models.CoDependencyRowsQuery(**fields))


@router.post("/sideways/export", response_class=StreamingResponse, responses=STREAMS)
def sideways_export(
    request: Request, scope: Seen, query: SidewaysQuery, found: AnswerVersion, format: rows.ExportFormat = "csv"
) -> StreamingResponse:
    """Stream rows. Use `POST /co_contributory/export` or `/co_dependency/export` instead."""
    asked = _asked(request, query, "/export")
    if isinstance(asked, models.CoContributoryQuery):
        return related_routes.co_contributory_export(scope, asked, found, format)
    return related_routes.co_dependency_export(scope, asked, found, format)


def _asked(request: Request, query: SidewaysQuery, end: str) -> models.CoContributoryQuery | models.CoDependencyQuery:
    """Return the query for the new route, and store its path in the request's state."""
    name = "co_contributory" if query.relation == "together" else "co_dependency"
    request.state.provspark_successor = f"/{name}{end}"
    fields = {k: v for k, v in _fields(query).items() if k in models.CoContributoryQuery.model_fields}
    if query.relation == "together":
        return models.CoContributoryQuery(**fields)
    if query.via is None:
        raise HTTPException(422, "`via` is missing. Set it to the dataset of the shared source rows.")
    return models.CoDependencyQuery(**fields)


def _fields(query: SidewaysQuery) -> dict[str, Any]:
    return query.model_dump(exclude={"relation", "found"})
