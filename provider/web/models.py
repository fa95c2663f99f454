"""Request and response models of the API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from provspark.index_store.query.arguments import Versions
from provspark.index_store.query.current_versions import VersionRule
from provspark.index_store.query.nodes import Direction
from provspark.model.stops import Blur
from provspark.model.writes import Coverage, Kind
from provspark.web.limits import MOST_CONDITIONS, few_conditions
from provspark.web.whole_numbers import WHOLE

MAX_ROWS = 10_000
MAX_COLUMNS = 10_000
MAX_REPLAYED = 20
"""Maximum number of rows of a replay."""

DatasetId = Annotated[str, Field(pattern="^[0-9a-f]{16}$", description="`id` of a dataset, as `/datasets` lists it")]
VersionId = Annotated[str, Field(pattern="^[0-9a-f]{32}$", description="`version` of a dataset")]
RowId = Annotated[int, Field(ge=0, le=2**53 - 1), WHOLE]
ConditionText = Annotated[str, Field(min_length=1, max_length=500, examples=["age >= 40", "`name` in ('Ann', 'Bob')"])]
ColumnName = Annotated[str, Field(min_length=1, max_length=500)]


class Model(BaseModel):
    """Base of all models: frozen, and without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DatasetJson(Model):
    """Id and names of a dataset."""

    id: DatasetId
    name: str
    """OpenLineage's namespace and name, as one URI."""
    label: str
    """Last part of the name."""


class ColumnJson(Model):
    """Column of a version."""

    name: str
    type: str
    """Spark type, as `simpleString` returns it."""
    masked: bool
    """Whether its values are hidden. Conditions on a masked column are rejected."""


class DatasetSummaryJson(DatasetJson):
    """Summary of a dataset."""

    version: VersionId
    """Current version; to find it, only files on a local disk are listed."""
    rows: int
    versions: int
    columns: int
    role: Literal["source", "derived"]
    coverage: Coverage | None
    step: str | None
    """Step that wrote this version; null for a source."""


class BrokenJson(Model):
    """Step, or store of a catalogue, that can't be read. The response leaves it out, so it may be incomplete."""

    step: str | None
    """Null for a store, and for a step of an unknown DAG if the user may not see all DAGs."""
    file: str | None
    """Path within the store."""
    fault: Literal["corrupt", "newer", "unreadable"] | None
    why: str
    advice: str


BROKEN: Any = Field(default_factory=list, description="Steps that can't be read. The response leaves them out.")


class DatasetPageJson(Model):
    """Page of the list of datasets."""

    items: list[DatasetSummaryJson]
    total: int
    next: int | None
    """`cursor` of the next page."""
    broken: list[BrokenJson] = BROKEN


class StepJson(Model):
    """Step: one try of an Airflow task instance, or one run of a script or command."""

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
    """Lowest coverage of its writes; null if it wrote nothing."""


class VersionSummaryJson(Model):
    """Version, with the step that wrote it or, if no captured step wrote it, one that read it."""

    version: VersionId
    rows: int
    files: int
    format: str
    written: bool
    """Whether `step` wrote the version."""
    coverage: Coverage | None
    step: StepJson


class VersionUsedJson(Model):
    """Version of a dataset that the row ids in the response refer to, and how it was chosen."""

    dataset: DatasetJson
    version: VersionId
    rule: VersionRule
    """`disk`: newest version whose files exist. `last step`: version of the last successful step, used if the files
    can't be listed and for database tables. `run`: latest version in the run. `as_of`: latest version at that time.
    `version`: the version that you passed. `itself`: dataset on a driver, which has a version for each call."""
    why: str
    """With `last step`: why the files can't be listed; empty for a database table."""
    missing: int
    """Number of the version's files that do not exist."""
    unknown: int
    """Number of existing files that are not part of the version; for a database table, number of later steps that read
    another state of it."""
    age: float
    """Seconds since the files were listed; 0 for a local disk."""


class DatasetDetailJson(DatasetJson):
    """Dataset, its versions (the current one first), and the columns of one version."""

    version: VersionId
    rows: int
    current: VersionUsedJson
    """The current version, and how it was chosen."""
    columns: list[ColumnJson]
    versions: list[VersionSummaryJson]
    read_by: list[StepJson]
    next: int | None = None
    """`cursor` of the next page of `versions` and `read_by`."""


class RowsJson(Model):
    """Rows of a version. `values[i]` contains the values of row `rows[i]`, in the order of `columns`."""

    dataset: DatasetJson
    version: VersionId
    total: int
    """Number of rows of the version."""
    selected: int
    """Number of rows that the request selects."""
    columns: list[ColumnJson]
    rows: list[int]
    values: list[list[Any]] | None
    why: str
    """Reason if there are no values; empty otherwise."""
    next: int | None
    """`cursor` of the next page."""


