"""Request and response models for replays and profiles."""

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
"""Column, operator and value of a condition."""


class ReplayQuery(Selection):
    """Replay of steps for a few rows."""

    step: Annotated[str, Field(max_length=200)] | None = None
    """Step that made or read the rows. Default: all steps on their paths."""
    direction: Literal["both", "backward", "forward"] = "both"
    """Steps to replay if `step` is not set: those before the rows, after them, or both."""


class ToldJson(Model):
    """Operation of a step."""

    operation: int
    name: str
    text: str | None
    """Null if it may contain hidden values."""
    site: str


class SourceRowJson(Model):
    """Row of an input."""

    dataset: DatasetJson
    version: VersionId
    row: int


class ReplayLineJson(Model):
    """Row after an operation."""

    values: list[Any] | None
    """Values in the order of the stage's columns; null for masked columns. Null as a whole if values are hidden."""
    changed: list[str]
    """Columns whose values differ from the row before the operation."""
    added: list[str]
    """Columns that the row before the operation does not have."""
    parents: list[tuple[int, int]]
    """Rows that it was made from: the number of an operation, and of a line of its stage."""
    sources: list[SourceRowJson]


class ReplayStageJson(ToldJson):
    """Selected rows, or rows made from them, after an operation."""

    columns: list[ColumnJson]
    lines: list[ReplayLineJson]
    cut: bool
    """Whether there are more rows than `lines` contains."""


class EndedJson(ToldJson):
    """Rows before an operation that no row after it was made from."""

    cause: str
    whole: bool
    """Whether no row of the step's output was made from them on another path, either."""
    before: int
    """Operation whose stage contains these rows."""
    lines: list[int]
    """Lines of that stage."""


class TrailJson(ToldJson):
    """Operation on the path of the selected columns."""

    columns: list[str]
    """Columns after the operation that contain their values."""


class PassageJson(Model):
    """Path of rows through one write."""

    direction: Direction
    step: StepJson
    write: int
    dataset: DatasetJson
    """Output of the write."""
    why: str
    """Reason if the write was not replayed; empty otherwise."""
    verified: bool | None
    """Whether the replayed output equals the stored rows; null if it could not be compared (`doubt` has the reason)."""
    doubt: str
    results: list[int]
    """Rows of the output that derive from the rows."""
    stages: list[ReplayStageJson]
    endings: list[EndedJson]
    notes: list[str]
    """Where the rows could not be followed further, and what an operation's text leaves undetermined."""
    trail: list[TrailJson] = Field(default_factory=list)
    """If columns are selected, the operations on their path."""


class ReplayJson(Model):
    """Replay of steps, in the order in which the data passed through them."""

    passages: list[PassageJson]
    columns: list[str] = Field(default_factory=list)
    """Selected columns; empty if whole rows are selected."""
    drops: list[DropJson] = Field(default_factory=list)
    """Operations that dropped the selected columns."""


class SharedRowsJson(Model):
    """Rows between two operations of a step that share witnesses with others."""

    step: str
    verified: bool | None
    """Whether the replayed output equals the stored rows; null if unknown (`doubt` has the reason)."""
    doubt: str
    asked: ReplayStageJson
    """Selected rows, after the first operation."""
    answer: ReplayStageJson
    """Rows that share witnesses with them, after the second operation."""


class MissedJson(Model):
    """Rows of an input that satisfy the conditions on it, and where they ended."""

    step: str
    dataset: DatasetJson
    """The input."""
    conditions: list[ConditionParts]
    """The conditions, translated to the input's columns; empty if these are masked."""
    rows: list[int]
    """The first of these rows."""
    count: int
    rest: int
    """Number of these rows that were not replayed."""
    results: list[int]
    """Rows of the step's output that derive from the rows."""
    verified: bool | None
    doubt: str
    why: str
    """Reason if there is no answer for this input; empty otherwise."""
    endings: list[EndedJson]


class WhyNotJson(Model):
    """Why no row of a dataset satisfies conditions."""

    dataset: DatasetJson
    conditions: list[ConditionParts]
    rows: list[int]
    """The first rows that satisfy the conditions. If there are any, nothing is missing."""
    count: int
    """Number of rows that satisfy the conditions."""
    missed: list[MissedJson]
    untraced: list[ConditionParts]
    """Conditions that the search left out, because their columns were not copied from a column of an input."""


class BinJson(Model):
    """Bin of a histogram: values from `low` to below `high`."""

    low: float
    high: float
    count: int


class ColumnProfileJson(Model):
    """Distribution of values in a column."""

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
    """The most frequent values, with the number of rows that have each."""


class ProfilePairJson(Model):
    """Column before and after a step: null where it does not exist, both null if it is masked."""

    name: str
    masked: bool
    before: ColumnProfileJson | None
    after: ColumnProfileJson | None


class ProfilesJson(Model):
    """Distributions of values before and after a step."""

    step: str
    before: DatasetJson
    before_rows: int
    after: DatasetJson
    after_rows: int
    columns: list[ProfilePairJson]
    total: int
    """Number of all columns."""


class ColumnDistributionJson(Model):
    """Column with the distribution of its values; null if it is masked."""

    name: str
    masked: bool
    profile: ColumnProfileJson | None


class ProfileJson(Model):
    """Distribution of values in a version, or in some of its rows."""

    dataset: DatasetJson
    version: VersionId
    rows: int
    columns: list[ColumnDistributionJson]
    total: int
    """Number of all columns."""
    left_out: list[str]
    """Columns whose values can't be read."""


class OperationSpreadJson(ToldJson):
    """Distributions of values before and after an operation."""

    step: str
    children: list[int]
    """Operations that it reads from."""
    child: int | None = None
    """Operation whose rows are the ones before."""
    before_rows: int | None
    """Null for an operation that reads from no other."""
    after_rows: int
    columns: list[ProfilePairJson]
    total: int
    """Number of all columns."""
    verified: bool | None
    """Whether the replayed output has the same profile as the stored one; null if it could not be compared (`doubt` has
    the reason)."""
    doubt: str


class UntoldJson(ToldJson):
    """Operation that could not be profiled, with the reason."""

    child: int | None
    why: str


class OperationSpreadsJson(Model):
    """Distributions of values before and after operations of a step: an item for each operation that they read from."""

    step: str
    write: int
    dataset: DatasetJson
    """Output of the write."""
    spreads: list[OperationSpreadJson]
    untold: list[UntoldJson]
