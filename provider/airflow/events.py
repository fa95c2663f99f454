"""OpenLineage events of steps: created from manifests, or read from files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID, uuid5

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.generated.base import DatasetFacet, RunFacet
from openlineage.client.generated.output_statistics_output_dataset import OutputStatisticsOutputDatasetFacet
from openlineage.client.generated.schema_dataset import SchemaDatasetFacet, SchemaDatasetFacetFields

from provspark.airflow.column_facet import column_lineage
from provspark.airflow.facet import KEY, PRODUCER, ProvSparkDatasetFacet, ProvSparkRunFacet
from provspark.index_store.catalogue.urls import store_url
from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.store.store import Store
from provspark.model.datasets import Version
from provspark.model.driver_datasets import sources
from provspark.model.errors import EventError
from provspark.model.steps import Manifest, StepKey
from provspark.model.writes import Write
from provspark.model.written_rows import written_files, written_rows

__all__ = [
    "StepFacets",
    "events_from_manifest",
    "events_from_store",
    "facets_for",
    "read_events",
    "start_facets",
]

_RUNS = UUID("6e4c1a5e-6b0f-5b8e-9d55-2f1e7f3f6a10")


@dataclass(frozen=True, slots=True)
class StepFacets:
    """Datasets and run facets of a step's events. The fields have the names of Airflow's ``OperatorLineage``."""

    inputs: list[InputDataset]
    outputs: list[OutputDataset]
    run_facets: dict[str, RunFacet]


def start_facets(store: str, key: StepKey) -> dict[str, RunFacet]:
    """Return the run facets of a step without a manifest: for START, or for FAIL before anything was published."""
    return {KEY: ProvSparkRunFacet(**_identity(store, key))}


def facets_for(store: str, manifest: Manifest, opened: Store | None = None) -> StepFacets:
    """Return the datasets of a published step, with their facets, and its run facets.

    A version that several writes or the driver read is one input. Each version of a dataset is an entry of its own.
    Datasets on the driver are left out.

    Parameters
    ----------
    store : str
        URL of the store that contains the step.
    manifest : Manifest
    opened : Store, optional
        The same store, opened. Outputs then also have OpenLineage's column lineage, and the number of rows and files
        that the step wrote.
    """
    inputs = {(v.dataset, v.id, v.rows, v.unit): v for v in sources(manifest)}
    run = ProvSparkRunFacet(
        status=manifest.status,
        started=manifest.started,
        ended=manifest.ended,
        untracked=bool(manifest.untracked),
        **_identity(store, manifest.key),
    )
    return StepFacets(
        [
            InputDataset(v.dataset.namespace, v.dataset.name, facets=_facets(store, manifest, v))
            for _, v in sorted(inputs.items(), key=lambda entry: entry[0])
        ],
        [
            OutputDataset(
                w.output.dataset.namespace,
                w.output.dataset.name,
                facets=_facets(store, manifest, w.output, w.coverage, rows) | _columns(opened, manifest, w),
                outputFacets={"outputStatistics": _statistics(rows, files)},
            )
            for w, rows, files in _written(opened, manifest)
        ],
        {KEY: run},
    )


def events_from_manifest(
    store: str, manifest: Manifest, *, namespace: str = "provspark", opened: Store | None = None
) -> list[RunEvent]:
    """Return the START event of a published step, and its COMPLETE or FAIL event.

    Parameters
    ----------
    store : str
        URL of the store that contains the step.
    manifest : Manifest
    namespace : str
        Namespace of the job. The job's name is ``dag_id.task_id``, or the task alone outside a DAG.
    opened : Store, optional
        See `facets_for`.

    Returns
    -------
    list of RunEvent
        The same on every call: the run's id is a hash of the step's id, and the times are the manifest's.
    """
    key = manifest.key
    run_id = str(uuid5(_RUNS, key.id))
    facets = facets_for(store, manifest, opened)
    job = Job(namespace, ".".join(part for part in (key.dag_id, key.task_id) if part))
    end = RunState.COMPLETE if manifest.status == "succeeded" else RunState.FAIL
    return [
        RunEvent(
            eventType=RunState.START,
            eventTime=manifest.started,
            run=Run(run_id, start_facets(store, key)),
            job=job,
            producer=PRODUCER,
        ),
        RunEvent(
            eventType=end,
            eventTime=manifest.ended,
            run=Run(run_id, facets.run_facets),
            job=job,
            inputs=facets.inputs,
            outputs=facets.outputs,
            producer=PRODUCER,
        ),
    ]


def events_from_store(store: str, *, namespace: str = "provspark") -> Iterator[RunEvent]:
    """Yield the events of every step of a store; see `events_from_manifest`."""
    opened = Store.open(store)
    for manifest in opened.manifests():
        yield from events_from_manifest(opened.url, manifest, namespace=namespace, opened=opened)


def read_events(path: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the events that OpenLineage's file transport wrote.

    Parameters
    ----------
    path : str or Path
        The transport's ``log_file_path``: the file that it appends to or, without ``append``, the common beginning of
        its files' names (``PATH-20260102-030405.678901.json``). It may also be a folder of such files.

    Raises
    ------
    FileNotFoundError
        No file has this path or begins with it.
    EventError
        A line is not valid JSON; the message has the file and line. Events before it are yielded.
    """
    for file in _event_files(_local(path)):
        yield from _events_in(file)


