"""Response models of the routes of questions."""

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
    """Parameter of a question: a field of the request body."""

    name: str
    takes: str
    """`dataset`, `step`, `step or dataset`, `place` (a dataset or a step on a path), `column`, `rows`, `conditions`,
    `version`, `run`, `moment`, `operation`, `kinds`, `trust`, `former names`, `choice`, `flag` or `number`."""
    many: bool
    """Whether the field is a list."""
    required: bool
    default: Any
    choices: list[str]
    help: str


class QuestionJson(Model):
    """Question that `POST /questions/NAME` answers."""

    name: str
    summary: str
    paper: str
    """Question of the literature that it answers."""
    replays: bool
    """Whether the question runs a replay on Spark. The limits of replays apply."""
    parameters: list[ParameterJson]


class QuestionsJson(Model):
    """All questions."""

    questions: list[QuestionJson]


class EndJson(Model):
    """Read on a driver that rows reached, and from which no certain edge leads on."""

    dataset: DatasetJson
    version: VersionId
    step: str
    rows: int


class TrustedJson(Model):
    """Edge, end or stop that the answer leaves out because the request trusts it."""

    by: str
    """Entry of `trust` that matches."""
    what: str
    step: str
    dataset: DatasetJson | None
    why: str


class AnswerJson(Model):
    """Lines of an answer."""

    lines: list[dict[str, Any]]
    """Objects with a field for each column of the answer. A dataset is an object with `id`, `name` and `label`. Hidden
    values are null."""
    total: int
    """Number of all lines."""
    possible: list[dict[str, Any]] | None = None
    """Lines that may belong to the answer, through possible edges; null if the answer distinguishes no such lines."""
    exact: bool | None = None
    """Whether the lines are complete and contain no others; null if unknown."""
    next: int | None = None
    """`cursor` of the next page of `lines` and `possible`."""
    stops: list[StopJson] = Field(default_factory=list)
    ends: list[EndJson] = Field(default_factory=list)
    trusted: list[TrustedJson] = Field(default_factory=list)
    gone: list[GoneJson] = Field(default_factory=list)
    versions: list[VersionUsedJson] = Field(default_factory=list)
    """The version of the selected rows, then those of the rows in the answer."""
    broken: list[BrokenJson] = BROKEN


class ExplanationsJson(AnswerJson):
    """Lines of an answer, each with the number of its path."""

    paths: list[PathJson]
    """All paths, in order of their numbers. Each page repeats them."""


class ValuesJson(Model):
    """Rows with values, one table for each version."""

    tables: list[RowsJson]
    next: int | None = None
    """`cursor` of the next page of all tables."""


class OccurrenceJson(Model):
    """One reading of an input, on one path through the plan."""

    step: str
    write: int
    dataset: DatasetJson
    version: VersionId
    occurrence: int


class DerivationsJson(Model):
    """Derivations of rows: for each one a row of each occurrence, or null."""

    occurrences: list[OccurrenceJson]
    rows: list[int]
    """Output row of each derivation."""
    sources: list[list[int | None]]
    """Input rows by derivation, then by occurrence."""
    next: int | None = None
    """`cursor` of the next page."""
    broken: list[BrokenJson] = BROKEN


class GraphJson(Model):
    """Graph of rows or cells."""

    prov: dict[str, Any]
    """W3C PROV-JSON."""
    stops: list[StopJson]
    broken: list[BrokenJson] = BROKEN
