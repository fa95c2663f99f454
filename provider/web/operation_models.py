"""What the API takes and answers about operations, columns and cells."""

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
    WholeNumber,
)

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

SOURCE_COLUMN: Any = Field(deprecated="use `related_column`; goes with the next release")


class OperationJson(Model):
    """An operation of a step, or several of one script line or one name that read as one."""

    step: str
    write: int
    dataset: DatasetJson
    """What the write wrote."""
    operations: list[int]
    """Their numbers within the write."""
    category: list[PlainCategory]
    """What it does to the table."""
    paper_categories: list[Category]
    """The same as the papers call it."""
    categories: list[Category]
    """`paper_categories` under its former name, which goes with the next release."""
    contextual: bool
    text: str | None
    """None where it may tell values that are not shown here."""
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
    """False where the rows' values choose whether it touched the columns that were asked about."""
    why: str | None = None
    """What chooses, where it is not exact; None where it may tell values that are not shown here."""


class ColumnLineJson(Model):
    """A column asked about, and one that it stands in a dependence with; null for the rows themselves."""

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
    """The columns behind columns, or those that came of them."""

    lines: list[ColumnLineJson]
    stops: list[StopJson]
    next: int | None = None
    """`cursor` of the page of both lists that follows."""
    broken: list[BrokenJson] = BROKEN


class DropJson(Model):
    """An operation that did not hand a column on."""

    column: str
    known_as: str
    text: str | None
    """None where it may tell values that are not shown here."""
    site: str
    name: str
    step: str
    write: int
    dataset: DatasetJson
    operation: int
    into: list[str]


class DropsJson(Model):
    """Where the columns of a version end."""

    lines: list[DropJson]
    stops: list[StopJson]
    next: int | None = None
    """`cursor` of the page of both lists that follows."""
    broken: list[BrokenJson] = BROKEN


class HowQuery(Selection):
    """The operations on the ways of selected rows."""

    direction: Direction = "backward"
    context: bool = False
    to: DatasetId | None = None
    parts: bool = False
    """Each operation alone, instead of those of one script line as one."""


class PathJson(Model):
    """The operations on the way to rows of a version, through one reading and by one kind of edge."""

    dataset: DatasetJson
    version: VersionId
    occurrence: int
    kind: Kind
    rows: int
    """How many rows of the version."""
    column: str | None = None
    """Of cells, the column asked about; null for rows themselves."""
    related_column: str | None = None
    """Of cells, the column that the path leads to."""
    operations: list[OperationJson]


class HowJson(Model):
    """How rows came about, or what became of them."""

    paths: list[PathJson]
    stops: list[StopJson]
    next: int | None = None
    """`cursor` of the page of both lists that follows."""
    broken: list[BrokenJson] = BROKEN


class CellQuery(Selection):
    """The cells behind cells, or those that came of them."""

    columns: Annotated[list[ColumnName], Field(max_length=MAX_COLUMNS)] | None = None
    direction: Direction = "backward"
    context: bool = False
    to: DatasetId | None = None
    existence: bool = False
    """Also the cells that decided that a row is there."""
    cursor: RowId = 0
    limit: Annotated[WholeNumber, Field(ge=1, le=1000)] = 100


class CellLineJson(Model):
    """A cell asked about, and one that it stands in a dependence with."""

    row: int
    column: str | None
    dataset: DatasetJson
    version: VersionId
    occurrence: int
    related_row: int
    related_column: str | None
    source_row: Annotated[int, Field(deprecated="use `related_row`; goes with the next release")]
    source_column: Annotated[str | None, SOURCE_COLUMN]
    kind: Kind
    dependence: Dependence
    exact: bool


class CellPageJson(Model):
    """Some of the lines."""

    lines: list[CellLineJson]
    total: int
    stops: list[StopJson]
    broken: list[BrokenJson] = BROKEN
    next: int | None
    """`cursor` of the page that follows."""
