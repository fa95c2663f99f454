"""Holds what capture claims against what Spark's listeners saw: a write that nobody claims went around capture."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from provspark.tracker.intercept.audit import Auditor, Seen
from provspark.tracker.sinks import Output
from provspark.tracker.spark.jvm import Jvm


class BypassWatch:
    """The audit of one SparkContext after another; what is seen and not claimed is kept."""

    def __init__(self) -> None:
        self._auditor: Auditor | None = None
        self._unclaimed: list[Seen] = []
        self._claiming = threading.Lock()

    def session(self, spark: Any, jvm: Jvm) -> bool:
        """Watch a session; return whether it is the first of its SparkContext."""
        first = self._auditor is None
        if self._auditor is None:
            self._auditor = Auditor(jvm)
        self._auditor.watch(spark._jsparkSession)
        return first

    def claim(self, sink: Output) -> Seen | None:
        """Return what Spark's listener said of the write just done, and leave the rest for the end."""
        assert self._auditor is not None
        with self._claiming:
            self._unclaimed.extend(self._auditor.take())
            for seen in reversed(self._unclaimed):  # the last one, as others may have gone around capture before
                if sink.is_own(seen.kind, seen.path):
                    self._unclaimed.remove(seen)
                    return seen
        return None

    def unaudited(self, call: Callable[[], Any]) -> Any:
        """Run a write of which the step knows already, or which writes nothing: none of it is to be told."""
        return self.watched(call, lambda seen, done: None)

    def watched(self, call: Callable[[], Any], wrote: Callable[[list[Seen], bool], None]) -> Any:
        """Run what may write; `wrote` hears of what was seen if it did, and whether it came to its end."""
        if self._auditor is None:
            return call()
        self._unclaimed.extend(self._auditor.take())
        done = False
        try:
            result = call()
            done = True
            return result
        finally:
            seen = self._auditor.take()
            if seen:
                wrote(seen, done)

    def close(self) -> list[Seen]:
        """Stop listening; return what nobody claimed."""
        if self._auditor is None:
            return []
        self._unclaimed.extend(self._auditor.take())
        self._auditor.stop()
        self._auditor = None
        left, self._unclaimed = self._unclaimed, []
        return left
