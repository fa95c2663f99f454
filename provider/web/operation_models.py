"""Request and response models for operations, columns and cells."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from provspark.index_store.query.nodes import Direction
from provspark.model.operations import Category, Dependence, PlainCategory
from provspark.model.writes import Kind
from provspark.web.models import (
    BROKEN,
    MAX_COLUMNS,
    BrokenJson,
    ColumnName,
    DatasetId,
    DatasetJson,
    Model,
    RowId,
    Selection,
    StopJson,
    VersionId,
)
from provspark.web.whole_numbers import WHOLE

__all__ = [
    "CellLineJson",
    "CellPageJson",
    "CellQuery",
    "ColumnLineJson",
    "ColumnLinesJson",
    "DropJson",
    "DropsJson",
    "HowJson",
    "HowQuery",
    "OperationJson",
    "PathJson",
]

SOURCE_COLUMN: Any = Field(deprecated="Use `related_column`. The next release removes this field.")


class OperationJson(Model):
    """Operation of a step, or several of one script line or one name combined into one."""

    step: str
    write: int
    dataset: DatasetJson
    """Output of the write."""
    operations: list[int]
    """Numbers of the operations within the write."""
    category: list[PlainCategory]
    """What it does to the table."""
    paper_categories: list[Category]
    """The same, in the terms of the literature."""
    categories: list[Category]
    """Former name of `paper_categories`, which the next release removes."""
    contextual: bool
    text: str | None
    """Null if it may contain hidden values."""
    site: str
    name: str
    columns_in: list[str]
    columns_out: list[str]
    reads: list[str]
    makes: list[str]
    drops: list[str]
    rows_in: int | None
    rows_out: int | None
    exact: bool = True
    """False if it depends on the rows' values whether the operation touched the columns in question."""
    why: str | None = None
    """If not exact, what it depends on; null if that may contain hidden values."""


class ColumnLineJson(Model):
    """Column of the request, and one of its source or derived columns. Null means whole rows."""

    column: str | None
    dataset: DatasetJson
    version: VersionId
    occurrence: int
    related_column: str | None
    source_column: Annotated[str | None, SOURCE_COLUMN]
    kind: Kind
    dependence: Dependence
    exact: bool
    steps: list[str]


class ColumnLinesJson(Model):
    """Source columns of columns, or columns derived from them."""

    lines: list[ColumnLineJson]
    stops: list[StopJson]
    next: int | None = None
    """`cursor` of the next page of both lists."""
    broken: list[BrokenJson] = BROKEN


class DropJson(Model):
    """Operation that dropped a column."""

    column: str
    known_as: str
    """Name of the column before the operation."""
    text: str | None
    """Null if it may contain hidden values."""
    site: str
    name: str
    step: str
    write: int
    dataset: DatasetJson
    operation: int
    into: list[str]


class DropsJson(Model):
    """Operations that dropped columns of a version."""

    lines: list[DropJson]
    stops: list[StopJson]
    next: int | None = None
    """`cursor` of the next page of both lists."""
    broken: list[BrokenJson] = BROKEN


class HowQuery(Selection):
    """Operations between the selected rows and their source rows, or the rows derived from them."""

    direction: Direction = "backward"
    context: bool = False
    to: DatasetId | None = None
    parts: bool = False
    """Return each operation on its own, instead of combining those of one script line."""


class PathJson(Model):
    """Operations on a path to rows of a version, through one occurrence and one kind of edge."""

    dataset: DatasetJson
    version: VersionId
    occurrence: int
    kind: Kind
    rows: int
    """Number of rows of the version that the path leads to."""
    column: str | None = None
    """For cells, the column where the path starts; null for whole rows."""
    related_column: str | None = None
    """For cells, the column that the path leads to."""
    operations: list[OperationJson]


class HowJson(Model):
    """Operations between rows and their source rows, or the rows derived from them."""

    paths: list[PathJson]
    stops: list[StopJson]
    next: int | None = None
    """`cursor` of the next page of both lists."""
    broken: list[BrokenJson] = BROKEN


class CellQuery(Selection):
    """Source cells of the selected cells, or cells derived from them."""

    columns: Annotated[list[ColumnName], Field(max_length=MAX_COLUMNS)] | None = None
    direction: Direction = "backward"
    context: bool = False
    to: DatasetId | None = None
    existence: bool = False
    """Also return cells that only decided that the row exists."""
    cursor: RowId = 0
    limit: Annotated[int, Field(ge=1, le=1000), WHOLE] = 100


class CellLineJson(Model):
    """Cell of the request, and one of its source or derived cells."""

    row: int
    column: str | None
    dataset: DatasetJson
    version: VersionId
    occurrence: int
    related_row: int
    related_column: str | None
    source_row: Annotated[int, Field(deprecated="Use `related_row`. The next release removes this field.")]
    source_column: Annotated[str | None, SOURCE_COLUMN]
    kind: Kind
    dependence: Dependence
    exact: bool


class CellPageJson(Model):
    """Page of cells."""

    lines: list[CellLineJson]
    total: int
    stops: list[StopJson]
    broken: list[BrokenJson] = BROKEN
    next: int | None
    """`cursor` of the next page."""
