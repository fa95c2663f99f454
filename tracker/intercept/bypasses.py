"""Comparison of captured writes with those that Spark's listeners saw: an unclaimed write went around capture."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from provspark.tracker.intercept.audit import Auditor, Seen
from provspark.tracker.sinks import Output
from provspark.tracker.spark.jvm import Jvm


class BypassWatch:
    """Audit of a step's SparkContexts, one after another. Keeps the writes that capture has not claimed."""

    def __init__(self) -> None:
        self._auditor: Auditor | None = None
        self._unclaimed: list[Seen] = []
        self._claiming = threading.Lock()

    def session(self, spark: Any, jvm: Jvm) -> bool:
        """Watch a session. Return whether it is the first of its SparkContext."""
        first = self._auditor is None
        if self._auditor is None:
            self._auditor = Auditor(jvm)
        self._auditor.watch(spark._jsparkSession)
        return first

    def claim(self, sink: Output) -> Seen | None:
        """Claim the write that just finished: return the listener's record of it, or None if there is none.

        Other writes stay unclaimed until `close`.
        """
        assert self._auditor is not None
        with self._claiming:
            self._unclaimed.extend(self._auditor.take())
            for seen in reversed(self._unclaimed):  # the latest, because earlier ones may have gone around capture
                if sink.is_own(seen.kind, seen.path):
                    self._unclaimed.remove(seen)
                    return seen
        return None

    def unaudited(self, call: Callable[[], Any]) -> Any:
        """Run a call whose writes, if any, the step already records. Discard what the listeners see of it."""
        return self.watched(call, lambda seen, done: None)

    def watched(self, call: Callable[[], Any], wrote: Callable[[list[Seen], bool], None]) -> Any:
        """Run a call that may write. If it wrote, call `wrote` with the writes and whether `call` succeeded."""
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
        """Stop listening and return the unclaimed writes."""
        if self._auditor is None:
            return []
        self._unclaimed.extend(self._auditor.take())
        self._auditor.stop()
        self._auditor = None
        left, self._unclaimed = self._unclaimed, []
        return left
