"""Routes for co-contributory and co-dependency rows, composition, and graphs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any, Literal

import pyarrow.compute as pc
from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import Response, StreamingResponse

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.asking import Which
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.relation import image
from provspark.index_store.query.sideways import beside
from provspark.model.datasets import Dataset, Version
from provspark.model.runs import Runs
from provspark.web import describe, models, rows
from provspark.web.paging import LINKED, Paged
from provspark.web.problems import RESPONSES
from provspark.web.routes import STREAMS, DatasetPath, Seen, VersionQuery
from provspark.web.scope import UserScope
from provspark.web.threads import Route

__all__ = [
    "AnswerVersion",
    "co_contributory",
    "co_contributory_export",
    "co_contributory_rows",
    "co_dependency",
    "co_dependency_export",
    "co_dependency_rows",
    "related",
    "router",
]

router = APIRouter(prefix="/api/v1", responses=RESPONSES, route_class=Route)

AnswerVersion = Annotated[str, Query(pattern="^[0-9a-f]{32}$")]
GraphFormat = Literal["prov_json", "node_link", "graphml"]
_GRAPHS: dict[int | str, dict[str, Any]] = {
    200: {"description": "The graph", "content": {"application/json": {}, "application/graphml+xml": {}}}
}


@router.get("/datasets/{dataset}/related")
def related(scope: Seen, page: Paged, dataset: DatasetPath, version: VersionQuery = None) -> models.RelatedJson:
    """List the datasets that `co_contributory`, `co_dependency` and `composition` accept for rows of a version."""
    datasets = describe.related(beside(scope.linker, scope.find(dataset, version)), scope.visible)
    return page.cut(datasets, "co_contributory", "co_dependency", "composition")


@router.post("/co_contributory", responses=LINKED)
def co_contributory(scope: Seen, page: Paged, query: models.CoContributoryQuery) -> list[models.FoundJson]:
    """Count the rows that were combined with the selected rows, by version."""
    return page.part(_counted(scope, _together(scope, query)))


@router.post("/co_contributory/rows")
def co_contributory_rows(scope: Seen, query: models.CoContributoryRowsQuery) -> models.RowsJson:
    """Return a page of those rows, with values, from one version."""
    at, runs = _rows_of(scope, query.to, query.answer_version, _together(scope, query))
    return rows.page(at, runs, scope.visible, query.cursor, query.limit, query.columns)


@router.post("/co_contributory/export", response_class=StreamingResponse, responses=STREAMS)
def co_contributory_export(
    scope: Seen, query: models.CoContributoryQuery, answer_version: AnswerVersion, format: rows.ExportFormat = "csv"
) -> StreamingResponse:
    """Stream all of those rows of one version."""
    at, met = _rows_of(scope, query.to, answer_version, _together(scope, query))
    return rows.export(at, met, scope.visible, format)


@router.post("/co_dependency", responses=LINKED)
def co_dependency(scope: Seen, page: Paged, query: models.CoDependencyQuery) -> list[models.FoundJson]:
    """Count the rows that share a source row with the selected rows, by version."""
    return page.part(_counted(scope, _sharing(scope, query)))


@router.post("/co_dependency/rows")
def co_dependency_rows(scope: Seen, query: models.CoDependencyRowsQuery) -> models.RowsJson:
    """Return a page of those rows, with values, from one version."""
    at, runs = _rows_of(scope, query.to, query.answer_version, _sharing(scope, query))
    return rows.page(at, runs, scope.visible, query.cursor, query.limit, query.columns)


@router.post("/co_dependency/export", response_class=StreamingResponse, responses=STREAMS)
def co_dependency_export(
    scope: Seen, query: models.CoDependencyQuery, answer_version: AnswerVersion, format: rows.ExportFormat = "csv"
) -> StreamingResponse:
    """Stream all of those rows of one version."""
    at, met = _rows_of(scope, query.to, answer_version, _sharing(scope, query))
    return rows.export(at, met, scope.visible, format)


@router.post("/composition")
def composition(scope: Seen, query: models.CompositionQuery) -> models.CompositionJson:
    """Count the source rows of the selected rows by the value of a column of their dataset."""
    source = scope.dataset(query.source)
    for seen in scope.prov.graph.references(source):
        scope.visible.ask(seen, query.column)
    at, ids = scope.asked(query)
    table = scope.prov.composition(
        str(at.version.dataset), ids, source=str(source), column=query.column, each=False, version=at.version.id
    ).table()
    order = pc.sort_indices(table, [("witnesses", "descending")])
    most = table.take(order).slice(0, query.limit)
    return models.CompositionJson(
        values=[
            models.ShareJson(value=value, witnesses=n)
            for value, n in zip(rows.cells(most["value"]), most["witnesses"].to_pylist(), strict=True)
        ],
        total_values=table.num_rows,
        total_witnesses=pc.sum(table["witnesses"]).as_py() or 0,
        broken=scope.broken,
    )


@router.post("/trace/graph", response_class=Response, responses=_GRAPHS)
def trace_graph(
    scope: Seen, query: models.TraceQuery, format: Annotated[GraphFormat, Query()] = "prov_json"
) -> Response:
    """Return the rows of a trace and up to 10,000 edges between them, as PROV-JSON, node-link JSON or GraphML."""
    if query.to is not None:
        raise HTTPException(422, "`to` is set, but a graph of rows always follows all paths to their ends. Remove it.")
    at, ids = scope.asked(query)
    graph = scope.prov.neighbourhood(
        str(at.version.dataset), ids, query.direction, version=at.version.id, kinds=_kinds(query.context)
    )
    if format == "graphml":
        shown = replace(graph, rows=tuple(replace(r, dataset=scope.visible.path(r.dataset)) for r in graph.rows))
        return Response(shown.graphml(), media_type="application/graphml+xml")
    made = graph.prov_json(text=scope.visible.operation) if format == "prov_json" else graph.node_link()
    made = scope.visible.paths(made)
    return Response(json.dumps(made, ensure_ascii=False), media_type="application/json")


_Met = list[tuple[Version, Runs, bool]]
"""Rows of each version, and whether they are in no current version."""


def _together(scope: UserScope, query: models.CoContributoryQuery) -> _Met:
    to, via = str(scope.dataset(query.to)), None if query.via is None else str(scope.dataset(query.via))
    at, ids = scope.asked(query)
    more: Which = {"version": at.version.id, "kinds": _kinds(query.context)}
    return _by_version(scope.prov.co_contributory(str(at.version.dataset), ids, to=to, via=via, **more))


def _sharing(scope: UserScope, query: models.CoDependencyQuery) -> _Met:
    to, via = str(scope.dataset(query.to)), str(scope.dataset(query.via))
    at, ids = scope.asked(query)
    more: Which = {"version": at.version.id, "kinds": _kinds(query.context), "versions": "all"}
    return _by_version(scope.prov.co_dependency(str(at.version.dataset), ids, to=to, via=via, **more))


def _by_version(answer: Answer) -> _Met:
    met: dict[tuple[Dataset, str, bool], tuple[Version, Runs, bool]] = {}
    for part in answer.parts:
        there = part.at.version
        key = (there.dataset, there.id, part.gone)
        rows = image(part.boxes)
        met[key] = (there, met[key][1] | rows if key in met else rows, part.gone)
    return sorted(met.values(), key=lambda one: one[2])


def _counted(scope: UserScope, met: _Met) -> list[models.FoundJson]:
    return [
        models.FoundJson(
            dataset=describe.dataset(version.dataset, scope.visible),
            version=version.id,
            total=version.rows,
            rows=runs.count,
            columns=len(version.fields),
            gone=gone,
        )
        for version, runs, gone in met
    ]


def _rows_of(scope: UserScope, to: str, wanted: str, met: _Met) -> tuple[VersionReference, Runs]:
    for version, runs, _ in met:
        if version.id == wanted:
            return scope.find(to, wanted), runs
    raise HTTPException(
        404,
        f"The answer has no row of version {wanted}. Repeat the query without `/rows` or `/export` to list versions.",
    )


def _kinds(context: bool) -> tuple[Literal["data", "context"], ...]:
    return ("data", "context") if context else ("data",)
