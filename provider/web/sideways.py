"""Routes beside backward and forward: used together, siblings, composition, and graphs of single rows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any, Literal

import pyarrow.compute as pc
from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import Response, StreamingResponse

from provspark.index_store.query.asking import Which
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.relation import image
from provspark.index_store.query.sideways import beside as find_beside
from provspark.model.datasets import Dataset, Version
from provspark.model.runs import Runs
from provspark.web import describe, models, rows
from provspark.web.paging import LINKED, Paged
from provspark.web.problems import RESPONSES
from provspark.web.routes import STREAMS, DatasetPath, Seen, VersionQuery
from provspark.web.scope import UserScope
from provspark.web.threads import Route

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", responses=RESPONSES, route_class=Route)

GraphFormat = Literal["prov_json", "node_link", "graphml"]
_GRAPHS: dict[int | str, dict[str, Any]] = {
    200: {"description": "The graph", "content": {"application/json": {}, "application/graphml+xml": {}}}
}


@router.get("/datasets/{dataset}/beside")
def beside(scope: Seen, page: Paged, dataset: DatasetPath, version: VersionQuery = None) -> models.BesideJson:
    """List the data sets that a question sideways about rows of a version can name."""
    datasets = describe.beside(find_beside(scope.linker, scope.find(dataset, version)), scope.visible)
    return page.cut(datasets, "together", "siblings", "sources")


@router.post("/sideways", responses=LINKED)
def sideways(scope: Seen, page: Paged, query: models.SidewaysQuery) -> list[models.FoundJson]:
    """Count the rows that were used together with rows, or that share a witness with them."""
    return page.part(
        [
            models.FoundJson(
                dataset=describe.dataset(version.dataset, scope.visible),
                version=version.id,
                total=version.rows,
                rows=runs.count,
                columns=len(version.fields),
                gone=gone,
            )
            for version, runs, gone in _beside(scope, query)
        ]
    )


@router.post("/sideways/rows")
def sideways_rows(scope: Seen, query: models.SidewaysRowsQuery) -> models.RowsJson:
    """Return some of those rows, of one version, with values."""
    at, runs = _rows_of(scope, query, query.found)
    return rows.page(at, runs, scope.visible, query.cursor, query.limit, query.columns)


@router.post("/sideways/export", response_class=StreamingResponse, responses=STREAMS)
def sideways_export(
    scope: Seen,
    query: models.SidewaysQuery,
    found: Annotated[str, Query(pattern="^[0-9a-f]{32}$")],
    format: rows.ExportFormat = "csv",
) -> StreamingResponse:
    """Stream all of those rows, of one version."""
    at, met = _rows_of(scope, query, found)
    return rows.export(at, met, scope.visible, format)


@router.post("/composition")
def composition(scope: Seen, query: models.CompositionQuery) -> models.CompositionJson:
    """Tell how the witnesses of rows divide over a column of a source."""
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
    """Return the single rows of a trace and the edges between them, at most 10,000: as PROV-JSON or a graph."""
    if query.to is not None:
        raise HTTPException(422, "to: a graph of single rows goes to the ends of all paths; leave it out")
    at, ids = scope.asked(query)
    graph = scope.prov.neighbourhood(
        str(at.version.dataset), ids, query.direction, version=at.version.id, kinds=_kinds(query.context)
    )
    if format == "graphml":
        shown = replace(graph, rows=tuple(replace(r, dataset=scope.visible.path(r.dataset)) for r in graph.rows))
        return Response(shown.graphml(), media_type="application/graphml+xml")
    if format == "prov_json":
        return _json(scope.visible.paths(graph.prov_json(text=scope.visible.operation)))
    return _json(scope.visible.paths(graph.node_link()))


def _json(made: Any) -> Response:
    return Response(json.dumps(made, ensure_ascii=False), media_type="application/json")


def _rows_of(scope: UserScope, query: models.SidewaysQuery, wanted: str) -> tuple[VersionReference, Runs]:
    for version, runs, _ in _beside(scope, query):
        if version.id == wanted:
            return scope.find(query.to, wanted), runs
    raise HTTPException(404, f"no row of version {wanted} was found; POST /sideways counts those that were")


def _beside(scope: UserScope, query: models.SidewaysQuery) -> list[tuple[Version, Runs, bool]]:
    to = str(scope.dataset(query.to))
    via = None if query.via is None else str(scope.dataset(query.via))
    at, ids = scope.asked(query)
    name, version, kinds = str(at.version.dataset), at.version.id, _kinds(query.context)
    if query.relation == "together":
        answer = scope.prov.co_contributory(name, ids, to=to, via=via, version=version, kinds=kinds)
    elif via is None:
        raise HTTPException(422, "via: siblings share a witness in a data set; say in which")
    else:
        more: Which = {"version": version, "kinds": kinds, "versions": "all"}
        answer = scope.prov.co_dependency(name, ids, to=to, via=via, **more)
    met: dict[tuple[Dataset, str, bool], tuple[Version, Runs, bool]] = {}
    for part in answer.parts:
        there = part.at.version
        key = (there.dataset, there.id, part.gone)
        rows = image(part.boxes)
        met[key] = (there, met[key][1] | rows if key in met else rows, part.gone)
    return sorted(met.values(), key=lambda one: one[2])


def _kinds(context: bool) -> tuple[Literal["data", "context"], ...]:
    return ("data", "context") if context else ("data",)
