"""What the API takes and answers about replays and profiles."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from provspark.index_store.query.nodes import Direction
from provspark.web.models import ColumnJson, DatasetJson, Model, Selection, StepJson, VersionId
from provspark.web.operation_models import DropJson

__all__ = [
    "BinJson",
    "ColumnDistributionJson",
    "ColumnProfileJson",
    "EndedJson",
    "MissedJson",
    "OperationSpreadJson",
    "OperationSpreadsJson",
    "PassageJson",
    "ProfileJson",
    "ProfilePairJson",
    "ProfilesJson",
    "ReplayJson",
    "ReplayLineJson",
    "ReplayQuery",
    "ReplayStageJson",
    "SharedRowsJson",
    "SourceRowJson",
    "TrailJson",
    "UntoldJson",
    "WhyNotJson",
]

ConditionParts = tuple[str, str, Any]
"""Column, operator and value."""


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


class TrailJson(ToldJson):
    """An operation on the way of columns that were asked for."""

    columns: list[str]
    """Those that they are in after it."""


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
    trail: list[TrailJson] = Field(default_factory=list)
    """Where columns were asked for, the operations on their way."""


class ReplayJson(Model):
    """What steps did to rows, in order of the data's flow."""

    passages: list[PassageJson]
    columns: list[str] = Field(default_factory=list)
    """The columns that were asked for; none where it is told of whole rows."""
    drops: list[DropJson] = Field(default_factory=list)
    """Where these columns ended: operations that did not hand them on."""


class SharedRowsJson(Model):
    """Rows between two operations of a step that stand beside others."""

    step: str
    verified: bool | None
    """Whether the replay ends as the store says; null where that is not known, as `doubt` says."""
    doubt: str
    asked: ReplayStageJson
    """The rows asked about, after an operation."""
    answer: ReplayStageJson
    """The rows that stand beside them, after an operation."""


class MissedJson(Model):
    """The rows of an input that satisfy what of the conditions speaks of it, and where they ended."""

    step: str
    dataset: DatasetJson
    """The input."""
    conditions: list[ConditionParts]
    """As they read on the input's columns; empty where these are masked."""
    rows: list[int]
    """The first of them."""
    count: int
    rest: int
    """How many of them were not replayed."""
    results: list[int]
    """Rows of what the step wrote that derive from the rows."""
    verified: bool | None
    doubt: str
    why: str
    """Why nothing is told of this input."""
    endings: list[EndedJson]


class WhyNotJson(Model):
    """Why no row of a data set satisfies conditions."""

    dataset: DatasetJson
    conditions: list[ConditionParts]
    rows: list[int]
    """The first rows that do satisfy them; with any, nothing is missing."""
    count: int
    """How many do."""
    missed: list[MissedJson]
    untraced: list[ConditionParts]
    """Conditions on columns that no input's column was handed on to: the search left them out."""


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


class ColumnDistributionJson(Model):
    """A column, and how its values are distributed; null where it is masked."""

    name: str
    masked: bool
    profile: ColumnProfileJson | None


class ProfileJson(Model):
    """How the values of a version, or of some rows of it, are distributed."""

    dataset: DatasetJson
    version: VersionId
    rows: int
    columns: list[ColumnDistributionJson]
    total: int
    """Columns that there are."""
    left_out: list[str]
    """Columns whose values can't be read."""


class OperationSpreadJson(ToldJson):
    """What an operation did to the distribution of values."""

    step: str
    children: list[int]
    """The operations whose rows it read."""
    child: int | None = None
    """The one whose rows are those before."""
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


class UntoldJson(ToldJson):
    """An operation of which nothing can be told."""

    child: int | None
    why: str


class OperationSpreadsJson(Model):
    """What operations of a step did to the distribution of values: of each an item for each that it reads."""

    step: str
    write: int
    dataset: DatasetJson
    """What the write wrote."""
    spreads: list[OperationSpreadJson]
    untold: list[UntoldJson]
