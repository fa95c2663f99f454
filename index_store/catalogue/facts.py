"""Parser of OpenLineage events: returns what the catalogue stores of an event."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from provspark.index_store.catalogue.records import StepRef, VersionRole
from provspark.index_store.catalogue.state import StepState
from provspark.index_store.catalogue.urls import store_url
from provspark.model.datasets import Dataset, Unit
from provspark.model.declarations import Declaration, named_dataset
from provspark.model.errors import EventError
from provspark.model.steps import StepKey
from provspark.model.times import utc

FACET = "provspark"
_STEP = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
_VERSION = re.compile(r"[0-9a-f]{32}")
_EVENT_TYPES = ("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER")
_COVERAGES = ("", "exact", "coarse", "untracked")
_UNITS = get_args(Unit)
_NAME_BYTES = 2000  # PostgreSQL's indexes take keys up to 2,704 bytes
_MAX = 2**63 - 1
_MOST_NAMED = 200
"""Maximum number of inputs, and of outputs, in an event without ProvSpark's facet; larger events are ignored."""


@dataclass(frozen=True, slots=True, order=True)
class VersionUse:
    """A version that a step read or wrote, as the facet describes it; `files` is -1 if it does not say."""

    dataset: Dataset
    version: str
    role: VersionRole
    rows: int
    files: int
    coverage: str
    unit: Unit = "row"


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that the catalogue stores of one event."""

    ref: StepRef
    state: StepState
    uses: tuple[VersionUse, ...]


def facts_of(event: Any) -> Facts | Declaration | None:
    """Parse an event: a dictionary, JSON text, or an object of openlineage-python.

    Returns
    -------
    Facts, Declaration or None
        A declaration if the event has no ProvSpark facet, but names an input and an output; None if it names none, or
        contains nothing else of use.

    Raises
    ------
    EventError
        Not an OpenLineage event, or a ProvSpark facet that does not follow its schema.
    """
    body = _body(event)
    run = body.get("run")
    if not isinstance(run, Mapping):
        if "run" not in body and any(isinstance(body.get(name), Mapping) for name in ("dataset", "job")):
            return None
        raise EventError("This is not an OpenLineage event: it has neither a run, a job nor a dataset.")
    run_facet = _facet(run, "run")
    uses: list[tuple[VersionUse, StepRef]] = []
    for role, field in (("input", "inputs"), ("output", "outputs")):
        uses += _uses(body, role, field)  # type: ignore[arg-type]
    if run_facet is None and not uses:
        return _declaration(body, run)
    refs = {ref for _, ref in uses}
    if run_facet is not None:
        refs.add(_ref(run_facet, "run.facets.provspark"))
    if len(refs) > 1:
        named = ", ".join(sorted(f"{r.step} in {r.store}" for r in refs))
        raise EventError(f"The facets of one event name several steps ({named}). Send an event for each step.")
    ref = refs.pop()
    return Facts(ref, _state(body, run_facet, ref), tuple(sorted({use for use, _ in uses})))


def _declaration(body: Mapping[str, Any], run: Mapping[str, Any]) -> Declaration | None:
    """Read what the job of a run without ProvSpark's facets declares; skip parts that are not usable."""
    job = body.get("job")
    inputs, outputs = _named(body.get("inputs")), _named(body.get("outputs"))
    if not isinstance(job, Mapping) or not inputs or not outputs:
        return None
    try:
        parts = _name(job, "namespace", "job"), _name(job, "name", "job"), _name(run, "runId", "run")
        when = _time(body, "eventTime", "the event")
    except EventError:
        return None
    if sum(len(part.encode()) for part in parts) > _NAME_BYTES:
        return None
    return Declaration(*parts, when, when, inputs, outputs, *_task(run, parts[1]))


def _named(entries: Any) -> tuple[Dataset, ...]:
    """Return datasets, sorted; none if there are more than the maximum."""
    datasets = set()
    for entry in entries or ():
        try:
            namespace, name = _name(entry, "namespace", ""), _name(entry, "name", "")
        except EventError:
            continue
        dataset = named_dataset(namespace, name)
        if dataset is not None and len(dataset.uri.encode()) <= _NAME_BYTES:
            datasets.add(dataset)
    return tuple(sorted(datasets)) if len(datasets) <= _MOST_NAMED else ()


def _task(run: Mapping[str, Any], job: str) -> tuple[str, str, str]:
    """Return DAG, task and run if a job is an Airflow task, by Airflow's own facet and the job's name."""
    facets = run.get("facets")
    airflow = facets.get("airflow") if isinstance(facets, Mapping) else None
    try:
        dag, task, dag_run = (
            _name(airflow[owner], field, "")  # type: ignore[index]
            for owner, field in (("dag", "dag_id"), ("task", "task_id"), ("dagRun", "run_id"))
        )
    except (EventError, TypeError, KeyError, AttributeError):
        return "", "", ""
    return (dag, task, dag_run) if job == f"{dag}.{task}" else ("", "", "")


def _body(event: Any) -> Mapping[str, Any]:
    if isinstance(event, (str, bytes, bytearray)):
        try:
            event = json.loads(event)
        except (ValueError, RecursionError) as e:
            raise EventError(f"The event is not JSON: {e}") from e
    elif hasattr(event, "__attrs_attrs__"):
        from openlineage.client.serde import Serde

        event = Serde.to_dict(event)
    if not isinstance(event, Mapping):
        raise EventError(f"An OpenLineage event must be a JSON object, not {type(event).__name__}")
    return event


