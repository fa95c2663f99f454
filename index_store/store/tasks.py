"""Tasks of a DAG: which of them are captured, which pass no rows on, and how a file stores them."""

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
"""Operators that wait, decide, ask or notify, and so pass no rows on; so do classes derived from them."""


@dataclass(frozen=True, slots=True)
class _TaskShape:
    tasks: tuple[Task, ...]
    run_started: str = ""
    format_version: int = FORMAT_VERSION


def dump_dag(tasks: Iterable[Task], run_started: str) -> bytes:
    """Serialize tasks in the form of a manifest."""
    return manifests.seal(FORMAT_VERSION, _TaskShape(tuple(tasks), run_started))


def load_dag(data: bytes, where: str) -> tuple[tuple[Task, ...], str]:
    """Parse the tasks and the start of their run; the same errors as for a manifest."""
    format_version, body = manifests.unseal(data, where)
    shape = manifests.from_json(_TaskShape, {"format_version": format_version} | body, where)
    return shape.tasks, shape.run_started


def joined(tasks: Iterable[Task]) -> dict[str, Task]:
    """Return the tasks of one run by id, merged from several of its steps: each knows the tasks around its own."""
    known: dict[str, Task] = {}
    for task in tasks:
        before = known.get(task.task_id, task)
        upstream = before.upstream
        if upstream != task.upstream:
            upstream = tuple(sorted({*upstream, *task.upstream}))
        known[task.task_id] = replace(task, upstream=upstream)
    return known


def shaped(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return the steps; each `provspark run` within a task gets the DAG that other steps of its run know.

    Airflow does not pass the DAG to the process of such a step.
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
    """Return the datasets of inlets or outlets; skip URIs that do not name one."""
    parsed = []
    for uri in uris:
        try:
            parsed.append(Dataset.parse(uri))
        except (TypeError, ValueError):  # ArgumentError is a TypeError
            continue
    return parsed


def is_captured(task: Task) -> bool:
    """Return whether the lineage of a task is captured while it runs."""
    return task.mode == "run" or (task.mode != "off" and _CAPTURED in (task.operator, *task.bases))


def is_passive(task: Task) -> bool:
    """Return whether a task waits, decides, asks or notifies, and so passes no rows on."""
    return not PASSIVE.isdisjoint((task.operator, *task.bases))


def below(tasks: Mapping[str, Task], task_id: str) -> dict[str, Task]:
    """Return the tasks that depend on a task, directly or through others, by id.

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
