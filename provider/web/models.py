"""What the API takes and answers."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from provspark.index_store.query.arguments import Versions
from provspark.index_store.query.current_versions import VersionRule
from provspark.index_store.query.nodes import Direction
from provspark.model.stops import Blur
from provspark.model.writes import Coverage, Kind
from provspark.web.limits import LIMITS, Limits, named

MAX_ROWS = 10_000
MAX_COLUMNS = 10_000
_SHOWN = 60
MAX_REPLAYED = 20
"""Rows of a replay."""

DatasetId = Annotated[str, Field(pattern="^[0-9a-f]{16}$", description="`id` of a data set, as `/datasets` lists it")]
VersionId = Annotated[str, Field(pattern="^[0-9a-f]{32}$", description="`version` of a data set")]


def _whole(value: Any) -> Any:
    """Refuse what pydantic would turn into a whole number: true and false, texts, and 1.0."""
    if not isinstance(value, int) or isinstance(value, bool):
        text = json.dumps(value, ensure_ascii=False)
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise PydanticCustomError("whole_number", "must be a whole number, found {value}", {"value": shown})
    return value


WholeNumber = Annotated[int, BeforeValidator(_whole)]
RowId = Annotated[WholeNumber, Field(ge=0, le=2**53 - 1)]
ConditionText = Annotated[str, Field(min_length=1, max_length=500, examples=["age >= 40", "`name` in ('Ann', 'Bob')"])]
ColumnName = Annotated[str, Field(min_length=1, max_length=500)]


def few_conditions(where: list[str] | None) -> list[str] | None:
    """Refuse more conditions than a request may have."""
    most = LIMITS.get().max_conditions
    if where is not None and len(where) > most:
        why = f"there are {len(where):,} conditions, more than the {most:,} allowed ({named('max_conditions')})"
        raise PydanticCustomError("too_many_conditions", why)
    return where


MOST_CONDITIONS: dict[str, Any] = {"maxItems": Limits().max_conditions}
"""As the description tells the default."""


class Model(BaseModel):
    """Immutable, and strict about names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DatasetJson(Model):
    """A data set's names."""

    id: DatasetId
    name: str
    """As OpenLineage names it, in one string."""
    label: str
    """The last part of the name."""


class ColumnJson(Model):
    """A column of a version."""

    name: str
    type: str
    """Spark's type, as its `simpleString` writes it."""
    masked: bool
    """Its values are not shown, and can't be filtered by."""


class DatasetSummaryJson(DatasetJson):
    """A line in the list of data sets."""

    version: VersionId
    """The version that answers to the name."""
    rows: int
    versions: int
    columns: int
    role: Literal["source", "derived"]
    coverage: Coverage | None
    step: str | None
    """The step that wrote that version."""


class BrokenJson(Model):
    """A step that can't be read, or a whole store of a catalogue. Answers leave it out, so they may be incomplete."""

    step: str | None
    """None for a step whose DAG is not known: users who may see some DAGs only learn no more of it."""
    file: str | None
    """Path within the store."""
    fault: Literal["corrupt", "newer", "unreadable"] | None
    why: str
    advice: str


BROKEN: Any = Field(default_factory=list, description="Steps that can't be read; this answer leaves them out.")


class DatasetPageJson(Model):
    """Some of the data sets."""

    items: list[DatasetSummaryJson]
    total: int
    next: int | None
    """`cursor` of the page that follows."""
    broken: list[BrokenJson] = BROKEN


class StepJson(Model):
    """One try of a task, or one run from the command line."""

    step: str
    dag_id: str
    run_id: str
    task_id: str
    map_index: int
    try_number: int
    status: Literal["succeeded", "failed"]
    started: str
    ended: str
    coverage: Coverage | None
    """The least of its writes; none where it wrote nothing."""


class VersionSummaryJson(Model):
    """A version, as the step knows it that wrote it, or that read it where none did."""

    version: VersionId
    rows: int
    files: int
    format: str
    written: bool
    coverage: Coverage | None
    step: StepJson


class VersionUsedJson(Model):
    """The version of a dataset that the response's row ids refer to, and how it was chosen."""

    dataset: DatasetJson
    version: VersionId
    rule: VersionRule
    """`disk`: newest version whose files exist. `last step`: version of the last successful step, used if the files
    can't be listed and for database tables. `run`: latest version in the run. `as_of`: latest version at that time.
    `version`: the version that you passed. `itself`: dataset on a driver, which has a version for each call."""
    why: str
    """With `last step`: why the files can't be listed; empty for a database table."""
    missing: int
    """Files of the version that do not exist."""
    unknown: int
    """Existing files that are not part of the version; of a database table, later steps that read another state."""
    age: float
    """How many seconds ago the files were listed; 0 for a local disk."""