def _facet(owner: Mapping[str, Any], where: str) -> Mapping[str, Any] | None:
    facets = owner.get("facets")
    if facets is None:
        return None
    if not isinstance(facets, Mapping):
        raise EventError(f"{where}.facets must be an object, not {type(facets).__name__}")
    facet = facets.get(FACET)
    if facet is None:
        return None
    if not isinstance(facet, Mapping):
        raise EventError(f"{where}.facets.{FACET} must be an object, not {type(facet).__name__}")
    return None if facet.get("_deleted") is True else facet


def _uses(body: Mapping[str, Any], role: VersionRole, field: str) -> list[tuple[VersionUse, StepRef]]:
    entries = body.get(field) or []
    if not isinstance(entries, list):
        raise EventError(f"{field} must be a list, not {type(entries).__name__}")
    used = []
    for i, entry in enumerate(entries):
        where = f"{field}[{i}]"
        if not isinstance(entry, Mapping):
            raise EventError(f"{where} must be an object, not {type(entry).__name__}")
        facet = _facet(entry, where)
        if facet is None:
            continue
        dataset = Dataset(_name(entry, "namespace", where), _name(entry, "name", where))
        where = f"{where}.facets.{FACET}"
        version = _text(facet, "version", where)
        if not _VERSION.fullmatch(version):
            raise EventError(f"{where}.version is {version!r}; it must be 32 hexadecimal digits")
        coverage = _text(facet, "coverage", where) if facet.get("coverage") is not None else ""
        if coverage not in _COVERAGES:
            known = ", ".join(_COVERAGES[1:])
            raise EventError(f"{where}.coverage is {coverage!r}; it must be one of {known}")
        files = _integer(facet, "files", where, 0) if facet.get("files") is not None else -1
        unit = _text(facet, "unit", where) if facet.get("unit") is not None else "row"
        if unit not in _UNITS:
            raise EventError(f"{where}.unit is {unit!r}; it must be one of {', '.join(_UNITS)}")
        use = VersionUse(dataset, version, role, _integer(facet, "rows", where, 0), files, coverage, cast(Unit, unit))
        used.append((use, _ref(facet, where)))
    return used


def _ref(facet: Mapping[str, Any], where: str) -> StepRef:
    step = _text(facet, "step", where)
    if not _STEP.fullmatch(step):
        raise EventError(f"{where}.step is {step!r}; it must contain only letters, digits, '-', '_' and '.'")
    store = _name(facet, "store", where)
    try:
        return StepRef(store_url(store), step)
    except ValueError as e:
        raise EventError(f"{where}.store: {e}") from e


def _state(body: Mapping[str, Any], facet: Mapping[str, Any] | None, ref: StepRef) -> StepState:
    kind = body.get("eventType") or "OTHER"
    if kind not in _EVENT_TYPES:
        raise EventError(f"eventType is {kind!r}; it must be one of {', '.join(_EVENT_TYPES)}")
    when = _time(body, "eventTime", "the event")
    key = None if facet is None else _key(facet, ref)
    if facet is not None and facet.get("status") is not None:
        where = f"run.facets.{FACET}"
        status = _text(facet, "status", where)
        if status not in ("succeeded", "failed"):
            raise EventError(f"{where}.status is {status!r}; it must be succeeded or failed")
        untracked = facet.get("untracked", False)
        if not isinstance(untracked, bool):
            raise EventError(f"{where}.untracked must be true or false, not {untracked!r}")
        started, ended = _time(facet, "started", where), _time(facet, "ended", where)
        return StepState(key, status, True, started, ended, untracked)  # type: ignore[arg-type]
    if kind == "COMPLETE":
        return StepState(key, "succeeded", False, "", when)
    if kind in ("FAIL", "ABORT"):
        return StepState(key, "failed", False, "", when)
    return StepState(key, "running", False, when if kind == "START" else "", "")


def _key(facet: Mapping[str, Any], ref: StepRef) -> StepKey:
    where = f"run.facets.{FACET}"
    key = StepKey(
        task_id=_text(facet, "task_id", where),
        run_id=_text(facet, "run_id", where),
        dag_id=_text(facet, "dag_id", where),
        map_index=_integer(facet, "map_index", where, -1),
        try_number=_integer(facet, "try_number", where, 0),
        attempt=_integer(facet, "attempt", where, 0) if facet.get("attempt") is not None else 0,
        call=_text(facet, "call", where) if facet.get("call") is not None else "",
    )
    if key.id != ref.step:
        parts = "dag, run, task, try, attempt and call"
        raise EventError(
            f"{where} names the step {ref.step}, but its {parts} belong to {key.id}; they must be those of one step"
        )
    return key


def _text(owner: Mapping[str, Any], field: str, where: str) -> str:
    value = owner.get(field)
    if not isinstance(value, str):
        raise EventError(f"{where}.{field} must be text, not {value!r}")
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise EventError(f"{where}.{field} contains characters that databases can't store: {value!r}. Remove them.")
    return value


def _name(owner: Mapping[str, Any], field: str, where: str) -> str:
    value = _text(owner, field, where)
    if not value:
        raise EventError(f"{where}.{field} is empty; it must be a name")
    if len(value.encode()) > _NAME_BYTES:
        raise EventError(f"{where}.{field} has {len(value.encode())} bytes; the maximum is {_NAME_BYTES}")
    return value


def _integer(owner: Mapping[str, Any], field: str, where: str, least: int) -> int:
    value = owner.get(field)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MAX:
        raise EventError(f"{where}.{field} must be a whole number of at least {least}, not {value!r}")
    return value


def _time(owner: Mapping[str, Any], field: str, where: str) -> str:
    try:
        return utc(_text(owner, field, where))
    except ValueError as e:
        if isinstance(e, EventError):
            raise
        raise EventError(f"{where}.{field}: {e}") from e
