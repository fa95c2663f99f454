"""The Spark session that replay runs in: one of its own in the process's Spark context, or a small one made for it."""

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
"""Few rows: what Spark does to run fast on many costs more than it gives."""


_MANY = 200_000
_QUIET = Path(__file__).parent / "log4j2.properties"
_SHORT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""A JVM that answers a few questions: compiling its code well, and collecting in parallel, cost more than they give."""


class Session:
    """A session whose settings are replay's alone.

    Parameters
    ----------
    most : int
        Rows that are followed after one operation.
    """

    _theirs: Any = None
    """PySpark's active session when it was last none of replay's; it is one for all threads of a process."""

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
        """Take over the settings of a step's session, by which its expressions mean what they meant there."""
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
        """Let what runs meanwhile be cancelled by `cancel`; it shows under this name in Spark's page."""
        context = self.spark.sparkContext
        context.setJobGroup(self._group, f"provspark replay: {what}", True)
        try:
            yield
        finally:
            context._jsc.clearJobGroup()

    def check(self) -> None:
        """Raise ReplayCancelledError where `cancel` was called."""
        if self._cancelled:
            raise ReplayCancelledError("the replay was cancelled")

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Run a replay, not cancelled yet; the process's active session is afterwards the one that it was.

        Replays in several threads may end in any order, so it is not the one found here if that is another replay's.
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
        """Stop what runs, from another thread."""
        self._cancelled = True
        self.spark.sparkContext.cancelJobGroup(self._group)

    def expect(self, rows: int) -> None:
        """Be told how many rows of sources are read for the next frame: code is compiled only for many."""
        many = rows > _MANY
        if many is self._many:
            return
        self._many = many
        self.spark.conf.set("spark.sql.codegen.wholeStage", many)
        self.spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if many else "NO_CODEGEN")

    def pickled(self) -> bytes:
        """Return the rows that were kept last, as Python's pickle of a Row of a list of Rows."""
        return bytes(self._rows.pickled())

    def keep(self, frame: Any) -> tuple[Any, int]:
        """Compute a frame; return its rows, kept in the driver and numbered, and how many there were, or most + 1."""
        from pyspark.sql import DataFrame

        kept = DataFrame(self._rows.keep(frame._jdf), self.spark)
        return kept, int(self._rows.size())


def told_by_spark(error: Exception) -> str:
    """Say in one line what Spark says; what is no error of Spark's is raised."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    if not isinstance(error, (Py4JError, PySparkException)):
        raise error
    return "Spark says: " + str(error).strip().split("\n")[0][:300]


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
            "replay builds plans in Spark's driver, and this process is a client of Spark Connect; "
            "run it in a process of its own"
        )
    from pyspark import RDD

    kept = RDD.toDF
    try:
        return running.newSession()
    finally:
        RDD.toDF = kept  # PySpark makes it create frames in the session that was made last
