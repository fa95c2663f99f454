"""Routes for operations, columns and cells."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query

from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.index_store.query.operation_list import operation_lines
from provspark.index_store.query.tabular import FORMER
from provspark.web import describe, models, operation_forms
from provspark.web import operation_models as told
from provspark.web.paging import LINKED, Paged
from provspark.web.problems import RESPONSES
from provspark.web.routes import DatasetPath, Seen, VersionQuery
from provspark.web.scope import UserScope
from provspark.web.threads import Route

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", responses=RESPONSES, route_class=Route)

Columns = Annotated[list[models.ColumnName] | None, Query(max_length=models.MAX_COLUMNS)]
To = Annotated[str | None, Query(pattern="^[0-9a-f]{16}$")]


@router.get("/steps/{step}/operations", responses=LINKED)
def step_operations(
    scope: Seen, page: Paged, step: Annotated[str, Path(max_length=200)], parts: bool = False
) -> list[told.OperationJson]:
    """List the operations of a step in execution order; `parts` lists those of one script line separately."""
    manifest = scope.step(step)
    nodes = [n for n in scope.prov.graph.nodes if n.step == manifest.step]
    return page.part(
        operation_forms.operations(scope.visible, (line for n in nodes for line in operation_lines(n, parts=parts)))
    )


@router.get("/datasets/{dataset}/operations", responses=LINKED)
def dataset_operations(
    scope: Seen,
    page: Paged,
    dataset: DatasetPath,
    version: VersionQuery = None,
    column: Columns = None,
    direction: Direction = "backward",
    parts: bool = False,
) -> list[told.OperationJson]:
    """List all operations that led to a version, or that used it; with `column`, only those that touched it."""
    at = _at(scope, dataset, version, column)
    name = str(at.version.dataset)
    answer = scope.prov.operations(name, None, column, direction=direction, parts=parts, version=at.version.id)
    return page.part(operation_forms.operations(scope.visible, answer.lines))


@router.get("/datasets/{dataset}/columns")
def dataset_columns(
    scope: Seen,
    page: Paged,
    dataset: DatasetPath,
    version: VersionQuery = None,
    column: Columns = None,
    direction: Direction = "backward",
    to: To = None,
    existence: bool = True,
) -> told.ColumnLinesJson:
    """List the source columns of a version's columns, or the columns derived from them."""
    at = _at(scope, dataset, version, column)
    answer = scope.prov.columns(
        str(at.version.dataset),
        column,
        direction=direction,
        to=None if to is None else str(scope.dataset(to)),
        existence=existence,
        version=at.version.id,
    )
    lines = [
        told.ColumnLineJson(
            **{
                **operation_forms.fields(line),
                "column": scope.visible.name_at(at, line.column),
                "dataset": describe.named(line.dataset, scope.visible),
                **_both("related_column", scope.visible.name_of(line.dataset, line.version, line.related_column)),
                "steps": list(line.steps),
            }
        )
        for line in answer.lines()
    ]
    return page.cut(
        told.ColumnLinesJson(lines=lines, stops=describe.stops(answer.stops, scope.visible), broken=scope.broken),
        "lines",
        "stops",
    )


@router.get("/datasets/{dataset}/dropped")
def dataset_dropped(
    scope: Seen, page: Paged, dataset: DatasetPath, version: VersionQuery = None, column: Columns = None
) -> told.DropsJson:
    """List the operations that dropped columns of a version."""
    at = _at(scope, dataset, version, column)
    answer = scope.prov.dropped(str(at.version.dataset), column, version=at.version.id)
    lines = operation_forms.drops(scope.visible, at, answer.lines)
    return page.cut(
        told.DropsJson(lines=lines, stops=describe.stops(answer.stops, scope.visible), broken=scope.broken),
        "lines",
        "stops",
    )


@router.post("/how")
def how(scope: Seen, page: Paged, query: told.HowQuery) -> told.HowJson:
    """List the operations between rows and their source rows, or the rows derived from them, by path."""
    at, ids = scope.asked(query)
    to = None if query.to is None else str(scope.dataset(query.to))
    way: Any = {"direction": query.direction, "to": to, "kinds": _kinds(query.context)}
    explanations = scope.prov.how(str(at.version.dataset), ids, version=at.version.id, parts=query.parts, **way)
    paths = operation_forms.paths(scope.visible, explanations, at)
    return page.cut(
        told.HowJson(paths=paths, stops=describe.stops(explanations.answer.stops, scope.visible), broken=scope.broken),
        "paths",
        "stops",
    )


@router.post("/cells")
def cells(scope: Seen, query: told.CellQuery) -> told.CellPageJson:
    """List the source cells of cells, or the cells derived from them, without values."""
    at, ids = scope.asked(query)
    _known(scope, at, query.columns)
    to = None if query.to is None else str(scope.dataset(query.to))
    answer = scope.prov.cells(
        str(at.version.dataset),
        ids,
        query.columns,
        direction=query.direction,
        to=to,
        existence=query.existence,
        version=at.version.id,
        kinds=_kinds(query.context),
    )
    page = answer.lines(query.cursor, query.limit).drop_columns(["why"]).to_pylist()
    lines = [
        told.CellLineJson(
            **{
                **line,
                "column": scope.visible.name_at(at, line["column"]),
                "dataset": describe.named(line["dataset"], scope.visible),
                **_both("related_row", line["related_row"]),
                **_both(
                    "related_column",
                    scope.visible.name_of(line["dataset"], line["version"], line["related_column"]),
                ),
            }
        )
        for line in page
    ]
    total, after = answer.count, query.cursor + len(lines)
    following = after if lines and after < total else None
    return told.CellPageJson(
        lines=lines,
        total=total,
        stops=describe.stops(answer.stops, scope.visible),
        next=following,
        broken=scope.broken,
    )


def _at(scope: UserScope, dataset: str, version: str | None, columns: list[str] | None) -> VersionReference:
    at = scope.find(dataset, version)
    _known(scope, at, columns)
    return at


def _known(scope: UserScope, at: VersionReference, columns: list[str] | None) -> None:
    """Raise an error for an unknown column; its message does not quote the operation that may have dropped it."""
    for name in columns or ():
        scope.visible.find(at, name)


def _both(name: str, value: Any) -> dict[str, Any]:
    """Return a field under its name and its former name."""
    return {name: value, FORMER[name]: value}


def _kinds(context: bool) -> tuple[Literal["data", "context"], ...]:
    return ("data", "context") if context else ("data",)