class DatasetDetailJson(DatasetJson):
    """A dataset, its versions (the current one first), and the columns of one."""

    version: VersionId
    rows: int
    current: VersionUsedJson
    """The current version."""
    columns: list[ColumnJson]
    versions: list[VersionSummaryJson]
    read_by: list[StepJson]
    next: int | None = None
    """`cursor` of the page of both lists that follows."""


class RowsJson(Model):
    """Rows of a version; `values[i]` are those of row `rows[i]`, by column, as plain JSON."""

    dataset: DatasetJson
    version: VersionId
    total: int
    """Rows of the version."""
    selected: int
    """Rows that the question selects."""
    columns: list[ColumnJson]
    rows: list[int]
    values: list[list[Any]] | None
    why: str
    """Why there are no values."""
    next: int | None
    """`cursor` of the page that follows."""


class Selection(Model):
    """Rows of a version: by row ids, or by conditions that all hold, or all."""

    dataset: DatasetId
    version: VersionId | None = None
    rows: Annotated[list[RowId], Field(max_length=MAX_ROWS)] | None = None
    where: Annotated[
        list[ConditionText] | None, AfterValidator(few_conditions), Field(json_schema_extra=MOST_CONDITIONS)
    ] = None


class TraceQuery(Selection):
    """A trace of selected rows."""

    direction: Direction = "backward"
    context: bool = False
    """Follow rows that values were computed from, too."""
    to: DatasetId | None = None
    versions: Versions = "current"
    """In a forward trace, return rows in the current version of their dataset; `all` includes rows no longer in it."""


class ExampleQuery(TraceQuery):
    """A trace, and the row of which one derivation is returned."""

    example: RowId | None = None
    """One of the rows asked about, in a trace backward (`TraceJson.example`); the first by default."""


class LocateQuery(Model):
    """Rows of a version, to look for in another version of their dataset."""

    dataset: DatasetId
    version: VersionId
    rows: Annotated[list[RowId], Field(max_length=MAX_ROWS)]
    into: VersionId | None = None
    """The version in which to look for the rows; default: the current one."""


class LocatedJson(Model):
    """Row ids in the other version."""

    dataset: DatasetJson
    version: VersionId
    """The other version."""
    rows: list[int | None]
    """Row ids in the other version, in the order of the request; null if the row is not in it."""
    gone: int
    """Number of rows that are not in the other version."""


class TraceRowsQuery(ExampleQuery):
    """Rows of one node of a trace."""

    node: Annotated[WholeNumber, Field(ge=0, le=1_000_000)]
    node_version: VersionId | None = None
    """The version that the client saw in this node. If the node now has another version, the response is 409."""
    one: bool = False
    """Only rows in one derivation of the example, see `NodeJson.one`."""
    cursor: RowId = 0
    limit: Annotated[WholeNumber, Field(ge=1, le=1000)] = 50
    columns: Annotated[list[ColumnName], Field(max_length=MAX_COLUMNS)] | None = None


class NodeJson(Model):
    """A version on the way, with how many of its rows the trace met."""

    id: int
    dataset: DatasetJson
    version: VersionId
    role: Literal["asked", "end", "between"]
    total: int
    rows: int
    """Rows met, by any kind of path."""
    context_only: int
    """Those met only along a path with a context edge."""
    possible_only: int = 0
    """Those met only along a path with a possible edge: rows may have gone this way."""
    columns: int
    one: list[int]
    """Rows in one derivation of `TraceJson.example`, of each joined input a row; none forward, or if unknown."""
    gone: bool = False
    """Forward: its rows are in no current version; it leads to some that are, or `versions` is `all`."""
    hidden: Literal["before", "after"] | None
    """A step that the user may not see made files of these rows, or read them; that path ends here."""


class EdgeJson(Model):
    """Rows of `source` went into `target`: through a step's write, or, without `step`, by shared files."""

    source: int
    target: int
    step: str | None
    write: int | None
    kind: Kind
    occurrences: list[int]
    coverage: Coverage
    rows: int
    """Rows that the trace reached through it: of `source` for backward, of `target` for forward."""
    read: bool = False
    """Whether the step's driver read the rows: then `write` is the read's number among the step's reads."""


class StopJson(Model):
    """Where the answer is less than it could be."""

    what: Blur
    step: str
    dataset: DatasetJson
    why: str


class GoneJson(Model):
    """Rows made from the selected rows that are no longer in the current version of their dataset."""

    dataset: DatasetJson
    step: str | None
    """The first captured step after which their files were missing; null if no captured step is known to have removed
    them."""
    rows: int


