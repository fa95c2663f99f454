"""Audit of all writes that Spark made, from its listeners. Writes that capture does not claim mark the step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from provspark.tracker.spark.jvm import Jvm

_PATIENCE_MS = 30_000


@dataclass(frozen=True, slots=True)
class Seen:
    """A write that Spark finished.

    Parameters
    ----------
    kind : str
        Class name of the command.
    path : str
        Output folder, for Spark's own file writes. "" for other commands.
    files, bytes, rows : int
        Size of the output. -1 if Spark does not report it.
    folder : str
        Location of the changed table: scheme, authority and path, separated by NUL. "" if unknown.
    taken : function
        Returns the analysed plans of the rows that the command wrote, or None if unknown.
    """

    kind: str
    path: str
    files: int
    bytes: int
    rows: int
    folder: str = ""
    taken: Callable[[], list[Any] | None] = lambda: None


class Auditor:
    """Listener for the writes of one SparkContext. Call `watch` for each of its sessions."""

    def __init__(self, jvm: Jvm) -> None:
        self._context = jvm.spark.sparkContext._jsc.sc()
        self._audit: Any = jvm.new("Audit")
        self._context.listenerBus().waitUntilEmpty(_PATIENCE_MS)  # or it would report earlier writes
        self._context.addSparkListener(self._audit)
        self._sessions: list[Any] = []

    def watch(self, session: Any) -> None:
        """Start to listen to the queries of a Java SparkSession."""
        if not any(s.equals(session) for s in self._sessions):
            if not self._audit.listens(session):
                session.listenerManager().register(self._audit)
            self._sessions.append(session)

    def take(self) -> list[Seen]:
        """Wait until Spark has delivered all events, and return the writes since the last call."""
        self._context.listenerBus().waitUntilEmpty(_PATIENCE_MS)
        out = []
        for part in self._audit.take().split("\x02"):
            if part:
                kind, path, files, size, rows, folder, number = part.split("\x01")
                out.append(
                    Seen(kind, path, int(files), int(size), int(rows), folder, partial(self._taken, int(number)))
                )
        return out

    def _taken(self, number: int) -> list[Any] | None:
        plans = self._audit.rows(number) if number else None
        return None if plans is None else list(plans)

    def stop(self) -> None:
        """Stop listening."""
        for session in self._sessions:
            session.listenerManager().unregister(self._audit)
        self._context.removeSparkListener(self._audit)
