"""What capture holds for the sessions of a SparkContext."""

from __future__ import annotations

from typing import Any

from provspark.tracker.script.row_constants import MadeRows
from provspark.tracker.script.sites import of_node
from provspark.tracker.session.caches import Caches
from provspark.tracker.spark.jvm import Jvm, answer_at_once


class Sessions:
    """Handles into each session's Java side, and what all of them share: what is cached.

    Parameters
    ----------
    taps : str
        URL of the folder for sidecars.
    """

    def __init__(self, taps: str) -> None:
        self._taps = taps
        self._known: dict[int, tuple[Any, Jvm]] = {}
        self._caches: Caches | None = None
        self._made: MadeRows | None = None
        self._unshown: MadeRows | None = None
        self._learned: MadeRows | None = None

    def knows(self, spark: Any) -> bool:
        """Whether a session was met."""
        return id(spark._jsparkSession) in self._known

    def jvm(self, spark: Any) -> Jvm:
        """Return a session's Java side."""
        answer_at_once(spark)
        key = id(spark._jsparkSession)
        if key not in self._known:
            self._known[key] = (spark._jsparkSession, Jvm(spark))
        return self._known[key][1]

    def every(self) -> list[Jvm]:
        """Return the Java sides of the sessions that were met."""
        return [jvm for _, jvm in self._known.values()]

    def any(self) -> Jvm | None:
        """Return the Java side of a session, if there is one."""
        return next(iter(self.every()), None)

    def caches(self, jvm: Jvm) -> Caches:
        """Return what is cached."""
        if self._caches is None:
            self._caches = Caches(jvm, self._taps, of_node)
        return self._caches

    def made(self, jvm: Jvm) -> MadeRows:
        """Return which rows the script made that are no constants."""
        if self._made is None:
            self._made = MadeRows(jvm)
        return self._made

    def unshown(self, jvm: Jvm) -> MadeRows:
        """Return which rows the script made of values that its text does not show, whatever it had read before."""
        if self._unshown is None:
            self._unshown = MadeRows(jvm)
        return self._unshown

    def learned(self, jvm: Jvm) -> MadeRows:
        """Return which rows MLlib made of what it learned, and by which call."""
        if self._learned is None:
            self._learned = MadeRows(jvm)
        return self._learned

    def holds_learned(self, plan: Any) -> str:
        """Return how the first of such rows in a logical plan were made, or ""."""
        return "" if self._learned is None else self._learned.within(plan)

    def holds_unshown(self, plan: Any) -> bool:
        """Whether a logical plan has such rows."""
        return self._unshown is not None and bool(self._unshown.within(plan))

    def restore(self) -> None:
        """Give the caches back to Spark as they would be without capture."""
        for jvm in self.every():
            self.caches(jvm).restore(jvm)

    def clear(self) -> None:
        """Forget all: their SparkContext stops."""
        self._known.clear()
        self._caches = self._made = self._unshown = self._learned = None
