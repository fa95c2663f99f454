"""Facets with ProvSpark's steps and versions in OpenLineage events.

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
    """Dataset facet: the version of an input or output that a step read or wrote.

    Parameters
    ----------
    store : str
        URL of the store.
    step : str
        Id of the step.
    version : str
        Id of the version: 32 hexadecimal digits.
    rows : int
        Number of rows of the version, or of files if `unit` is ``file``.
    files : int, optional
        Number of files of the version.
    coverage : str, optional
        For an output: ``exact``, ``coarse`` or ``untracked``.
    unit : str, optional
        What `rows` counts: ``row``, or ``file`` if the rows were not counted. Default: ``row``.
    written : int, optional
        For an output: number of rows that this step wrote; `rows` counts all rows of the version. Missing if it is not
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
    """Run facet: the step of the run. The fields from the manifest are None until the step is published.

    Parameters
    ----------
    store, step : str
        URL of the store, and id of the step.
    dag_id, run_id, task_id : str
    map_index, try_number : int
        The parts of `StepKey`.
    status : str, optional
        The manifest's status, ``succeeded`` or ``failed``. It takes precedence over the event's type.
    started, ended : str, optional
        UTC, ISO 8601.
    untracked : bool, optional
        Whether the manifest has reasons that apply to the step as a whole.
    attempt : int, optional
        Number of the application's start within the try. Default: 0.
    call : str, optional
        Which ``provspark run`` of the task; missing if the task itself is the step.
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
