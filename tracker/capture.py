"""What stands between a running script and its step in the store."""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, Literal

from provspark import __version__
from provspark.errors import CaptureError, ProvSparkError, UnsupportedPlanError
from provspark.index_store.model import Dataset, Manifest, PendingWrite, Untracked, Write
from provspark.index_store.writer import StepWriter
from provspark.naming import current_name
from provspark.tracker.audit import Auditor, Seen
from provspark.tracker.caches import Caches
from provspark.tracker.driver_reads import DriverReads
from provspark.tracker.intercept import Interception
from provspark.tracker.jvm import Jvm
from provspark.tracker.operations import Draft, built
from provspark.tracker.operations.transformers import at_work, described
from provspark.tracker.orders import Aim, Order, WriterOrder
from provspark.tracker.profiling import profiles_of
from provspark.tracker.sinks import Output
from provspark.tracker.sinks.claims import Claim, claim
from provspark.tracker.sites import caller, of_node
from provspark.tracker.sql_writes import sql, v2
from provspark.tracker.write import TracedWrite

log = logging.getLogger("provspark")

OnError = Literal["warn", "fail"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What capture of one write took in the driver, in seconds: before Spark's job, and after its commit."""

    output: str
    rewrite: float
    seal: float


class Capture:
    """One step under way: every write of the script passes here.

    Trouble of ours never reaches the script: the plain write runs, and the step says why it is untracked, unless
    `on_error` is ``fail``.
    """

    def __init__(
        self,
        step: StepWriter | None,
        store: str,
        name: str,
        on_error: OnError,
        *lost: Untracked,
        profile: bool = False,
    ) -> None:
        self._step = step
        self._store = store
        self._name = name
        self._on_error = on_error
        self._untracked = list(lost)
        self._sessions: dict[int, tuple[Any, Jvm]] = {}
        self._caches: Caches | None = None
        self._reads: DriverReads | None = None
        self._auditor: Auditor | None = None
        self._unclaimed: list[Seen] = []
        self._adding = threading.Lock()
        self._added: list[tuple[PendingWrite, Write]] | None = [] if profile else None
        self._engine: dict[str, str] = {"python": platform.python_version(), "provspark": __version__}
        self._started = _now()
        self._interception = Interception(self)
        self.manifest: Manifest | None = None
        self.costs: list[Cost] = []

    @property
    def untracked(self) -> tuple[Untracked, ...]:
        """Why something of this step was not captured; empty if all was."""
        return tuple(self._untracked)

    def begin(self) -> None:
        """Start to listen."""
        if self._step is not None:
            self._interception.install()

    def end(self, error: BaseException | None) -> None:
        """Stop listening and publish the step."""
        self._interception.remove()
        if self._step is None:
            return
        failed = error is not None and not (isinstance(error, SystemExit) and error.code in (None, 0))
        try:
            self._close_audit()
            for _, jvm in self._sessions.values():
                self._cached(jvm).restore(jvm)
            self._profile()
            self.manifest = self._step.publish(
                status="failed" if failed else "succeeded",
                started=self._started,
                ended=_now(),
                untracked=self.untracked,
                engine=tuple(sorted(self._engine.items())),
                error="" if not failed else "".join(traceback.format_exception_only(error)).strip(),
            )
        except Exception as e:
            self._trouble(Untracked("publish", str(e)), e, fatal=error is None)

    # -- what the interception tells

    def session_made(self, spark: Any) -> None:
        """Watch a session's writes."""
        try:
            jvm = self._jvm(spark)
            if self._auditor is None:
                self._auditor = Auditor(jvm)
                self._engine["spark"] = spark.version
                self._engine["java"] = str(jvm.jvm.java.lang.System.getProperty("java.version"))
                self._engine["application"] = spark.sparkContext.applicationId
            self._auditor.watch(spark._jsparkSession)
        except Exception as e:
            self._trouble(Untracked("session", f"capture can't start: {e}"), e)

    def context_stops(self, context: Any) -> None:
        """Take what the listeners saw before they are gone; a next context begins anew."""
        try:
            self._close_audit()
        except Exception as e:
            self._trouble(Untracked("audit", str(e)), e)
        self._sessions.clear()
        self._caches = self._reads = None

    def frame_made(self, frame: Any) -> None:
        """Remember which line made a data frame."""
        try:
            plans = self._jvm(frame.sparkSession).plans
            if plans.mark(frame._jdf, caller(), current_name()):
                transformer = at_work()
                if transformer is not None:
                    plans.transformer(frame._jdf, described(transformer))
        except Exception as e:
            log.debug("provspark: the line that made a data frame is not known", exc_info=e)

    def function_made(self, function: Any, made: Any) -> None:
        """Remember the name of a function of the script's, and what Spark made of it."""
        try:
            from pyspark.sql import SparkSession

            name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"
            spark = SparkSession.getActiveSession()
            if spark is not None:
                self._jvm(spark).plans.named(made, name)
        except Exception as e:
            log.debug("provspark: the name of a function is not known", exc_info=e)

    def cache_changed(self, spark: Any) -> None:
        """See what was cached, before anything computes it."""
        try:
            jvm = self._jvm(spark)
            self._cached(jvm).look(jvm)
        except Exception as e:
            self._trouble(Untracked("cache", f"what is cached can't be followed: {e}", caller()), e)

    def cache_table(self, spark: Any, text: str) -> Any:
        """Run a CACHE TABLE that computes at once; None if it is to be run as it is."""
        try:
            jvm = self._jvm(spark)
            caches = self._cached(jvm)
        except Exception as e:
            self._trouble(Untracked("cache", f"what is cached can't be followed: {e}", caller()), e)
            return None
        return caches.cache_table(jvm, text)

    def checkpoint(self, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Checkpoint a frame's Java Dataset by `take`, so that its rows keep their origin; return the Java Dataset."""
        try:
            jvm = self._jvm(frame.sparkSession)
            caches = self._cached(jvm)
        except Exception as e:
            self._trouble(Untracked("checkpoint", str(e), caller()), e)
            return take(frame._jdf)
        return caches.checkpoint(jvm, frame._jdf, take)

    def transposed(self, frame: Any, index: Any, take: Callable[[Any], Any]) -> Any:
        """Transpose by `take` a frame's rows; Spark leaves those out whose index is null."""
        try:
            jvm = self._jvm(frame.sparkSession)
            caches = self._cached(jvm)
            name = frame.columns[0] if index is None else index
            rows = frame.filter((frame[name] if isinstance(name, str) else name).isNotNull())._jdf
        except Exception as e:
            self._trouble(Untracked("Transpose", str(e), caller()), e)
            return take(frame._jdf)
        return caches.transposed(jvm, rows, take)

    def rdd_of(self, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Return what `take` makes of a frame's Java Dataset, an RDD, so that frames made of it can be followed."""
        try:
            jvm = self._jvm(frame.sparkSession)
            rdds = self._cached(jvm).rdds
        except Exception as e:
            log.debug("provspark: an RDD's rows are not known", exc_info=e)
            return take(frame._jdf)
        return rdds.of_frame(jvm, frame._jdf, of_node, take)

    def rows_handed(self, rdd: Any, rows: int, content: str) -> None:
        """Remember which line handed rows over to a JavaRDD."""
        for _, jvm in list(self._sessions.values())[:1]:
            self._cached(jvm).rdds.handed(rdd, rows, content, caller())

    def rdd_read(self, rdd: Any, action: str) -> None:
        """Note that values of an RDD were brought to the driver."""
        for _, jvm in list(self._sessions.values())[:1]:
            try:
                self._read(jvm).note_rdd(jvm, rdd._jrdd.rdd(), self._cached(jvm), action, caller())
            except Exception as e:
                self._trouble(Untracked(action, f"what it brought to the driver is not known: {e}", caller()), e)

    def rows_made(self, frame: Any, *, local: bool) -> None:
        """Remember which line made local rows."""
        try:
            jvm = self._jvm(frame.sparkSession)
            self._cached(jvm).local.note(frame._jdf, caller(), local=local)
        except Exception as e:
            log.debug("provspark: the line that made local rows is not known", exc_info=e)

    def driver_read(self, frame: Any, action: str) -> None:
        """Note that values of a frame were brought to the driver."""
        try:
            jvm = self._jvm(frame.sparkSession)
            analysed = frame._jdf.queryExecution().analyzed()
            self._read(jvm).note(jvm, analysed, self._cached(jvm), action, caller())
        except Exception as e:
            self._trouble(Untracked(action, f"what it brought to the driver is not known: {e}", caller()), e)

    def effect(self, node: str, why: str, call: Callable[[], Any]) -> Any:
        """Run what leaves something behind that can't be followed, and say so."""
        result = self._unaudited(call)
        self._refuse(UnsupportedPlanError(node, why, caller()))
        return result

    def refused(self, node: str, why: str) -> None:
        """Note what is about to start and can't be followed."""
        self._refuse(UnsupportedPlanError(node, why, caller()))

    def write(self, spark: Any, frame: Any, writer: Any, end: str, args: tuple[Any, ...]) -> Any:
        """Run the end of a DataFrameWriter."""
        return self._run(spark, WriterOrder(frame, writer, end, args))

    def write_v2(self, spark: Any, writer: Any, end: str, args: tuple[Any, ...]) -> Any:
        """Run the end of a DataFrameWriterV2."""
        return self._ordered(spark, lambda: getattr(writer, end)(*args), lambda jvm, call: v2(jvm, call, writer, end))

    def sql(self, spark: Any, call: Callable[[], Any], text: str, args: Any) -> Any:
        """Run SQL text; `call` is the script's own way to do it."""
        if id(spark._jsparkSession) not in self._sessions:
            return call()
        return self._ordered(spark, call, lambda jvm, call: sql(jvm, call, text, args))

    def _ordered(self, spark: Any, call: Callable[[], Any], read: Callable[[Jvm, Any], Order | None]) -> Any:
        try:
            order = read(self._jvm(spark), call)
        except UnsupportedPlanError as e:
            return self._watched(call, e.at(caller()))
        except Exception as e:
            self._refuse(e, caller())
            return self._unaudited(call)
        return call() if order is None else self._run(spark, order)

    def _run(self, spark: Any, order: Order) -> Any:
        """Run a write so that its rows say where they come from; plainly where that can't be."""
        result = self._write(spark, order)
        self.cache_changed(spark)  # Spark makes anew what reads the files that were written
        return result

    def _write(self, spark: Any, order: Order) -> Any:
        site = caller()
        began = time.perf_counter()
        aims: list[Aim] = []
        held: list[Claim] = []
        skips = False
        try:
            jvm = self._jvm(spark)
            caches = self._cached(jvm)
            aims = order.aims(jvm, lambda rows: caches.current(jvm, rows.queryExecution().analyzed()))
            for aim in aims:
                caches.settle(aim.sink.dataset)
                self._read(jvm).settle(aim.sink.dataset)
            self._untold(jvm)
            skips = all(aim.sink.skips for aim in aims)
            captured = []
            if not skips:
                held += [self._claim(aim.sink.dataset) for aim in aims]
                captured = [self._traced(jvm, aim, site) for aim in aims]
        except Exception as e:
            reason = self._refuse(e, site)
            return self._plainly(spark, order, aims, held, reason)
        if skips:
            return self._unaudited(order.plain)
        rewritten = time.perf_counter()
        try:
            result = order.run(jvm, [c.plan for c in captured])
        except Exception as e:
            if not _ours(e, jvm) or not all(aim.sink.repeatable for aim in aims):
                _release(held)
                raise
            for aim in aims:
                _remove_if_empty(aim.sink.dataset)
            reason = self._refuse(CaptureError(f"the rewritten plan failed: {e}"), site)
            return self._plainly(spark, order, aims, held, reason)
        done = time.perf_counter()
        try:
            for aim, traced in zip(aims, captured, strict=True):
                self._seal(traced, aim.sink, site)
        finally:
            _release(held)
        names = ", ".join(aim.sink.dataset.uri for aim in aims)
        self.costs.append(Cost(names, rewritten - began, time.perf_counter() - done))
        return result

    # -- steps of a write

    def _untold(self, jvm: Jvm) -> None:
        """A write follows what the driver read: say what of that can't be told."""
        for reason in self._read(jvm).take_unknown():
            self._untracked.append(reason)
            log.warning("provspark: not tracked: %s", reason)

    def _claim(self, dataset: Dataset) -> Claim:
        """Say in the store that this step is writing the data set; ConcurrentWriteError if another one is."""
        return claim(self._store, dataset, self._name)

    def _traced(self, jvm: Jvm, aim: Aim, site: str) -> TracedWrite:
        """Rewrite the plan; a refusal says at which line of the script the operator was written."""
        assert self._step is not None
        try:
            return TracedWrite(jvm, aim.sink, aim.plan, self._step.taps, self._cached(jvm), self._read(jvm))
        except UnsupportedPlanError as e:
            kind = e.node.split(" ")[0]
            where = of_node(jvm, kind, aim.rows.queryExecution().analyzed())
            raise e.at(e.site or where or site) from None

    def _seal(self, captured: TracedWrite, sink: Output, site: str) -> None:
        assert self._step is not None
        try:
            sealed = captured.seal(self._seen(sink), site)
            with self._adding:
                added = self._step.add(sealed)
                if self._added is not None:
                    self._added.append((sealed, added))
            self._untold(captured.jvm)
        except Exception as e:
            reason = Untracked("seal", f"{sink.dataset} was written, its lineage is lost: {e}", site)
            self._record_plain(sink, reason, lambda: captured.draft)
            self._trouble(reason, e)

    def _seen(self, sink: Output) -> Seen | None:
        """Return what Spark's listener said of the write just done, and leave the rest for the audit."""
        assert self._auditor is not None
        with self._adding:
            self._unclaimed.extend(self._auditor.take())
            for seen in self._unclaimed:
                if sink.is_own(seen.kind, seen.path):
                    self._unclaimed.remove(seen)
                    return seen
        return None

    def _plainly(self, spark: Any, order: Order, aims: list[Aim], held: list[Claim], reason: Untracked) -> Any:
        """Run the user's own write, and note what it left."""
        try:
            result = self._unaudited(order.plain)
            for aim in aims:
                self._record_plain(aim.sink, reason, lambda plan=aim.plan: self._drafted(spark, plan))  # type: ignore[misc]
            return result
        finally:
            _release(held)

    def _unaudited(self, call: Callable[[], Any]) -> Any:
        """Run a write of which the step knows already, or which writes nothing: the audit need not tell of it."""
        if self._auditor is None:
            return call()
        self._unclaimed.extend(self._auditor.take())
        try:
            return call()
        finally:
            self._auditor.take()

    def _watched(self, call: Callable[[], Any], error: UnsupportedPlanError) -> Any:
        """Run what may write and can't be followed; if it does write, `error` says what of it."""
        if self._auditor is None:
            return call()
        self._unclaimed.extend(self._auditor.take())
        done = False
        try:
            result = call()
            done = True
            return result
        finally:
            if self._auditor.take():
                self._trouble(Untracked(error.node, error.why, error.site), error, fatal=done)

    def _drafted(self, spark: Any, plan: Any) -> Draft | None:
        """Read the operations of a write that is not tracked."""
        jvm = self._jvm(spark)
        return self._cached(jvm).operations.read(jvm, plan)

    def _record_plain(self, sink: Output, reason: Untracked, drafted: Callable[[], Draft | None]) -> None:
        """Note the version that an untracked write left, so that questions about it are told why they end here."""
        assert self._step is not None
        try:
            left = PendingWrite(sink.observe(), "untracked", reason=reason, site=reason.site)
            draft = drafted()
            if draft is not None:
                left = replace(left, operations=built(draft))
            with self._adding:
                self._step.add(left)
        except Exception as e:
            log.debug("provspark: the output of an untracked write is not known", exc_info=e)

    def _profile(self) -> None:
        """Profile what was written and read, where that was asked for; without one, the step is as good."""
        assert self._step is not None
        try:
            for sealed, added in self._added or ():
                self._step.profile(added, profiles_of(sealed, added))
        except ProvSparkError as e:
            log.warning("provspark: profiles are not stored: %s", e)

    def _close_audit(self) -> None:
        if self._auditor is None:
            return
        self._unclaimed.extend(self._auditor.take())
        self._auditor.stop()
        self._auditor = None
        for seen in self._unclaimed:
            where = f" to {seen.path}" if seen.path else ""
            self._untracked.append(Untracked(seen.kind, f"a write{where} went around capture"))
            log.warning("provspark: %s", self._untracked[-1])
        self._unclaimed.clear()

    def _cached(self, jvm: Jvm) -> Caches:
        if self._caches is None:
            assert self._step is not None
            self._caches = Caches(jvm, self._step.taps, of_node)
        return self._caches

    def _read(self, jvm: Jvm) -> DriverReads:
        if self._reads is None:
            self._reads = DriverReads(jvm)
        return self._reads

    def _jvm(self, spark: Any) -> Jvm:
        key = id(spark._jsparkSession)
        if key not in self._sessions:
            self._sessions[key] = (spark._jsparkSession, Jvm(spark))
        return self._sessions[key][1]

    def _refuse(self, error: Exception, site: str = "") -> Untracked:
        if isinstance(error, UnsupportedPlanError):
            reason = Untracked(error.node, error.why, error.site or site)
        else:
            reason = Untracked("capture", f"{type(error).__name__}: {error}", site)
        self._trouble(reason, error)
        return reason

    def _trouble(self, reason: Untracked, error: Exception, *, fatal: bool = True) -> None:
        """Note that lineage is lost, or raise where the user asked for that."""
        self._untracked.append(reason)
        log.warning("provspark: not tracked: %s", reason)
        log.debug("provspark: the error behind it", exc_info=error)
        if self._on_error == "fail" and fatal:
            if isinstance(error, ProvSparkError):
                raise error
            raise CaptureError(str(reason)) from error


def _release(held: list[Claim]) -> None:
    for each in held:
        each.release()


def _ours(error: Exception, jvm: Jvm) -> bool:
    """Whether a failed write failed by our doing: an exception of the chain arose in our code, or for lack of it."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None:
        return False
    arises = True
    for line in jvm.jvm.org.apache.spark.util.Utils.exceptionString(java).splitlines():
        frame = line.strip().startswith("at ")
        if frame and arises and line.strip().startswith("at provspark."):
            return True
        if not frame and "provspark." in line and ("ClassNotFound" in line or "NoClassDefFound" in line):
            return True
        arises = not frame
    return False


def _remove_if_empty(dataset: Dataset) -> None:
    """Take away the empty folder that a failed write made, or the next one would find its target taken."""
    if dataset.namespace == "file":
        with contextlib.suppress(OSError):
            os.rmdir(dataset.name)  # noqa: PTH106


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")
