"""Capture of what a script does: its sessions, DataFrames, RDDs and models, which patches report, and its commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from provspark.model.errors import UnsupportedPlanError
from provspark.model.operation_names import current_name
from provspark.model.writes import Untracked
from provspark.tracker.boundary import Boundary, guarded
from provspark.tracker.families.cached import TRANSPOSE
from provspark.tracker.intercept.commands import Command
from provspark.tracker.intercept.events import PLAIN, CommandEvents, Steps
from provspark.tracker.intercept.interceptor import Interceptor
from provspark.tracker.plan.operations.transformers import at_work, described
from provspark.tracker.script.made_rows import not_known_before
from provspark.tracker.script.row_constants import OF_NUMBERS
from provspark.tracker.script.sites import caller
from provspark.tracker.session.caches import Caches
from provspark.tracker.session.driver_reads import DriverReads
from provspark.tracker.session.fitted_models import UNSHOWN, parameters_are_constant
from provspark.tracker.session.read_capture import ReadCapture
from provspark.tracker.session.sessions import Sessions
from provspark.tracker.session.troubles import Troubles
from provspark.tracker.session.write_capture import WriteCapture
from provspark.tracker.sinks.uncounted import dataset_of
from provspark.tracker.spark.jvm import Jvm

__all__ = ["ScriptCapture"]

LIMIT = 600.0
"""Seconds that capture may take before a command. After that, Spark runs the command without it."""
_UNCACHED = "capture could not add provenance to what Spark caches, so writes that read it may be untracked: "
_SAVED = "Java code saved an RDD, and capture can't trace writes of RDDs. Write a DataFrame instead"
_ACTIONS = {"reads": "SET VARIABLE", "query": "BEGIN … END"}
"""How docs call what reads the rows of such a command."""


class ScriptCapture:
    """Capture of what a script does in one step. All code that runs around the script's own calls is guarded.

    Parameters
    ----------
    sessions : Sessions
    reads : DriverReads
    reading : ReadCapture
    writing : WriteCapture
    troubles : Troubles
    boundary : Boundary
    """

    def __init__(
        self,
        sessions: Sessions,
        reads: DriverReads,
        reading: ReadCapture,
        writing: WriteCapture,
        troubles: Troubles,
        boundary: Boundary,
    ) -> None:
        self._sessions, self._reads, self._reading, self._writing = sessions, reads, reading, writing
        self._troubles, self.boundary = troubles, boundary
        self._events = CommandEvents(sessions.of_java, self._command, troubles, LIMIT)
        self._interceptor = Interceptor(self._events.handle, LIMIT)
        self.engine: dict[str, str] = {}
        """Versions of Spark and Java, and the id of the application, once there is a session."""

    @guarded("capture can't start: ", "session", sited=False)
    def session_made(self, spark: Any) -> None:
        """Start to intercept the commands of a session."""
        jvm = self._sessions.jvm(spark)
        if self._interceptor.watch(jvm):
            self._events.resume()
            self.engine["spark"] = spark.version
            self.engine["java"] = str(jvm.jvm.java.lang.System.getProperty("java.version"))
            self.engine["application"] = spark.sparkContext.applicationId

    def context_stops(self, context: Any) -> None:
        """Stop to intercept before the context is gone, and forget all that belongs to it."""
        with self.boundary.guard("", "intercept", sited=False):
            self.stop_intercepting()
        self.store_reads()
        self._reading.clear()
        self._sessions.clear()

    @guarded("the line that created a DataFrame is not known")
    def frame_made(self, frame: Any) -> None:
        """Remember which line created a DataFrame."""
        plans = self._sessions.jvm(frame.sparkSession).plans
        if plans.mark(frame._jdf, caller(), current_name()):
            transformer = at_work()
            if transformer is not None:
                plans.transformer(frame._jdf, described(transformer))
                fitted = self._reading.models.of(transformer)
                if fitted:
                    plans.models(frame._jdf, " ".join(map(str, fitted)))
                elif self._reads.begun and not parameters_are_constant(transformer):
                    plans.models(frame._jdf, UNSHOWN)

    @guarded("a DataFrame is not marked as a batch of a stream")
    def batch_made(self, frame: Any) -> None:
        """Mark a batch of a stream, because the files that its rows come from are not known."""
        _, caches = self._of(frame)
        caches.rdds.batch(frame._jdf)

    @guarded("the name of a function is not known")
    def function_made(self, function: Any, made: Any) -> None:
        """Remember the name of a Python function of the script for the Java object that Spark created for it."""
        from pyspark.sql import SparkSession

        name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"
        spark = SparkSession.getActiveSession()
        if spark is not None:
            self._sessions.jvm(spark).plans.named(made, name)

    @guarded(_UNCACHED, "cache")
    def cache_changed(self, spark: Any) -> None:
        """Put traced plans under new cache entries before anything computes them."""
        jvm = self._sessions.jvm(spark)
        self._sessions.caches(jvm).look(jvm)

    def checkpoint(self, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Checkpoint a DataFrame with `take` so that its rows keep their origin. Return the Java Dataset."""
        caches: Caches | None = None
        with self.boundary.guard("", "checkpoint"):
            jvm, caches = self._of(frame)
        return take(frame._jdf) if caches is None else caches.checkpoint(jvm, frame._jdf, take)

    def transposed(self, frame: Any, index: Any, take: Callable[[Any], Any]) -> Any:
        """Transpose a DataFrame with `take`. Spark drops the rows whose index is null."""
        rows = None
        with self.boundary.guard("", TRANSPOSE):
            jvm, caches = self._of(frame)
            name = frame.columns[0] if index is None else index
            rows = frame.filter((frame[name] if isinstance(name, str) else name).isNotNull())._jdf
        return take(frame._jdf) if rows is None else caches.transposed(jvm, rows, frame._jdf, take)

    def rdd_of(self, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Return the RDD that `take` makes of a DataFrame, so that capture can follow DataFrames made from it."""
        caches: Caches | None = None
        with self.boundary.guard("the rows of an RDD are not known"):
            jvm, caches = self._of(frame)
        return take(frame._jdf) if caches is None else caches.rdds.of_frame(jvm, frame._jdf, take)

    def _of(self, frame: Any) -> tuple[Jvm, Caches]:
        jvm = self._sessions.jvm(frame.sparkSession)
        return jvm, self._sessions.caches(jvm)

    @guarded("the line that passed rows to an RDD is not known")
    def rows_handed(self, rdd: Any, rows: int, content: str, data: Any) -> None:
        """Remember which line passed rows to a JavaRDD."""
        jvm = self._sessions.any()
        if jvm is not None:
            self._sessions.caches(jvm).rdds.handed(rdd, rows, content, caller())
            self._sessions.made(jvm).note_rdd(rdd, self._why("SparkContext.parallelize", data))

    def _why(self, maker: str, data: Any = None) -> str:
        """Return why the rows that the running call creates may derive from a read, or "" if they can't."""
        return not_known_before(maker, data, numbers=self._numbers()) if self._reads.begun else ""

    def _numbers(self) -> frozenset[str]:
        """Return the lines at which the script has only read single numbers so far."""
        return self._reads.numbers(self._reads.count)

    @guarded("the line that created local rows is not known")
    def rows_made(self, frame: Any, maker: str, data: Any, *, local: bool) -> None:
        """Remember which line created local rows, and whether they are constants."""
        jvm, caches = self._of(frame)
        caches.local.note(frame._jdf, caller(), local=local)
        begun = self._reads.begun  # first, because it appends reads of files, which `_numbers` needs
        why = not_known_before(maker, data, numbers=self._numbers())
        if why and not why.startswith(OF_NUMBERS):
            self._sessions.unshown(jvm).note(frame._jdf, why)
        why = why if begun else ""
        if local or why:
            self._sessions.made(jvm).note(frame._jdf, why)

    def model_saved(self, instance: Any, path: str, call: Callable[[], Any]) -> Any:
        """Save a model with `call`, and store the files as an output of the step."""
        with self._events.unseen():
            result = call()
        with self.boundary.guard(f"a model was saved to {path}, but its lineage is lost: ", "save"):
            write = self._reading.saved(instance, path)
            if write is not None:
                self._writing.add(write)
        return result

    def effect(self, node: str, why: str, call: Callable[[], Any], rows: Any = None) -> Any:
        """Run a call with effects that capture can't follow, and record the refusal."""
        error = UnsupportedPlanError(node, why, caller())
        if self._troubles.fatal:
            self._troubles.refuse(error)  # raises, before the call has any effect
        if rows is not None:
            self._reading.lost(lambda: self._reading.of(rows), node, why, error.site)
        with self.boundary.guard("RDDs that Java code saved are not recorded"):
            self._note_saves()
        try:
            result = call()
        finally:
            with self.boundary.guard("RDDs that Spark saved are recorded twice"):
                self._interceptor.saves()  # they are recorded below
        self._troubles.refuse(error)
        return result

    def refused(self, node: str, why: str) -> None:
        """Record that capture can't follow what is about to start."""
        self._troubles.refuse(UnsupportedPlanError(node, why, caller()))

    def table_saved(self, writer: Any, name: str) -> None:
        """Count what the step has read of a table that Spark is about to drop and write anew.

        If lost lineage stops the script, this raises if capture can't follow the rows: before Spark drops the table.
        """
        refusal: UnsupportedPlanError | None = None
        with self.boundary.guard("the table that a write replaces is not known"):
            jvm = self._sessions.jvm(writer._spark)
            folder = str(jvm.new("CommandPlans").table(jvm.session, name))
            try:
                if folder and self._troubles.fatal:
                    self._writing.check(jvm, writer._df._jdf.queryExecution().analyzed())
            except UnsupportedPlanError as e:
                refusal = e
            self._settle(jvm, folder)
        if refusal is not None:
            self._troubles.refuse(refusal.at(refusal.site or caller()))

    def _settle(self, jvm: Jvm, folder: str) -> None:
        """Count what the step has read of a table before Spark drops it. `folder` is as in `Command.folder`."""
        if folder:
            self._writing.settle(jvm, dataset_of(folder))

    def stopped(self, throwable: Any) -> Exception | None:
        """Return the error with which capture stopped a command, or None if a Java exception has another cause."""
        try:
            return self._events.error(str(throwable.getMessage()))
        except Exception:
            return None

    def _command(self, command: Command) -> Steps:
        """Capture a command, or a query of a SQL script. Yields as `Steps` has it."""
        jvm = command.jvm
        if command.kind == "writes":
            yield from self._writing.run(command)
        elif command.kind == "caches":
            yield from self._cached(command)
            return
        elif command.kind == "drops":
            self._settle(jvm, command.folder())
            yield PLAIN
        else:
            for plan in command.rows if command.kind == "discards" else [command.analysed]:
                self._reading.written(jvm, plan)
            failed = yield PLAIN
            if failed is None and command.kind != "discards":
                self._reading.plan(jvm, command.analysed, _ACTIONS[command.kind])
        self.cache_changed(jvm.spark)  # Spark rebuilds cache entries that read the written files

    def _cached(self, command: Command) -> Steps:
        """Cache a table with its traced plan: put that under the entry before Spark computes it."""
        lazily = command.lazily()
        failed = yield lazily or PLAIN
        if failed is None:
            self.cache_changed(command.jvm.spark)
            if lazily is not None:
                yield command.cached()

    @guarded("the reads on the driver could not be stored: ", "reads", sited=False)
    def store_reads(self) -> None:
        """Store the reads on the driver so far."""
        self._reads.cut()
        self._reads.flush()

    def stop_intercepting(self) -> None:
        """Stop to intercept commands."""
        self._note_saves()
        self._interceptor.stop()
        self._events.abandon()

    def _note_saves(self) -> None:
        if self._interceptor.saves():
            self._troubles.note(Untracked("RDD", _SAVED))