class Selection(Model):
    """Selected rows of a version: row ids (`rows`), or the rows that satisfy all conditions (`where`). Default: all."""

    dataset: DatasetId
    version: VersionId | None = None
    rows: Annotated[list[RowId], Field(max_length=MAX_ROWS)] | None = None
    where: Annotated[
        list[ConditionText] | None, AfterValidator(few_conditions), Field(json_schema_extra=MOST_CONDITIONS)
    ] = None


class TraceQuery(Selection):
    """Trace of the selected rows."""

    direction: Direction = "backward"
    context: bool = False
    """Also follow context edges: rows that a value was computed from."""
    to: DatasetId | None = None
    versions: Versions = "current"
    """In a forward trace, return rows in the current version of their dataset; `all` includes rows no longer in it."""


class ExampleQuery(TraceQuery):
    """Trace of the selected rows, with one derivation of one of them."""

    example: RowId | None = None
    """Selected row whose derivation a backward trace returns. Default: the first selected row."""


class LocateQuery(Model):
    """Rows of a version, to find in another version of their dataset."""

    dataset: DatasetId
    version: VersionId
    rows: Annotated[list[RowId], Field(max_length=MAX_ROWS)]
    into: VersionId | None = None
    """Version to find the rows in. Default: the current one."""


class LocatedJson(Model):
    """Row ids in another version."""

    dataset: DatasetJson
    version: VersionId
    """The other version."""
    rows: list[int | None]
    """Row ids in the other version, in the order of the request; null if the row is not in it."""
    gone: int
    """Number of rows that are not in the other version."""


class TraceRowsQuery(ExampleQuery):
    """Rows of one node of a trace."""

    node: Annotated[int, Field(ge=0, le=1_000_000), WHOLE]
    node_version: VersionId | None = None
    """Version of this node in the client's trace. If the node has another version now, the response is 409."""
    one: bool = False
    """Return only the rows in one derivation of the example; see `NodeJson.one`."""
    cursor: RowId = 0
    limit: Annotated[int, Field(ge=1, le=1000), WHOLE] = 50
    columns: Annotated[list[ColumnName], Field(max_length=MAX_COLUMNS)] | None = None


class NodeJson(Model):
    """Version in a trace, with the number of its rows that the trace reached."""

    id: int
    dataset: DatasetJson
    version: VersionId
    role: Literal["asked", "end", "between"]
    total: int
    """Number of all rows of the version."""
    rows: int
    """Number of rows reached, by paths of any kind."""
    context_only: int
    """Number of rows reached only by paths with a context edge."""
    possible_only: int = 0
    """Number of rows reached only by paths with a possible edge."""
    columns: int
    one: list[int]
    """Rows in one derivation of `TraceJson.example`: one row of each joined input. Empty in a forward trace, or if
    unknown."""
    gone: bool = False
    """In a forward trace, whether its rows are in no current version. Such a node leads to rows that are, or `versions`
    is `all`."""
    hidden: Literal["before", "after"] | None
    """Set if a step that the user may not see wrote (`before`) or read (`after`) files of these rows. The path ends
    here."""


class EdgeJson(Model):
    """Edge of a trace: rows of `source` went into `target` through a write, or by shared files if `step` is null."""

    source: int
    target: int
    step: str | None
    write: int | None
    kind: Kind
    occurrences: list[int]
    coverage: Coverage
    rows: int
    """Number of rows that the trace reached through it: of `source` if backward, of `target` if forward."""
    read: bool = False
    """Whether the step's driver read the rows. If so, `write` is the number of the read among the step's reads."""


class StopJson(Model):
    """Stop: a place where the answer ends or is less precise, with the reason."""

    what: Blur
    step: str
    dataset: DatasetJson
    why: str


class GoneJson(Model):
    """Rows made from the selected rows that are no longer in the current version of their dataset."""

    dataset: DatasetJson
    step: str | None
    """First captured step after which their files were missing; null if no captured step is known to have removed
    them."""
    rows: int


class EndingJson(Model):
    """Ending: a write that read rows of a forward trace and kept only some of them, or none."""

    step: str
    write: int
    dataset: DatasetJson
    """Output of the write."""
    node: int
    """Node whose rows it read."""
    read: int
    kept: int
    """Number of rows that a row of the output was made from."""
    context: int
    """Number of rows that were not kept but used to compute values of the output."""
    coverage: Coverage
    ended: list[int]
    """The first rows of the node that were not kept, as many as a replay accepts."""


