"""The facets that carry ProvSpark's steps and versions in OpenLineage events.

Their schemas are in docs/openlineage.
"""

from __future__ import annotations

from typing import ClassVar

import attr
from openlineage.client.generated.base import DatasetFacet, RunFacet

from provspark.model.release import __version__

__all__ = ["KEY", "PRODUCER", "ProvSparkDatasetFacet", "ProvSparkRunFacet"]

KEY = "provspark"
PRODUCER = f"pkg:pypi/airflow-provider-provspark@{__version__}"
_SCHEMA = "urn:provspark:openlineage:1-3-0"


@attr.define
class ProvSparkDatasetFacet(DatasetFacet):  # type: ignore[misc]
    """The version of an input or output that a step read or wrote.

    Parameters
    ----------
    store : str
        The store's URL.
    step : str
        The step's id in it.
    version : str
        The version's id: 32 hexadecimal digits.
    rows : int
        Rows of the version, as this step read or wrote it; its files where `unit` says so.
    files : int, optional
        Number of its files.
    coverage : str, optional
        Of an output: ``exact``, ``coarse`` or ``untracked``.
    unit : str, optional
        What `rows` counts: ``row``, or ``file`` where nobody has counted the rows. ``row`` where it is missing.
    written : int, optional
        Of an output: number of rows that this step wrote; `rows` counts all rows of the version. Missing if it is not
        known.
    """

    store: str
    step: str
    version: str
    rows: int
    files: int | None = None
    coverage: str | None = None
    unit: str | None = None
    written: int | None = None
    _producer: str = attr.field(default=PRODUCER, kw_only=True)

    _additional_skip_redact: ClassVar[list[str]] = [
        *("store", "step", "version", "rows"),
        *("files", "coverage", "unit", "written"),
    ]

    @staticmethod
    def _get_schema() -> str:
        return f"{_SCHEMA}:ProvSparkDatasetFacet.json#/$defs/ProvSparkDatasetFacet"


@attr.define
class ProvSparkRunFacet(RunFacet):  # type: ignore[misc]
    """The step that a run is; what its manifest says is None until there is one.

    Parameters
    ----------
    store, step : str
    dag_id, run_id, task_id : str
    map_index, try_number : int
        The parts of `StepKey`.
    status : str, optional
        ``succeeded`` or ``failed``, the manifest's word; it counts more than the event's type.
    started, ended : str, optional
        UTC, ISO 8601.
    untracked : bool, optional
        The manifest has reasons that stand for the step as a whole.
    attempt : int, optional
        Which start of the application within the try; 0 where it is missing.
    call : str, optional
        Which ``provspark run`` of the task; missing where the task itself is the step.
    """

    store: str
    step: str
    dag_id: str
    run_id: str
    task_id: str
    map_index: int
    try_number: int
    status: str | None = None
    started: str | None = None
    ended: str | None = None
    untracked: bool | None = None
    attempt: int | None = None
    call: str | None = None
    _producer: str = attr.field(default=PRODUCER, kw_only=True)

    _additional_skip_redact: ClassVar[list[str]] = [
        *("store", "step", "dag_id", "run_id", "task_id", "map_index", "try_number"),
        *("status", "started", "ended", "untracked", "attempt", "call"),
    ]

    @staticmethod
    def _get_schema() -> str:
        return f"{_SCHEMA}:ProvSparkRunFacet.json#/$defs/ProvSparkRunFacet"