def _url(store: str) -> str:
    """Return the store's absolute URL, as events are read on other machines."""
    return store_url(store if ":" in store else str(Path(store).absolute()))


def _identity(store: str, key: StepKey) -> dict[str, Any]:
    return {
        "store": _url(store),
        "step": key.id,
        "dag_id": key.dag_id,
        "run_id": key.run_id,
        "task_id": key.task_id,
        "map_index": key.map_index,
        "try_number": key.try_number,
        "attempt": key.attempt,
        "call": key.call or None,
    }


def _facets(
    store: str, manifest: Manifest, version: Version, coverage: str | None = None, written: int | None = None
) -> dict[str, DatasetFacet]:
    ours = ProvSparkDatasetFacet(
        store=_url(store),
        step=manifest.step,
        version=version.id,
        rows=version.rows,
        files=version.n_files,
        coverage=coverage,
        unit=version.unit,
        written=written,
    )
    if not version.fields:
        return {KEY: ours}
    fields = [SchemaDatasetFacetFields(f.name, f.type) for f in version.fields]
    return {KEY: ours, "schema": SchemaDatasetFacet(fields, producer=PRODUCER)}


def _columns(opened: Store | None, manifest: Manifest, write: Write) -> dict[str, DatasetFacet]:
    facet = None if opened is None else column_lineage(WriteNode(opened, manifest, write))
    return {} if facet is None else {"columnLineage": facet}


def _written(opened: Store | None, manifest: Manifest) -> Iterator[tuple[Write, int | None, int | None]]:
    """Yield each write with the numbers of rows and files that it wrote; both are None without the store."""
    for write in manifest.writes:
        if opened is None:
            yield write, None, None
        else:
            at = opened, manifest.step, write
            yield write, written_rows(*at), written_files(*at)


def _statistics(rows: int | None, files: int | None) -> OutputStatisticsOutputDatasetFacet:
    return OutputStatisticsOutputDatasetFacet(rows, fileCount=files, producer=PRODUCER)


def _local(path: str | Path) -> Path:
    text = str(path)
    return Path(unquote(urlsplit(text).path)) if text.startswith("file:") else Path(text)


def _event_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        return sorted(f for f in path.iterdir() if f.is_file() and not f.name.startswith("."))
    paths = sorted(path.parent.glob(f"{escape(path.name)}-*.json"))
    if not paths:
        raise FileNotFoundError(
            f"no events at {path}: there is no such file or folder, nor files named {path.name}-*.json; "
            f"pass the log_file_path of OpenLineage's file transport"
        )
    return paths


def _events_in(file: Path) -> Iterator[dict[str, Any]]:
    """Yield one event per line or, as in the transport's debug mode, from a line ``{`` to a line ``}``."""
    pending: list[bytes] = []
    first = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            first = first if pending else number
            pending.append(line)
            if pending[0].rstrip() == b"{" and line.rstrip() != b"}":
                continue
            yield from _parse(file, first, b"".join(pending))
            pending = []
    yield from _parse(file, first, b"".join(pending))


def _parse(file: Path, line: int, text: bytes) -> Iterator[dict[str, Any]]:
    if not text.strip():
        return
    try:
        event = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise EventError(
            f"{file}, line {line}: this is not valid JSON ({e}); restore the file, or remove the truncated event"
        ) from e
    if not isinstance(event, dict):
        raise EventError(
            f"{file}, line {line}: an event must be a JSON object, not {type(event).__name__}; remove the line"
        )
    yield event
