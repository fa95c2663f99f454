"""Routes of operations, columns and cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query

from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.index_store.query.operation_list import OperationLine, operation_lines
from provspark.index_store.query.relation import image
from provspark.index_store.query.tabular import FORMER
from provspark.model.datasets import Dataset
from provspark.model.driver_datasets import is_driver
from provspark.web import describe, models
from provspark.web import operation_models as told
from provspark.web.paging import LINKED, Paged
from provspark.web.problems import RESPONSES
from provspark.web.routes import DatasetPath, Seen, VersionQuery
from provspark.web.scope import UserScope
from provspark.web.threads import Route

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", responses=RESPONSES, route_class=Route)

Columns = Annotated[list[models.ColumnName] | None, Query(max_length=models.MAX_COLUMNS)]
_NAMES = ("columns_in", "columns_out", "reads", "makes", "drops")
To = Annotated[str | None, Query(pattern="^[0-9a-f]{16}$")]


@router.get("/steps/{step}/operations", responses=LINKED)
def step_operations(
    scope: Seen, page: Paged, step: Annotated[str, Path(max_length=200)], parts: bool = False
) -> list[told.OperationJson]:
    """List the operations of a step, in order; those of one script line as one, unless `parts` are asked for."""
    manifest = scope.step(step)
    nodes = [n for n in scope.prov.graph.nodes if n.step == manifest.step]
    return page.part(_operations(scope, (line for n in nodes for line in operation_lines(n, parts=parts))))


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
    """List all operations behind a version, or those done to it; only those that touched some columns, where given."""
    at = _at(scope, dataset, version, column)
    name = str(at.version.dataset)
    answer = scope.prov.operations(name, None, column, direction=direction, parts=parts, version=at.version.id)
    return page.part(_operations(scope, answer.lines))


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
    """List the columns that columns of a version came from, or went into."""
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
                **_former(_fields(line)),
                "column": scope.visible.name_at(at, line.column),
                "dataset": _dataset(scope, line.dataset),
                "source_column": scope.visible.name_of(line.dataset, line.version, line.related_column),
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
    """Tell which operations dropped columns of a version."""
    at = _at(scope, dataset, version, column)
    answer = scope.prov.dropped(str(at.version.dataset), column, version=at.version.id)
    lines = []
    for line in answer.lines:
        text = scope.visible.step_operations(line.step, line.write, [line.operation], line.text)
        about: dict[str, Any] = {"dataset": _dataset(scope, line.dataset), "text": text} | {
            "column": scope.visible.name_at(at, line.column),
            "known_as": scope.visible.name_in(line.step, line.write, line.known_as),
            "into": [scope.visible.name_in(line.step, line.write, n) for n in line.into],
        }
        lines.append(told.DropJson(**{**_fields(line), **about}))
    return page.cut(
        told.DropsJson(lines=lines, stops=describe.stops(answer.stops, scope.visible), broken=scope.broken),
        "lines",
        "stops",
    )


@router.post("/how")
def how(scope: Seen, page: Paged, query: told.HowQuery) -> told.HowJson:
    """Tell the operations on the ways of rows, and how many rows each way leads to."""
    at, ids = scope.asked(query)
    to = None if query.to is None else str(scope.dataset(query.to))
    way: Any = {"direction": query.direction, "to": to, "kinds": _kinds(query.context)}
    explanations = scope.prov.how(str(at.version.dataset), ids, version=at.version.id, **way)
    counted = {
        (str(p.at.version.dataset), p.at.version.id, p.occurrence, p.kind): image(p.boxes).count
        for p in explanations.answer.parts
    }
    lines = explanations.lines(parts=query.parts)
    paths = [
        told.PathJson(
            dataset=_dataset(scope, place[0]),
            version=place[1],
            occurrence=place[2],
            kind=place[3],
            rows=counted[place],
            operations=_operations(scope, (line for i, line in lines if i == number)),
        )
        for number, (place, _) in enumerate(explanations.paths)
    ]
    return page.cut(
        told.HowJson(paths=paths, stops=describe.stops(explanations.answer.stops, scope.visible), broken=scope.broken),
        "paths",
        "stops",
    )


@router.post("/cells")
def cells(scope: Seen, query: told.CellQuery) -> told.CellPageJson:
    """List the cells that cells came from, or went into; without their values."""
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
                **_former(line),
                "column": scope.visible.name_at(at, line["column"]),
                "dataset": _dataset(scope, line["dataset"]),
                "source_column": scope.visible.name_of(line["dataset"], line["version"], line["related_column"]),
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
    """Refuse a column that is not there, without the text of what may have dropped it."""
    for name in columns or ():
        scope.visible.find(at, name)


def _operations(scope: UserScope, lines: Iterable[OperationLine]) -> list[told.OperationJson]:
    described = []
    for line in lines:
        read = is_driver(Dataset.parse(line.dataset))
        text = scope.visible.step_operations(line.step, line.write, line.operations, line.text, read=read)
        about: dict[str, Any] = {k: list(v) if isinstance(v, tuple) else v for k, v in _fields(line).items()}
        about |= {k: [scope.visible.name_in(line.step, line.write, n, read=read) for n in about[k]] for k in _NAMES}
        about |= {"categories": about["paper_categories"], "why": scope.visible.failure(line.why or "") or None}
        described.append(told.OperationJson(**(about | {"dataset": _dataset(scope, line.dataset), "text": text})))
    return described


def _fields(line: Any) -> dict[str, Any]:
    return {name: getattr(line, name) for name in line.__slots__}


def _former(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line with its names as the API's schemas have them."""
    return {FORMER.get(name, name): value for name, value in line.items()}


def _dataset(scope: UserScope, name: str) -> models.DatasetJson:
    return describe.dataset(Dataset.parse(name), scope.visible)


def _kinds(context: bool) -> tuple[Literal["data", "context"], ...]:
    return ("data", "context") if context else ("data",)
