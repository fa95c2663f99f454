"""What the API takes and answers about replays and profiles."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from provspark.index_store.query.nodes import Direction
from provspark.web.models import ColumnJson, DatasetJson, Model, Selection, StepJson, VersionId

__all__ = [
    "BinJson",
    "ColumnProfileJson",
    "EndedJson",
    "OperationSpreadJson",
    "PassageJson",
    "ProfilePairJson",
    "ProfilesJson",
    "ReplayJson",
    "ReplayLineJson",
    "ReplayQuery",
    "ReplayStageJson",
    "SourceRowJson",
]


class ReplayQuery(Selection):
    """A replay of what steps did to a few rows."""

    step: Annotated[str, Field(max_length=200)] | None = None
    """One that made the rows, or read them; without it all steps that they came through, or went into."""
    direction: Literal["both", "backward", "forward"] = "both"
    """Without `step`."""


class ToldJson(Model):
    """An operation of the step."""

    operation: int
    name: str
    text: str | None
    """None where it may tell values that are not shown here."""
    site: str


class SourceRowJson(Model):
    """A row of an input."""

    dataset: DatasetJson
    version: VersionId
    row: int


class ReplayLineJson(Model):
    """A row after an operation."""

    values: list[Any] | None
    """By the stage's columns; null for those that are masked; none at all where values are not shown."""
    changed: list[str]
    """Columns whose values are others than in the row before."""
    added: list[str]
    """Columns that the row before has not."""
    parents: list[tuple[int, int]]
    """What it was made from: numbers of an operation and of a line there."""
    sources: list[SourceRowJson]


class ReplayStageJson(ToldJson):
    """The rows in question after an operation."""

    columns: list[ColumnJson]
    lines: list[ReplayLineJson]
    cut: bool
    """There are more than are told."""


class EndedJson(ToldJson):
    """Rows before an operation that nothing after it was made from."""

    cause: str
    whole: bool
    """Nothing else of them is left in what the step wrote."""
    before: int
    """The operation that they stand after."""
    lines: list[int]
    """Their numbers there."""


class PassageJson(Model):
    """Rows on their way through one write."""

    direction: Direction
    step: StepJson
    write: int
    dataset: DatasetJson
    """What the write wrote."""
    why: str
    """Why it was not replayed."""
    verified: bool | None
    """Whether the end equals the stored rows; null where that could not be compared, as `doubt` says."""
    doubt: str
    results: list[int]
    """Rows of what the write wrote that derive from the rows."""
    stages: list[ReplayStageJson]
    endings: list[EndedJson]
    notes: list[str]
    """Where the rows could not be followed any further, and what an operation's text does not settle."""


class ReplayJson(Model):
    """What steps did to rows, in order of the data's flow."""

    passages: list[PassageJson]


class BinJson(Model):
    """Values from `low` to below `high`."""

    low: float
    high: float
    count: int


class ColumnProfileJson(Model):
    """How the values of a column are distributed."""

    type: str
    count: int
    nulls: int
    distinct: int | None
    mean: float | None
    deviation: float | None
    low: str | None
    high: str | None
    histogram: list[BinJson]
    top: list[tuple[str, int]]
    """The most frequent values with how many rows have them."""


class ProfilePairJson(Model):
    """A column before and after a step; null where it is not there, both where it is masked."""

    name: str
    masked: bool
    before: ColumnProfileJson | None
    after: ColumnProfileJson | None


class ProfilesJson(Model):
    """What a step did to the distribution of values."""

    step: str
    before: DatasetJson
    before_rows: int
    after: DatasetJson
    after_rows: int
    columns: list[ProfilePairJson]
    total: int
    """Columns that there are."""


class OperationSpreadJson(ToldJson):
    """What an operation did to the distribution of values."""

    step: str
    children: list[int]
    """The operations whose rows it read."""
    before_rows: int | None
    """Null for an operation that reads none's."""
    after_rows: int
    columns: list[ProfilePairJson]
    total: int
    """Columns that there are."""
    verified: bool | None
    """Whether the replay ends in the profile of what the step wrote; null where that could not be compared, as `doubt`
    says."""
    doubt: str
