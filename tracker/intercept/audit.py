"""Every write that Spark made, as its listeners saw it: what capture did not claim marks the step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from provspark.tracker.spark.jvm import Jvm

_PATIENCE_MS = 30_000


@dataclass(frozen=True, slots=True)
class Seen:
    """A write that Spark finished. Counts are -1 where Spark does not tell.

    Parameters
    ----------
    kind, path : str
        The command's class, and the path that Spark's own writes of files have.
    files, bytes, rows : int
    folder : str
        Where the table lies that it changed: scheme, authority and path, NUL between; "" where that is not known.
    taken : function
        Returns the analysed plans whose rows it took; None where they are not known.
    """

    kind: str
    path: str
    files: int
    bytes: int
    rows: int
    folder: str = ""
    taken: Callable[[], list[Any] | None] = lambda: None


class Auditor:
    """Listens to one SparkContext; each of its sessions is to be watched."""

    def __init__(self, jvm: Jvm) -> None:
        self._context = jvm.spark.sparkContext._jsc.sc()
        self._audit: Any = jvm.new("Audit")
        self._context.listenerBus().waitUntilEmpty(_PATIENCE_MS)  # or it would hear of what was written before
        self._context.addSparkListener(self._audit)
        self._sessions: list[Any] = []

    def watch(self, session: Any) -> None:
        """Listen to the queries of a Java SparkSession."""
        if not any(s.equals(session) for s in self._sessions):
            if not self._audit.listens(session):
                session.listenerManager().register(self._audit)
            self._sessions.append(session)

    def take(self) -> list[Seen]:
        """Wait for what is under way and return the writes seen since the last time."""
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