class TraceJson(Model):
    """Trace as a graph. Node 0 contains the selected rows."""

    direction: Direction
    example: int | None = None
    """Selected row whose derivation is in `NodeJson.one`; null in a forward trace."""
    nodes: list[NodeJson]
    edges: list[EdgeJson]
    stops: list[StopJson]
    endings: list[EndingJson]
    """In a forward trace, the steps that read rows but did not keep all of them."""
    steps: list[StepJson]
    gone: list[GoneJson]
    versions: list[VersionUsedJson]
    """The version of the selected rows, then those of the other nodes."""
    broken: list[BrokenJson] = BROKEN


class ChoiceJson(Model):
    """Dataset that a query accepts as `to`, with the datasets that it accepts as `via`."""

    dataset: DatasetJson
    via: list[DatasetJson]


class RelatedJson(Model):
    """Datasets that `co_contributory`, `co_dependency` and `composition` accept for rows of a dataset."""

    co_contributory: list[ChoiceJson]
    """Datasets whose rows were combined with the rows; `via` lists the datasets that were made of both."""
    co_dependency: list[ChoiceJson]
    """Datasets whose rows share a source row with the rows; `via` lists the datasets of these source rows."""
    composition: list[DatasetJson]
    """Datasets that the rows came from."""
    next: int | None = None
    """`cursor` of the next page of all three lists."""


class CoContributoryQuery(Selection):
    """Rows of `to` that were joined with the selected rows to make the same output row."""

    to: DatasetId
    via: DatasetId | None = None
    """Consider only derivations of this dataset's rows."""
    context: bool = False


class CoDependencyQuery(Selection):
    """Rows of `to` that share a source row in `via` with the selected rows."""

    to: DatasetId
    via: DatasetId
    context: bool = False


class PageOfRows(Model):
    """Page of rows."""

    cursor: RowId = 0
    limit: Annotated[int, Field(ge=1, le=1000), WHOLE] = 50
    columns: Annotated[list[ColumnName], Field(max_length=MAX_COLUMNS)] | None = None


class CoContributoryRowsQuery(PageOfRows, CoContributoryQuery):
    """A page of those rows, with values, from one version."""

    answer_version: VersionId


class CoDependencyRowsQuery(PageOfRows, CoDependencyQuery):
    """A page of those rows, with values, from one version."""

    answer_version: VersionId


class FoundJson(Model):
    """Number of rows of a version that are in the answer."""

    dataset: DatasetJson
    version: VersionId
    total: int
    rows: int
    columns: int
    gone: bool = False
    """For `co_dependency`, whether these rows are in no current version. `version` is the one where they were found."""


class CompositionQuery(Selection):
    """Source rows of the selected rows, counted by the value of a column of a source."""

    source: DatasetId
    column: ColumnName
    limit: Annotated[int, Field(ge=1, le=1000), WHOLE] = 50


class ShareJson(Model):
    """Value of the column, and the number of distinct source rows that have it."""

    value: Any
    witnesses: int


class CompositionJson(Model):
    """The most frequent values first, with the total numbers of values and of source rows."""

    values: list[ShareJson]
    total_values: int
    total_witnesses: int
    broken: list[BrokenJson] = BROKEN


class StepPageJson(Model):
    """Page of the list of steps, newest first."""

    items: list[StepJson]
    total: int
    next: int | None
    broken: list[BrokenJson] = BROKEN


class UsageJson(DatasetJson):
    """Version that a write read or wrote."""

    version: VersionId
    rows: int


class WriteJson(Model):
    """One output of a step."""

    index: int
    output: UsageJson
    """`rows` counts all rows of the version."""
    written: int | None = None
    """Number of rows that the step wrote; null if unknown, for example for an untracked write."""
    inputs: list[UsageJson]
    coverage: Coverage
    reason: str | None
    site: str
    edges: int
    """Number of edges in its tensors."""


class StepDetailJson(StepJson):
    """Step with its writes."""

    writes: list[WriteJson]
    untracked: list[str]
    engine: dict[str, str]
    error: str | None
    """Error that the script raised; null if any values are hidden."""
    stored_bytes: int
    next: int | None = None
    """`cursor` of the next page of `writes` and `untracked`."""


class AboutJson(Model):
    """Installation, as this user sees it."""

    values: bool
    """Whether values are shown."""
    airflow: bool
    """Whether Airflow serves the page."""
    steps: int
    """Number of steps that the user may see."""
    version: str
    broken: list[BrokenJson] = BROKEN
