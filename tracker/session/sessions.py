"""State that capture keeps for the sessions of a SparkContext."""

from __future__ import annotations

import weakref
from typing import Any

from provspark.tracker.script.row_constants import MadeRows
from provspark.tracker.script.sites import of_node
from provspark.tracker.session.caches import Caches
from provspark.tracker.spark.jvm import Jvm, answer_at_once


class Sessions:
    """Handles of the Java sessions, and the state that they share: caches, and rows that the script or MLlib created.

    Parameters
    ----------
    taps : str
        URL of the step's folder for sidecar files.
    """

    def __init__(self, taps: str) -> None:
        self._taps = taps
        self._jvms: list[Jvm] = []
        self._known: dict[int, tuple[weakref.ref[Any], Jvm]] = {}
        """Handles by Python object. Each batch of a stream comes with a new one of the same Java session."""
        self._caches: Caches | None = None
        self._made: MadeRows | None = None
        self._unshown: MadeRows | None = None
        self._learned: MadeRows | None = None

    def jvm(self, spark: Any) -> Jvm:
        """Return the handle of a session's Java side."""
        answer_at_once(spark)
        java = spark._jsparkSession
        known = self._known.get(id(java))
        if known is not None and known[0]() is java:
            return known[1]
        jvm = self._known_for(java)
        if jvm is None:
            jvm = Jvm(spark)
            self._jvms.append(jvm)
        key = id(java)
        self._known[key] = weakref.ref(java, lambda _: self._known.pop(key, None)), jvm
        return jvm

    def of_java(self, session: Any) -> Jvm:
        """Return the handle of a Java session, which the script or Java code has created."""
        known = self._known_for(session)
        if known is not None:
            return known
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        return self.jvm(SparkSession(SparkContext._active_spark_context, session))

    def _known_for(self, session: Any) -> Jvm | None:
        return next((jvm for jvm in self.every() if jvm.session.equals(session)), None)

    def every(self) -> list[Jvm]:
        """Return the handles of all sessions that capture has seen."""
        return list(self._jvms)

    def any(self) -> Jvm | None:
        """Return the handle of any session, or None if there is none."""
        return next(iter(self.every()), None)

    def caches(self, jvm: Jvm) -> Caches:
        """Return the caches of the SparkContext."""
        if self._caches is None:
            self._caches = Caches(jvm, self._taps, of_node)
        return self._caches

    def made(self, jvm: Jvm) -> MadeRows:
        """Return the register of rows that the script created, with why they are not constant."""
        if self._made is None:
            self._made = MadeRows(jvm)
        return self._made

    def unshown(self, jvm: Jvm) -> MadeRows:
        """Return the register of rows that the script created from values that its text does not show.

        Unlike `made`, it includes rows from before the first read.
        """
        if self._unshown is None:
            self._unshown = MadeRows(jvm)
        return self._unshown

    def learned(self, jvm: Jvm) -> MadeRows:
        """Return the register of rows that MLlib created from what it learned, with the calls that did."""
        if self._learned is None:
            self._learned = MadeRows(jvm)
        return self._learned

    def holds_learned(self, plan: Any) -> str:
        """Return how MLlib created the first such rows in a logical plan, or "" if it has none."""
        return "" if self._learned is None else self._learned.within(plan)

    def holds_unshown(self, plan: Any) -> bool:
        """Whether a logical plan has rows that the script created from values that its text does not show."""
        return self._unshown is not None and bool(self._unshown.within(plan))

    def restore(self) -> None:
        """Restore the user's plans in cache entries that are not computed yet."""
        for jvm in self.every():
            self.caches(jvm).restore(jvm)

    def clear(self) -> None:
        """Forget all sessions, because their SparkContext stops."""
        self._jvms.clear()
        self._known.clear()
        self._caches = self._made = self._unshown = self._learned = None
