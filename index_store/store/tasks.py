"""The tasks of a DAG: which of them capture follows, which take no rows on, and how a file holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from provspark.index_store.store import manifest as manifests
from provspark.model.datasets import Dataset
from provspark.model.steps import FORMAT_VERSION, Manifest, Task

__all__ = ["PASSIVE", "below", "datasets", "dump_dag", "is_captured", "is_passive", "joined", "load_dag", "shaped"]

_CAPTURED = "ProvSparkOperator"
PASSIVE = frozenset(
    (
        *("BaseNotifier", "BaseSensorOperator", "BranchMixIn", "EmailOperator", "EmptyOperator", "ProvQueryOperator"),
        *("BaseBranchOperator", "BranchPythonOperator", "ExternalTaskMarker", "LatestOnlyOperator"),
        *("ShortCircuitOperator", "ShortCircuitDecoratedOperator", "PythonSensor", "HITLOperator", "BranchSQLOperator"),
        *("SQLCheckOperator", "SQLValueCheckOperator", "SQLIntervalCheckOperator", "SQLThresholdCheckOperator"),
        *("SQLColumnCheckOperator", "SQLTableCheckOperator"),
        *("DiscordWebhookOperator", "MSTeamsWebhookOperator", "OpsgenieCreateAlertOperator", "PagerdutyEventsOperator"),
        *("SlackAPIOperator", "SlackWebhookOperator", "SnsPublishOperator", "TelegramOperator", "SmtpOperator"),
        *("PagerTreeOperator", "ChimeWebhookOperator", "AppriseNotifier", "SlackNotifier", "DingdingOperator"),
    )
)
"""Operators, with all that is derived from them, that wait, decide, ask or notify, and so take no rows on."""


@dataclass(frozen=True, slots=True)
class _TaskShape:
    tasks: tuple[Task, ...]
    run_started: str = ""
    format_version: int = FORMAT_VERSION


def dump_dag(tasks: Iterable[Task], run_started: str) -> bytes:
    """Write tasks as a manifest is written."""
    return manifests.seal(FORMAT_VERSION, _TaskShape(tuple(tasks), run_started))


def load_dag(data: bytes, where: str) -> tuple[tuple[Task, ...], str]:
    """Read what `dump_dag` wrote: the tasks, and when the run began; the same errors as of a manifest."""
    format_version, body = manifests.unseal(data, where)
    shape = manifests.from_json(_TaskShape, {"format_version": format_version} | body, where)
    return shape.tasks, shape.run_started


def joined(tasks: Iterable[Task]) -> dict[str, Task]:
    """Return the tasks of one run by id, as several of its steps know them: each knows those around itself."""
    known: dict[str, Task] = {}
    for task in tasks:
        before = known.get(task.task_id, task)
        upstream = before.upstream
        if upstream != task.upstream:
            upstream = tuple(sorted({*upstream, *task.upstream}))
        known[task.task_id] = replace(task, upstream=upstream)
    return known


def shaped(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return steps such that each `provspark run` within a task has the DAG that other steps of its run know.

    It runs in a process that Airflow has not told of the DAG.
    """
    if not any(_lacks_shape(m) for m in manifests):
        return list(manifests)
    runs: dict[tuple[str, str], list[Manifest]] = {}
    for m in manifests:
        if m.dag:
            runs.setdefault((m.key.dag_id, m.key.run_id), []).append(m)
    shapes = {
        run: (
            tuple(joined(t for m in some for t in m.dag).values()),
            min((m.run_started for m in some if m.run_started), default=""),
        )
        for run, some in runs.items()
    }
    made = []
    for m in manifests:
        dag, started = shapes.get((m.key.dag_id, m.key.run_id), ((), "")) if _lacks_shape(m) else (m.dag, m.run_started)
        made.append(m if dag is m.dag else replace(m, dag=dag, run_started=started))
    return made


def _lacks_shape(manifest: Manifest) -> bool:
    return bool(manifest.key.call) and not manifest.dag


def datasets(uris: Iterable[str]) -> list[Dataset]:
    """Return the data sets of inlets or outlets; a text that names none is left out."""
    parsed = []
    for uri in uris:
        try:
            parsed.append(Dataset.parse(uri))
        except (TypeError, ValueError):  # of which ArgumentError is one
            continue
    return parsed


def is_captured(task: Task) -> bool:
    """Whether lineage of a task is captured where it runs."""
    return task.mode == "run" or (task.mode != "off" and _CAPTURED in (task.operator, *task.bases))


def is_passive(task: Task) -> bool:
    """Whether a task waits, decides, asks or notifies, and so takes no rows on."""
    return not PASSIVE.isdisjoint((task.operator, *task.bases))


def below(tasks: Mapping[str, Task], task_id: str) -> dict[str, Task]:
    """Return the tasks that depend on one, by id; directly or through others.

    >>> tasks = {t.task_id: t for t in (Task("a", "A"), Task("b", "B", ("a",)), Task("c", "C", ("b",)))}
    >>> list(below(tasks, "a"))
    ['b', 'c']
    """
    after: dict[str, list[str]] = {}
    for task in tasks.values():
        for above in task.upstream:
            after.setdefault(above, []).append(task.task_id)
    names: set[str] = set()
    waiting = [task_id]
    while waiting:
        new = set(after.get(waiting.pop(), ())) - names
        names |= new
        waiting += new
    return {name: tasks[name] for name in sorted(names - {task_id})}
