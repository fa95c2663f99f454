"""Spark session of replays: a new session in the process's Spark context or, if there is none, in a small new one."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from provspark.model.errors import PackageMissingError, ReplayCancelledError, ReplayError
from provspark.replay.columns import NUMBER
from provspark.replay.java import snapshots

__all__ = ["Session", "told_by_spark"]

_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.datetime.java8API.enabled": "true",
    "spark.sql.retainGroupColumns": "false",
    "spark.sql.caseSensitive": "true",
}
"""Replays have few rows, for which Spark's optimisations for many rows cost more than they save."""


_MANY = 200_000
_QUIET = Path(__file__).parent / "log4j2.properties"
_SHORT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""JVM options for a few queries, for which optimised compilation and parallel garbage collection do not pay off."""


class Session:
    """A Spark session with settings for replays.

    Parameters
    ----------
    most : int
        Maximum number of rows to follow after each operation.
    """

    _theirs: Any = None
    """PySpark's active session, which all threads share, when it was last not a replay's."""

    def __init__(self, most: int) -> None:
        self.spark = _session()
        self.spark._provspark_replay = True
        self.most = most
        for name, value in _SETTINGS.items():
            self.spark.conf.set(name, value)
        self._rows = snapshots(self.spark, NUMBER, most)
        self._many: bool | None = None
        self._cancelled = False
        self._group = f"provspark-replay-{uuid.uuid4().hex}"

    @contextmanager
    def under(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Apply the settings of a step's session, so that its expressions have the same meaning."""
        conf = self.spark.conf
        before = {name: conf.get(name, None) for name in settings}
        try:
            for name, value in settings.items():
                conf.set(name, value)
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    conf.unset(name)
                else:
                    conf.set(name, value)

    @contextmanager
    def running(self, what: str) -> Iterator[None]:
        """Run Spark jobs that `cancel` can cancel. `what` is their description in Spark's UI."""
        context = self.spark.sparkContext
        context.setJobGroup(self._group, f"provspark replay: {what}", True)
        try:
            yield
        finally:
            context._jsc.clearJobGroup()

    def check(self) -> None:
        """Raise ReplayCancelledError if `cancel` was called."""
        if self._cancelled:
            raise ReplayCancelledError("the replay was cancelled")

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Run a replay, and then restore the process's active session.

        Replays in several threads may end in any order. If the active session is another replay's, restore the last one
        that was not.
        """
        from pyspark.sql import SparkSession

        self._cancelled = False
        sessions = getattr(self.spark._jvm, "org.apache.spark.sql.classic.SparkSession")
        before, active = sessions.getActiveSession(), SparkSession._activeSession
        if not getattr(active, "_provspark_replay", False):
            Session._theirs = active
        try:
            yield
        finally:
            SparkSession._activeSession = Session._theirs
            if before.isDefined():
                sessions.setActiveSession(before.get())
            else:
                sessions.clearActiveSession()

    def cancel(self) -> None:
        """Stop the running replay, from another thread."""
        self._cancelled = True
        self.spark.sparkContext.cancelJobGroup(self._group)

    def expect(self, rows: int) -> None:
        """Set the number of source rows that the next DataFrame reads. Spark generates code only for many rows."""
        many = rows > _MANY
        if many is self._many:
            return
        self._many = many
        self.spark.conf.set("spark.sql.codegen.wholeStage", many)
        self.spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if many else "NO_CODEGEN")

    def pickled(self) -> bytes:
        """Return the rows that were kept last, as a pickle of a Row with a list of Rows."""
        return bytes(self._rows.pickled())

    def keep(self, frame: Any) -> tuple[Any, int]:
        """Compute a DataFrame. Return up to `most` of its rows, numbered, on the driver, and the count, or most + 1."""
        from pyspark.sql import DataFrame

        kept = DataFrame(self._rows.keep(frame._jdf), self.spark)
        return kept, int(self._rows.size())


def told_by_spark(error: Exception) -> str:
    """Return the first line of an error of Spark; raise any other error."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    if not isinstance(error, (Py4JError, PySparkException)):
        raise error
    return "Spark reports: " + str(error).strip().split("\n")[0][:300]


def _session() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise PackageMissingError("replay", "pyspark") from None
    running = SparkSession.getActiveSession()
    if running is None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        running = (
            SparkSession.builder.master("local[2]")
            .appName("provspark replay")
            .config("spark.ui.enabled", False)
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.showConsoleProgress", False)
            .config("spark.driver.extraJavaOptions", f"{_SHORT} -Dlog4j2.configurationFile={_QUIET.as_uri()}")
            .getOrCreate()
        )
    if not hasattr(running, "_jsparkSession"):
        raise ReplayError(
            "a replay needs a Spark driver in its process, and this process is a client of Spark Connect; "
            "run the replay in a separate process"
        )
    from pyspark import RDD

    kept = RDD.toDF
    try:
        return running.newSession()
    finally:
        RDD.toDF = kept  # newSession makes it create DataFrames in the new session
