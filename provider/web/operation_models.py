"""What the API takes and answers about operations, columns and cells."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from provspark.index_store.query.graph import Direction
from provspark.model.operations import Category, Dependence
from provspark.model.writes import Kind
from provspark.web.models import (
    BROKEN,
    MAX_COLUMNS,
    Broken,
    ColumnName,
    Dataset,
    DatasetId,
    Model,
    RowId,
    Selection,
    Stop,
    VersionId,
)

__all__ = [
    "CellLine",
    "CellPage",
    "CellQuery",
    "ColumnLine",
    "ColumnLines",
    "Drop",
    "Drops",
    "How",
    "HowQuery",
    "Operation",
    "Path",
]


class Operation(Model):
    """An operation of a step, or several of one script line or one name that read as one."""

    step: str
    write: int
    dataset: Dataset
    """What the write wrote."""
    operations: list[int]
    """Their numbers within the write."""
    categories: list[Category]
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


class ColumnLine(Model):
    """A column asked about, and one that it stands in a dependence with; null for the rows themselves."""

    column: str | None
    dataset: Dataset
    version: VersionId
    occurrence: int
    source_column: str | None
    kind: Kind
    dependence: Dependence
    exact: bool
    steps: list[str]


class ColumnLines(Model):
    """The columns behind columns, or those that came of them."""

    lines: list[ColumnLine]
    stops: list[Stop]
    next: int | None = None
    """`cursor` of the page of both lists that follows."""
    broken: list[Broken] = BROKEN


class Drop(Model):
    """An operation that did not hand a column on."""

    column: str
    known_as: str
    text: str | None
    """None where it may tell values that are not shown here."""
    site: str
    name: str
    step: str
    write: int
    dataset: Dataset
    operation: int
    into: list[str]


class Drops(Model):
    """Where the columns of a version end."""

    lines: list[Drop]
    stops: list[Stop]
    next: int | None = None
    """`cursor` of the page of both lists that follows."""
    broken: list[Broken] = BROKEN


class HowQuery(Selection):
    """The operations on the ways of selected rows."""

    direction: Direction = "backward"
    context: bool = False
    to: DatasetId | None = None
    parts: bool = False
    """Each operation alone, instead of those of one script line as one."""


class Path(Model):
    """The operations on the way to rows of a version, through one reading and by one kind of edge."""

    dataset: Dataset
    version: VersionId
    occurrence: int
    kind: Kind
    rows: int
    """How many rows of the version."""
    operations: list[Operation]


class How(Model):
    """How rows came about, or what became of them."""

    paths: list[Path]
    stops: list[Stop]
    next: int | None = None
    """`cursor` of the page of both lists that follows."""
    broken: list[Broken] = BROKEN


class CellQuery(Selection):
    """The cells behind cells, or those that came of them."""

    columns: Annotated[list[ColumnName], Field(max_length=MAX_COLUMNS)] | None = None
    direction: Direction = "backward"
    context: bool = False
    to: DatasetId | None = None
    existence: bool = False
    """Also the cells that decided that a row is there."""
    cursor: RowId = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class CellLine(Model):
    """A cell asked about, and one that it stands in a dependence with."""

    row: int
    column: str | None
    dataset: Dataset
    version: VersionId
    occurrence: int
    source_row: int
    source_column: str | None
    kind: Kind
    dependence: Dependence
    exact: bool


class CellPage(Model):
    """Some of the lines."""

    lines: list[CellLine]
    total: int
    stops: list[Stop]
    broken: list[Broken] = BROKEN
    next: int | None
    """`cursor` of the page that follows."""
