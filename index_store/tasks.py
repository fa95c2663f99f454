"""The tasks of a DAG: which of them capture follows, which take no rows on, and how a file holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from provspark.index_store import manifest as manifests
from provspark.index_store.model import FORMAT_VERSION, Task

__all__ = ["PASSIVE", "below", "dump_dag", "is_captured", "is_passive", "load_dag"]

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
class _Shape:
    tasks: tuple[Task, ...]
    run_started: str = ""
    format_version: int = FORMAT_VERSION


def dump_dag(tasks: Iterable[Task], run_started: str) -> bytes:
    """Write tasks as a manifest is written."""
    return manifests.seal(FORMAT_VERSION, _Shape(tuple(tasks), run_started))


def load_dag(data: bytes, where: str) -> tuple[tuple[Task, ...], str]:
    """Read what `dump_dag` wrote: the tasks, and when the run began; the same errors as of a manifest."""
    found, body = manifests.unseal(data, where)
    shape = manifests.from_json(_Shape, {"format_version": found} | body, where)
    return shape.tasks, shape.run_started


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
    found: set[str] = set()
    waiting = [task_id]
    while waiting:
        new = set(after.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return {name: tasks[name] for name in sorted(found - {task_id})}
