"""Steps: their keys, the tasks around them, and manifests.

Classes here are frozen; do not write to the arrays in them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from provspark.model.writes import StoredFile, Untracked, Write

OnError = Literal["warn", "fail"]
Setting = Literal["", "on", "off"]
TaskMode = Literal["", "off", "run"]
StepStatus = Literal["succeeded", "failed"]
FORMAT_VERSION = 3
TENSOR_FORMAT = 2
"""Tensor files did not change with version 3 of the manifests."""


@dataclass(frozen=True, slots=True)
class StepKey:
    """Identity of a step: one try of one Airflow task instance, or one `provspark run`.

    A run within a task has the task's parts and its own call; outside of Airflow only task and run are set.
    """

    task_id: str
    run_id: str
    dag_id: str = ""
    map_index: int = -1
    try_number: int = 1
    attempt: int = 0
    """Which start of the application within the try, if a cluster runs a failed one again; 0 for the first one."""
    call: str = ""
    """Which `provspark run` of the task, which may start several; empty if the task itself is the step."""

    @property
    def id(self) -> str:
        """Name that is safe in file names and stable for a key: readable words and a hash."""
        text = "\0".join([self.dag_id, self.run_id, self.task_id, str(self.map_index), str(self.try_number)])
        text += f"\0{self.attempt}" * bool(self.attempt or self.call) + f"\0{self.call}" * bool(self.call)
        words = "-".join(p for p in (self.dag_id, self.task_id, self.call) if p)
        safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in words)[:80].lstrip(".")
        return f"{safe or 'step'}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a DAG.

    Parameters
    ----------
    task_id, operator : str
        ID of the task, and class of the operator.
    upstream : tuple of str
        Tasks directly upstream of this one.
    bases : tuple of str
        Classes that the operator's class is derived from.
    mode : {"", "off", "run"}
        ``off`` for ProvSpark's own task with ``prov_mode="off"``; ``run`` if its command only runs ``provspark run``.
    mapped : bool
    group : str
        Task group.
    inlets, outlets : tuple of str
        URIs of the assets that it declares.
    """

    task_id: str
    operator: str
    upstream: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    mode: TaskMode = ""
    mapped: bool = False
    group: str = ""
    inlets: tuple[str, ...] = ()
    outlets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that is known of a published step."""

    step: str
    key: StepKey
    status: StepStatus
    started: str
    """UTC, ISO 8601 with microseconds."""
    ended: str
    writes: tuple[Write, ...]
    files: tuple[StoredFile, ...]
    untracked: tuple[Untracked, ...] = ()
    """Reasons that apply to the step as a whole (a write that bypassed capture, a failed seal)."""
    engine: tuple[tuple[str, str], ...] = ()
    """Versions of spark, java, python, provspark; the application ID."""
    error: str = ""
    """Type and message of the exception that the user's script raised; empty if it raised none."""
    reads: tuple[Write, ...] = ()
    """Reads on the driver, in order; the output of each is a version of ``memory://driver/SCRIPT:LINE``."""
    driver_reads: Setting = ""
    """Whether reads on the driver were captured; empty in steps older than format 3, and if no script ran."""
    dag: tuple[Task, ...] = ()
    """Its own task, and those that it depends on or that depend on it; empty if the DAG is not known."""
    run_started: str = ""
    """When the run of the DAG began, as `started`; empty if that is not known."""
    format_version: int = FORMAT_VERSION
