"""What the API takes and answers about replays and profiles."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from provspark.index_store.query.graph import Direction
from provspark.web.models import Column, Dataset, Model, Selection, Step, VersionId

__all__ = [
    "Bin",
    "ColumnProfile",
    "Ended",
    "OperationSpread",
    "Passage",
    "ProfilePair",
    "Profiles",
    "Replay",
    "ReplayLine",
    "ReplayQuery",
    "ReplayStage",
    "SourceRow",
]


class ReplayQuery(Selection):
    """A replay of what steps did to a few rows."""

    step: Annotated[str, Field(max_length=200)] | None = None
    """One that made the rows, or read them; without it all steps that they came through, or went into."""
    direction: Literal["both", "backward", "forward"] = "both"
    """Without `step`."""


class Told(Model):
    """An operation of the step."""

    operation: int
    name: str
    text: str | None
    """None where it may tell values that are not shown here."""
    site: str


class SourceRow(Model):
    """A row of an input."""

    dataset: Dataset
    version: VersionId
    row: int


class ReplayLine(Model):
    """A row after an operation."""

    values: list[Any] | None
    """By the stage's columns; null for those that are masked; none at all where values are not shown."""
    changed: list[str]
    """Columns whose values are others than in the row before."""
    added: list[str]
    """Columns that the row before has not."""
    parents: list[tuple[int, int]]
    """What it was made from: numbers of an operation and of a line there."""
    sources: list[SourceRow]


class ReplayStage(Told):
    """The rows in question after an operation."""

    columns: list[Column]
    lines: list[ReplayLine]
    cut: bool
    """There are more than are told."""


class Ended(Told):
    """Rows before an operation that nothing after it was made from."""

    cause: str
    whole: bool
    """Nothing else of them is left in what the step wrote."""
    before: int
    """The operation that they stand after."""
    lines: list[int]
    """Their numbers there."""


class Passage(Model):
    """Rows on their way through one write."""

    direction: Direction
    step: Step
    write: int
    dataset: Dataset
    """What the write wrote."""
    why: str
    """Why it was not replayed."""
    verified: bool | None
    """Whether the end equals the stored rows; null where that could not be compared, as `doubt` says."""
    doubt: str
    results: list[int]
    """Rows of what the write wrote that derive from the rows."""
    stages: list[ReplayStage]
    endings: list[Ended]
    notes: list[str]
    """Where the rows could not be followed any further, and what an operation's text does not settle."""


class Replay(Model):
    """What steps did to rows, in order of the data's flow."""

    passages: list[Passage]


class Bin(Model):
    """Values from `low` to below `high`."""

    low: float
    high: float
    count: int


class ColumnProfile(Model):
    """How the values of a column are distributed."""

    type: str
    count: int
    nulls: int
    distinct: int | None
    mean: float | None
    deviation: float | None
    low: str | None
    high: str | None
    histogram: list[Bin]
    top: list[tuple[str, int]]
    """The most frequent values with how many rows have them."""


class ProfilePair(Model):
    """A column before and after a step; null where it is not there, both where it is masked."""

    name: str
    masked: bool
    before: ColumnProfile | None
    after: ColumnProfile | None


class Profiles(Model):
    """What a step did to the distribution of values."""

    step: str
    before: Dataset
    before_rows: int
    after: Dataset
    after_rows: int
    columns: list[ProfilePair]
    total: int
    """Columns that there are."""


class OperationSpread(Told):
    """What an operation did to the distribution of values."""

    step: str
    children: list[int]
    """The operations whose rows it read."""
    before_rows: int | None
    """Null for an operation that reads none's."""
    after_rows: int
    columns: list[ProfilePair]
    total: int
    """Columns that there are."""
    verified: bool | None
    """Whether the replay ends in the profile of what the step wrote; null where that could not be compared, as `doubt`
    says."""
    doubt: str
