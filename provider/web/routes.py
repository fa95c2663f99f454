"""Routes for datasets, traces and steps, below ``/provspark/api/v1``."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator

from provspark.index_store.query.trace import TraceNode
from provspark.model.runs import Runs
from provspark.web import describe, models, rows
from provspark.web.limits import MOST_CONDITIONS, few_conditions
from provspark.web.login import Viewer
from provspark.web.paging import Cursor, Paged, capped
from provspark.web.problems import RESPONSES
from provspark.web.scope import UserScope
from provspark.web.source import AnswerSource
from provspark.web.threads import USER, Route, in_thread

__all__ = ["STREAMS", "DatasetPath", "Seen", "VersionQuery", "router"]

router = APIRouter(prefix="/api/v1", responses=RESPONSES, route_class=Route)

Word = Annotated[str, Query(max_length=500)]
Limit = Annotated[int, Query(ge=1, le=1000)]
DatasetPath = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
VersionQuery = Annotated[str | None, Query(pattern="^[0-9a-f]{32}$")]
Where = Annotated[
    list[models.ConditionText] | None,
    AfterValidator(few_conditions),
    Query(json_schema_extra=MOST_CONDITIONS),
]
Columns = Annotated[list[models.ColumnName] | None, Query(max_length=models.MAX_COLUMNS)]


STREAMS: dict[int | str, dict[str, Any]] = {
    200: {"description": "The rows", "content": {kind: {} for kind in rows.MEDIA_TYPES.values()}}
}


async def _scope(request: Request) -> UserScope:
    viewer: Viewer = request.state.provspark_viewer
    USER.set(viewer.user)
    source: AnswerSource = request.app.state.source
    return await in_thread(source.scope, viewer.dags)


Seen = Annotated[UserScope, Depends(_scope)]


@router.get("/about")
def about(request: Request, scope: Seen) -> models.AboutJson:
    """Describe this installation: its version, whether it shows values, and how many steps the user sees."""
    return describe.about(scope, request.app.state.airflow)


@router.get("/datasets")
def datasets(scope: Seen, search: Word = "", cursor: Cursor = 0, limit: Limit = 100) -> models.DatasetPageJson:
    """List datasets whose names contain all words of `search`, ignoring case."""
    limit = capped(limit)
    words = search.lower().split()
    matches = [d for d in scope.datasets.values() if all(w in scope.visible.dataset(d).lower() for w in words)]
    page = [describe.dataset_summary(scope, d) for d in matches[cursor : cursor + limit]]
    return models.DatasetPageJson(
        items=page, total=len(matches), next=_next(cursor, len(page), len(matches)), broken=scope.broken
    )


@router.get("/datasets/{dataset}")
def dataset(scope: Seen, page: Paged, dataset: DatasetPath, version: VersionQuery = None) -> models.DatasetDetailJson:
    """Describe a dataset: its versions, the steps that read it, and the columns of one version."""
    return page.cut(describe.dataset_detail(scope, scope.find(dataset, version)), "versions", "read_by")


@router.get("/datasets/{dataset}/rows")
def dataset_rows(
    scope: Seen,
    dataset: DatasetPath,
    version: VersionQuery = None,
    where: Where = None,
    columns: Columns = None,
    cursor: Cursor = 0,
    limit: Limit = 50,
) -> models.RowsJson:
    """Return the rows of a version that satisfy all conditions, with values, in order of their ids."""
    at = scope.find(dataset, version)
    return rows.page(at, scope.select(at, where), scope.visible, cursor, capped(limit), columns)


@router.get("/datasets/{dataset}/export", response_class=StreamingResponse, responses=STREAMS)
def dataset_export(
    scope: Seen,
    dataset: DatasetPath,
    version: VersionQuery = None,
    where: Where = None,
    format: rows.ExportFormat = "csv",
) -> StreamingResponse:
    """Stream all rows that satisfy all conditions, as CSV, JSON, JSON lines or an Arrow stream."""
    at = scope.find(dataset, version)
    return rows.export(at, scope.select(at, where), scope.visible, format)


@router.post("/locate")
def locate(scope: Seen, query: models.LocateQuery) -> models.LocatedJson:
    """Find rows of a version in another version of their dataset, by the files that both contain."""
    return describe.located(scope, query)


@router.post("/trace")
def trace(scope: Seen, query: models.ExampleQuery) -> models.TraceJson:
    """Trace rows backward to their source rows, or forward to the rows derived from them, as a graph with counts."""
    return describe.trace(scope, query)


@router.post("/trace/rows")
def trace_rows(scope: Seen, query: models.TraceRowsQuery) -> models.RowsJson:
    """Return the rows of one node of a trace, with values."""
    node, met = _node(scope, query, query.node, query.node_version)
    if query.one:
        met = scope.one(query).get(query.node, Runs.span(0))
    return rows.page(scope.at(node), met, scope.visible, query.cursor, query.limit, query.columns)


@router.post("/trace/export", response_class=StreamingResponse, responses=STREAMS)
def trace_export(
    scope: Seen,
    query: models.TraceQuery,
    node: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    node_version: VersionQuery = None,
    format: rows.ExportFormat = "csv",
) -> StreamingResponse:
    """Stream all rows of one node of a trace."""
    reference, met = _node(scope, query, node, node_version)
    return rows.export(scope.at(reference), met, scope.visible, format)


@router.get("/steps")
def steps(
    scope: Seen,
    dag_id: Word = "",
    run_id: Word = "",
    task_id: Word = "",
    map_index: Annotated[int | None, Query(ge=-1, le=2**31 - 1)] = None,
    cursor: Cursor = 0,
    limit: Limit = 100,
) -> models.StepPageJson:
    """List steps, newest first; optionally only those of one DAG, run, task or map index."""
    matches = [
        m
        for m in reversed(scope.manifests.values())
        if (not dag_id or m.key.dag_id == dag_id)
        and (not run_id or m.key.run_id == run_id)
        and (not task_id or m.key.task_id == task_id)
        and (map_index is None or m.key.map_index == map_index)
    ]
    limit = capped(limit)
    page = [describe.step(m) for m in matches[cursor : cursor + limit]]
    following = _next(cursor, len(page), len(matches))
    return models.StepPageJson(items=page, total=len(matches), next=following, broken=scope.broken)


@router.get("/steps/{step}")
def step(scope: Seen, page: Paged, step: Annotated[str, Path(max_length=200)]) -> models.StepDetailJson:
    """Describe a step: its inputs and outputs, and their coverage."""
    manifest = scope.step(step)
    detail = page.cut(describe.step_detail(manifest, scope.visible), "writes", "untracked")
    return describe.with_written(detail, manifest, scope.visible)


def _node(scope: UserScope, query: models.TraceQuery, number: int, version: str | None) -> tuple[TraceNode, Runs]:
    nodes = scope.trace(query).nodes
    if number >= len(nodes):
        raise HTTPException(404, f"The trace has no node {number}. Its nodes are 0 to {len(nodes) - 1}.")
    if version is not None and nodes[number].version != version:
        raise HTTPException(409, "A dataset in this trace has changed since it was computed. Request the trace again.")
    return nodes[number], nodes[number].met


def _next(cursor: int, shown: int, total: int) -> int | None:
    return cursor + shown if shown and cursor + shown < total else None