class EndingJson(Model):
    """A write that read rows of a trace forward and kept only some of them, or none."""

    step: str
    write: int
    dataset: DatasetJson
    """What it wrote."""
    node: int
    """The node whose rows it read."""
    read: int
    kept: int
    """Rows that a row of the output was made from."""
    context: int
    """Rows not kept that were used to compute values of the output."""
    coverage: Coverage
    ended: list[int]
    """The first rows of the node that were not kept, as many as a replay takes to find the operation."""


class TraceJson(Model):
    """What rows came through or went into, as a graph; node 0 is what was asked about."""

    direction: Direction
    example: int | None = None
    """The selected row whose derivation is in `NodeJson.one`; none in a forward trace."""
    nodes: list[NodeJson]
    edges: list[EdgeJson]
    stops: list[StopJson]
    endings: list[EndingJson]
    """In a forward trace: steps that read rows but did not keep all of them."""
    steps: list[StepJson]
    gone: list[GoneJson]
    versions: list[VersionUsedJson]
    """First the version of the selected rows, then those of the rows found."""
    broken: list[BrokenJson] = BROKEN


class ChoiceJson(Model):
    """A data set that a question can be about, and those that can stand between."""

    dataset: DatasetJson
    via: list[DatasetJson]


class RelatedJson(Model):
    """The data sets that questions about rows of a data set can name."""

    co_contributory: list[ChoiceJson]
    """Joined with what came of the rows; `via` are those in whose derivations."""
    co_dependency: list[ChoiceJson]
    """Sharing a source with the rows; `via` are those sources."""
    composition: list[DatasetJson]
    """What the rows came from."""
    next: int | None = None
    """`cursor` of the page of all three lists that follows."""


class CoContributoryQuery(Selection):
    """Rows of `to` that were used together with rows, in one derivation."""

    to: DatasetId
    via: DatasetId | None = None
    """Only derivations of this data set's rows count."""
    context: bool = False


class CoDependencyQuery(Selection):
    """Rows of `to` that share a source row in `via` with rows."""

    to: DatasetId
    via: DatasetId
    context: bool = False


class PageOfRows(Model):
    """Some of the rows of an answer."""

    cursor: RowId = 0
    limit: Annotated[WholeNumber, Field(ge=1, le=1000)] = 50
    columns: Annotated[list[ColumnName], Field(max_length=MAX_COLUMNS)] | None = None


class CoContributoryRowsQuery(PageOfRows, CoContributoryQuery):
    """Some of those rows, with values, of one version."""

    answer_version: VersionId


class CoDependencyRowsQuery(PageOfRows, CoDependencyQuery):
    """Some of those rows, with values, of one version."""

    answer_version: VersionId


class FoundJson(Model):
    """How many rows of a version were found."""

    dataset: DatasetJson
    version: VersionId
    total: int
    rows: int
    columns: int
    gone: bool = False
    """`co_dependency`: these rows are in no current version; this is the one in which they were met."""


class CompositionQuery(Selection):
    """How the witnesses of rows divide over a column of a source."""

    source: DatasetId
    column: ColumnName
    limit: Annotated[WholeNumber, Field(ge=1, le=1000)] = 50


class ShareJson(Model):
    """A value of the column, and how many distinct rows have it."""

    value: Any
    witnesses: int


class CompositionJson(Model):
    """The values with most witnesses first, and how many values and witnesses there are in all."""

    values: list[ShareJson]
    total_values: int
    total_witnesses: int
    broken: list[BrokenJson] = BROKEN


class StepPageJson(Model):
    """Some of the steps, the last first."""

    items: list[StepJson]
    total: int
    next: int | None
    broken: list[BrokenJson] = BROKEN


class UsageJson(DatasetJson):
    """A version that a write read or made."""

    version: VersionId
    rows: int


class WriteJson(Model):
    """One output of a step."""

    index: int
    output: UsageJson
    """Its `rows` are all rows of the version."""
    written: int | None = None
    """Those of them that the step wrote; none where that is not known, as for a write that was not tracked."""
    inputs: list[UsageJson]
    coverage: Coverage
    reason: str | None
    site: str
    edges: int
    """Pairs that its tensors hold."""


class StepDetailJson(StepJson):
    """All that is known of a step."""

    writes: list[WriteJson]
    untracked: list[str]
    engine: dict[str, str]
    error: str | None
    """What the script raised; not shown where values are not."""
    stored_bytes: int
    next: int | None = None
    """`cursor` of the page of `writes` and `untracked` that follows."""


class AboutJson(Model):
    """What this installation shows to this user."""

    values: bool
    airflow: bool
    steps: int
    version: str
    broken: list[BrokenJson] = BROKEN
