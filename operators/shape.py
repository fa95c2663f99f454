"""Structure of a DAG, from the task's own process: its tasks, their operators and their dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timezone
from pathlib import Path
from typing import Any

from provspark.index_store.store.tasks import dump_dag
from provspark.model.shell import commands, runs_capture
from provspark.model.steps import Task, TaskMode

__all__ = ["tasks_around", "write_shape"]

_ELSEWHERE = ("$(", "`", "|", "<", ">", "(")
"""Shell syntax by which rows may pass from one command to another, or to a file."""
_PREPARING = frozenset(
    (
        ":",
        "cd",
        "date",
        "echo",
        "exit",
        "export",
        "fi",
        "mkdir",
        "pwd",
        "set",
        "sleep",
        "test",
        "trap",
        "true",
        "umask",
        "[",
    )
)
"""Shell commands that handle no rows."""
_HARMLESS = re.compile(r"\d*>&\d|\d?>\s*/dev/null|\|\|(?=\s*exit\b)")
"""Redirections and guards through which no rows pass."""
_SETTINGS = re.compile(r"(?:.*/)?(?:activate|[^/]*env[^/]*|\.\w*rc|\.?profile)")
"""Files that a shell sources for their settings."""


def write_shape(task: Any, context: Mapping[str, Any], folder: Path) -> Path:
    """Write the tasks around the running one to a file in `folder`, and return its path."""
    run = context.get("dag_run")
    started = getattr(run, "start_date", None)
    when = "" if started is None else started.astimezone(timezone.utc).isoformat(timespec="microseconds")
    path = folder / "dag.json"
    path.write_bytes(dump_dag(tasks_around(task), when))
    return path


def tasks_around(task: Any) -> list[Task]:
    """Return a task, its upstream and downstream tasks, sorted by name.

    The task's process has parsed the DAG, so this does not query Airflow's database.
    """
    dag = task.dag
    near = {task.task_id, *task.get_flat_relative_ids(upstream=True), *task.get_flat_relative_ids(upstream=False)}
    return [_task(each, near) for name, each in sorted(dag.task_dict.items()) if name in near]


def _task(task: Any, near: Iterable[str]) -> Task:
    given = getattr(task, "operator_class", None)
    kind: type = given if isinstance(given, type) else type(task)
    group = getattr(task, "task_group", None)
    return Task(
        task_id=task.task_id,
        operator=kind.__name__,
        upstream=tuple(sorted(set(task.upstream_task_ids) & set(near))),
        bases=tuple(dict.fromkeys(c.__name__ for c in kind.__mro__[1:] if c is not object)),
        mode=_mode(task),
        mapped=kind is not type(task),
        group=str(getattr(group, "group_id", None) or ""),
        inlets=_uris(getattr(task, "inlets", ())),
        outlets=_uris(getattr(task, "outlets", ())),
    )


def _given(task: Any, name: str) -> Any:
    """Return an argument of a task; for a mapped task, the one given to `partial`."""
    return getattr(task, name, None) or getattr(task, "partial_kwargs", {}).get(name)


def _expanded(task: Any, name: str) -> list[Any]:
    """Return the values of an argument over which a task is mapped, if they are literals in the DAG's file."""
    values = getattr(getattr(task, "expand_input", None), "value", ())
    if isinstance(values, Mapping):
        argument = values.get(name, ())
        return list(argument) if isinstance(argument, (list, tuple)) else []
    return [each[name] for each in values if name in each] if isinstance(values, (list, tuple)) else []


def _mode(task: Any) -> TaskMode:
    if _given(task, "prov_mode") == "off" or "off" in _expanded(task, "prov_mode"):
        return "off"
    command = _given(task, "bash_command")
    return "run" if isinstance(command, str) and runs_capture_alone(command) else ""


def _uris(assets: Any) -> tuple[str, ...]:
    uris = (getattr(asset, "uri", None) or (asset if isinstance(asset, str) else "") for asset in assets or ())
    return tuple(dict.fromkeys(str(uri) for uri in uris if uri))


def runs_capture_alone(command: str) -> bool:
    """Whether a shell command runs ``provspark run`` and nothing else that may handle rows.

    >>> runs_capture_alone("cd /jobs && provspark run --store s clean.py {{ ds }}")
    True
    >>> runs_capture_alone("provspark run clean.py; python load.py")
    False
    """
    command = _HARMLESS.sub(" ", command)
    if any(mark in command for mark in _ELSEWHERE):
        return False
    calls = commands(command) or []
    return any(map(runs_capture, calls)) and all(runs_capture(call) or _prepares(call) for call in calls)


def _prepares(call: Sequence[str]) -> bool:
    """Whether a command handles no rows."""
    if call[0] in (".", "source"):
        return len(call) == 2 and _SETTINGS.fullmatch(call[1]) is not None
    return call[0] in _PREPARING
