"""What the API answers to questions."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from provspark.web.models import (
    BROKEN,
    BrokenJson,
    DatasetJson,
    GoneJson,
    Model,
    RowsJson,
    StopJson,
    VersionId,
    VersionUsedJson,
)
from provspark.web.operation_models import PathJson

__all__ = [
    "AnswerJson",
    "DerivationsJson",
    "EndJson",
    "ExplanationsJson",
    "GraphJson",
    "OccurrenceJson",
    "ParameterJson",
    "QuestionJson",
    "QuestionsJson",
    "TrustedJson",
    "ValuesJson",
]


class ParameterJson(Model):
    """A parameter of a question: a field of the request's body."""

    name: str
    takes: str
    """`dataset`, `step`, `step or dataset`, `place` (a dataset or a step on a path), `column`, `rows`, `conditions`,
    `version`, `run`, `moment`, `operation`, `kinds`, `trust`, `former names`, `choice`, `flag` or `number`."""
    many: bool
    """Whether it is a list."""
    required: bool
    default: Any
    choices: list[str]
    help: str


class QuestionJson(Model):
    """A question, which `POST /questions/NAME` answers."""

    name: str
    summary: str
    paper: str
    """Which question of the literature it answers."""
    replays: bool
    """Whether stored operations run again for its answer, on Spark, as the limits of replays allow."""
    parameters: list[ParameterJson]


class QuestionsJson(Model):
    """All questions."""

    questions: list[QuestionJson]


class EndJson(Model):
    """A data set on a driver that rows reached, and from which nothing surely went on."""

    dataset: DatasetJson
    version: VersionId
    step: str
    rows: int


class TrustedJson(Model):
    """Something that the answer leaves out because the request trusts it."""

    by: str
    """The entry of `trust`."""
    what: str
    step: str
    dataset: DatasetJson | None
    why: str


class AnswerJson(Model):
    """An answer, line by line."""

    lines: list[dict[str, Any]]
    """By the names of the answer's columns; a data set as an object with `id`, `name` and `label`. Null stands for what
    is not shown here."""
    total: int
    """Lines that there are."""
    possible: list[dict[str, Any]] | None = None
    """Lines that may belong to the answer, through values that capture can't see into; null for an answer that has no
    such lines."""
    exact: bool | None = None
    """Whether these are all lines and no others; null for an answer that does not tell."""
    next: int | None = None
    """`cursor` of the page of `lines` and `possible` that follows."""
    stops: list[StopJson] = Field(default_factory=list)
    ends: list[EndJson] = Field(default_factory=list)
    trusted: list[TrustedJson] = Field(default_factory=list)
    gone: list[GoneJson] = Field(default_factory=list)
    versions: list[VersionUsedJson] = Field(default_factory=list)
    """The version of the rows asked about, then those of the rows in the answer."""
    broken: list[BrokenJson] = BROKEN


class ExplanationsJson(AnswerJson):
    """An answer, each line with the number of its path."""

    paths: list[PathJson]
    """By number. All of them, on every page."""


class ValuesJson(Model):
    """Rows with their values, of each version by itself."""

    tables: list[RowsJson]
    next: int | None = None
    """`cursor` of the page of all tables that follows."""


class OccurrenceJson(Model):
    """One reading of an input, by one way through the plan."""

    step: str
    write: int
    dataset: DatasetJson
    version: VersionId
    occurrence: int


class DerivationsJson(Model):
    """The ways in which rows came about: a row of each occurrence, or null."""

    occurrences: list[OccurrenceJson]
    rows: list[int]
    """The row that came about, of each derivation."""
    sources: list[list[int | None]]
    """By derivation, then by occurrence."""
    next: int | None = None
    """`cursor` of the page that follows."""
    broken: list[BrokenJson] = BROKEN


class GraphJson(Model):
    """Rows, or cells, and the edges between them."""

    prov: dict[str, Any]
    """As PROV-JSON of W3C."""
    stops: list[StopJson]
    broken: list[BrokenJson] = BROKEN
