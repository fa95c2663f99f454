"""Capture of writes: runs them with rewritten plans that record where rows come from, or unchanged if it can't."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from provspark.index_store.store.writer import StepWriter
from provspark.model.datasets import Dataset
from provspark.model.errors import CaptureError, ProvSparkError, UnsupportedPlanError
from provspark.model.pending import PendingWrite
from provspark.model.writes import Untracked, Write
from provspark.tracker.families.distribution import REPARTITION
from provspark.tracker.files.step_files import FilesOfDriver
from provspark.tracker.intercept.audit import Seen
from provspark.tracker.intercept.bypasses import BypassWatch
from provspark.tracker.intercept.orders import Aim, Order
from provspark.tracker.plan.operations import Draft, built
from provspark.tracker.script.sites import caller, of_node
from provspark.tracker.seal.captured_write import TracedWrite
from provspark.tracker.session.driver_reads import DriverReads
from provspark.tracker.session.failures import ours, said, stopped
from provspark.tracker.session.read_capture import ReadCapture
from provspark.tracker.session.read_inputs import NONE, Inputs
from provspark.tracker.session.reads_behind import behind
from provspark.tracker.session.sessions import Sessions
from provspark.tracker.session.troubles import Troubles, log
from provspark.tracker.sinks import Output
from provspark.tracker.sinks.claims import Claim, claim
from provspark.tracker.sinks.uncounted import files_of, version_of
from provspark.tracker.spark.jvm import Jvm

_DEALT = (
    "the result of {} depends on the task that a row is in, and repartition(n) below it distributes rows by a hash of"
    " all columns, including those that capture adds. Pass columns to it, or write the rows first and read them back"
)
_UNKNOWN = (
    "for rows with nulls, the result of {} depends on when Spark's optimizer simplifies it. Write NOT IN and AND in"
    " place of NOT, or exclude nulls from the column and from the subquery"
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Time that capture of one write took in the driver, in seconds: before Spark's job, and after its commit."""

    output: str
    rewrite: float
    seal: float


class WriteCapture:
    """Capture of one step's writes.

    Parameters
    ----------
    step : StepWriter
        Stores the captured writes.
    store, owner : str
        URL of the store and id of the step, for the claims on outputs.
    sessions : Sessions
    reading : ReadCapture
    reads : DriverReads
    files : FilesOfDriver
    troubles : Troubles
    watch : BypassWatch
    profile : bool
        Whether to profile outputs and inputs.
    """

    def __init__(
        self,
        step: StepWriter,
        store: str,
        owner: str,
        sessions: Sessions,
        reading: ReadCapture,
        reads: DriverReads,
        files: FilesOfDriver,
        troubles: Troubles,
        watch: BypassWatch,
        *,
        profile: bool,
    ) -> None:
        self._step = step
        self._store = store
        self._owner = owner
        self._sessions = sessions
        self._reading = reading
        self._reads = reads
        self._files = files
        self._troubles = troubles
        self._watch = watch
        self._adding = files.adding
        self._added: list[tuple[PendingWrite, Write]] | None = [] if profile else None
        self.costs: list[Cost] = []

    def run(self, spark: Any, order: Order) -> Any:
        """Run an order, and return what the script's call returns."""
        site = caller()
        began = time.perf_counter()
        aims: list[Aim] = []
        held: list[Claim] = []
        skips = False
        try:
            cut = self._reads.cut()
            jvm = self._sessions.jvm(spark)
            caches = self._sessions.caches(jvm)
            aims = order.aims(jvm, lambda rows: caches.current(jvm, rows.queryExecution().analyzed()))
            for aim in aims:  # now, because the write may replace files that the step has read
                caches.settle(aim.sink.dataset)
                self._reads.settle(aim.sink.dataset)
                self._reading.written(jvm, aim.rows)
            skips = all(aim.sink.skips for aim in aims)
            captured = []
            if not skips:
                held += [self._claim(aim.sink.dataset) for aim in aims]
                captured = [self._traced(jvm, aim, site, cut) for aim in aims]
                order.check_refusals(jvm, aims, [c.plan for c in captured])
        except Exception as e:
            reason = self._troubles.refuse(e, site)
            return self._plainly(spark, order, aims, held, lambda: reason)
        if skips:
            return self._watch.unaudited(order.plain)
        rewritten = time.perf_counter()
        failed: Exception | None = None
        try:
            result = order.run(jvm, [c.plan for c in captured])
        except Exception as e:
            failed = e  # handled below, so that an error of the second run, which is the user's, does not chain to it
        if failed is not None:
            return self._again(jvm, order, aims, held, failed, site)
        done = time.perf_counter()
        for aim in aims:
            caches.observed(jvm, aim.plan)
        try:
            for aim, traced in zip(aims, captured, strict=True):
                self._seal(traced, aim, site)
        finally:
            _release(held)
        names = ", ".join(aim.sink.dataset.uri for aim in aims)
        self.costs.append(Cost(names, rewritten - began, time.perf_counter() - done))
        return result

    def add(self, write: PendingWrite) -> None:
        """Store a write that Spark did not make from a captured plan."""
        with self._adding:
            self._reads.flush()  # first, because a write's edges to reads go to those stored before it
            self._step.add(write)

    def changed(self, seen: Iterable[Seen], reason: Callable[[Seen], Untracked], since: float) -> bool:
        """Store the outputs of commands that were not captured. Return whether the folder of any is known.

        Parameters
        ----------
        seen : iterable of Seen
        reason : function
            Returns why a command was not captured.
        since : float
            When they began, in seconds since 1970. Older files of the table count as read.
        """
        known = {each.folder: each for each in seen if each.folder}
        for each in known.values():
            self._changed(each, reason(each), int(since * 1000))
        return bool(known)

    def _changed(self, seen: Seen, reason: Untracked, began: int) -> None:
        jvm = self._sessions.any()
        if jvm is None:
            return
        try:
            dataset, files = files_of(jvm, seen.folder)
            output = version_of(dataset, [(f, f.mtime >= began) for f in files], "")
            before = version_of(dataset, [(f, False) for f in files if f.mtime < began], "")
            read, taken = Inputs((), seen.kind, "its plan is no longer in memory"), seen.taken()
            if taken is not None:
                read = sum((self._reading.inputs(jvm, plan) for plan in taken), NONE)
            inputs = (*([before] if before.files.paths else []), *read.uncounted())
            self.add(PendingWrite(output, "untracked", inputs, reason=reason, site=reason.site, complete=read.complete))
        except Exception as e:
            log.debug("provspark: the output of an untracked command is not known", exc_info=e)

    def profile(self) -> None:
        """Profile outputs and inputs if requested. A failure only logs a warning."""
        if self._added is None:
            return
        from provspark.tracker.session.profiles import profiles_of

        try:
            for sealed, added in self._added:
                self._step.profile(added, profiles_of(sealed, added))
        except ProvSparkError as e:
            log.warning("provspark: profiles were not stored: %s", e)

    def _claim(self, dataset: Dataset) -> Claim:
        """Claim a dataset in the store for this step's write. Raise ConcurrentWriteError if another step holds it."""
        return claim(self._store, dataset, self._owner)

    def _traced(self, jvm: Jvm, aim: Aim, site: str, cut: int) -> TracedWrite:
        """Rewrite the plan. UnsupportedPlanError names the script's line of the refused operator."""
        sessions = self._sessions
        try:
            placed = str(jvm.new("Places").dependent(aim.plan))
            if placed:
                raise UnsupportedPlanError(REPARTITION, _DEALT.format(placed))
            unknown = str(jvm.new("Unknowns").dependent(aim.plan))
            if unknown:
                raise UnsupportedPlanError("InSubquery", _UNKNOWN.format(unknown))
            caches, users = sessions.caches(jvm), aim.rows.queryExecution().analyzed()
            read = behind(jvm, sessions, self._reads, users, cut)
            return TracedWrite(jvm, aim.sink, aim.plan, self._step.taps, caches, read)
        except UnsupportedPlanError as e:
            kind = e.node.split(" ")[0]
            where = of_node(jvm, kind, aim.rows.queryExecution().analyzed())
            raise e.at(e.site or where or site) from None

    def _seal(self, captured: TracedWrite, aim: Aim, site: str) -> None:
        try:
            sealed = captured.seal(self._watch.claim(aim.sink), site)
            self._reads.known(sealed)
            self._files.sealed(sealed)
            with self._adding:
                self._reads.flush()
                added = self._step.add(sealed)
                if self._added is not None:
                    self._added.append((sealed, added))
        except Exception as e:
            reason = Untracked("seal", f"{aim.sink.dataset} was written, but its lineage is lost: {e}", site)
            self._record_plain(aim.sink, reason, captured.read(), lambda: captured.draft)
            self._troubles.trouble(reason, e)

    def _again(self, jvm: Jvm, order: Order, aims: list[Aim], held: list[Claim], error: Exception, site: str) -> Any:
        """Run the user's own write after the captured one failed. If it fails as well, its error is the user's.

        It may succeed, because Spark skips some work that capture needs, such as rows after the first match of EXISTS.
        """
        blamed = ours(error, jvm)
        # If lost lineage stops the script, a second run could at best end in that. The first error says more.
        if stopped(error, jvm) or (self._troubles.fatal and not blamed) or not all(aim.sink.undone() for aim in aims):
            _release(held)
            raise error
        if blamed:
            reason = self._troubles.refuse(CaptureError(f"the rewritten plan failed: {error}"), site)
            return self._plainly(jvm.spark, order, aims, held, lambda: reason)
        line = said(error)
        log.warning("provspark: the write failed with capture and runs again without it: %s", line)
        alone = CaptureError(f"the write failed with capture and succeeded without it: {line}")
        return self._plainly(jvm.spark, order, aims, held, lambda: self._troubles.refuse(alone, site))

    def _plainly(
        self, spark: Any, order: Order, aims: list[Aim], held: list[Claim], why: Callable[[], Untracked]
    ) -> Any:
        """Run the user's own write and store its outputs. `why` is called after the write: it may stop the script."""
        try:
            read = [self._inputs(spark, aim.rows) for aim in aims]  # before it overwrites what it reads
            left: list[Seen] = []
            lost = NONE if aims else self._rows_of(spark, order)
            began = time.time()
            result = self._watch.watched(order.plain, lambda seen, done: left.extend(seen))
            reason = why()
            if not aims and not self.changed(left, lambda seen: reason, began):
                self._reading.lost(lambda: lost, reason.node, reason.why, reason.site)
            for aim, some in zip(aims, read, strict=True):
                self._record_plain(aim.sink, reason, some, lambda plan=aim.plan: self._drafted(spark, plan))  # type: ignore[misc]
            return result
        finally:
            _release(held)

    def _rows_of(self, spark: Any, order: Order) -> Inputs:
        """Return the inputs of an order whose outputs are unknown."""
        try:
            return sum((self._inputs(spark, rows) for rows in order.rows()), NONE)
        except Exception as e:
            log.debug("provspark: the inputs of an untracked write are not known", exc_info=e)
            return NONE

    def _inputs(self, spark: Any, rows: Any) -> Inputs:
        """Return the inputs of an untracked write."""
        try:
            return self._reading.inputs(self._sessions.jvm(spark), rows.queryExecution().analyzed())
        except Exception as e:
            log.debug("provspark: the inputs of an untracked write are not known", exc_info=e)
            return Inputs((), "DataFrame", str(e))

    def _drafted(self, spark: Any, plan: Any) -> Draft | None:
        """Return the operations of an untracked write."""
        jvm = self._sessions.jvm(spark)
        return self._sessions.caches(jvm).operations.read(jvm, plan)

    def _record_plain(self, sink: Output, reason: Untracked, read: Inputs, drafted: Callable[[], Draft | None]) -> None:
        """Store the inputs and the output of an untracked write, so that questions about them say why they end here."""
        try:
            left = PendingWrite(sink.observe(), "untracked", read.uncounted(), reason=reason, site=reason.site)
            left = replace(left, complete=read.complete)
            draft = drafted()
            if draft is not None:
                left = replace(left, operations=built(draft))
            with self._adding:
                self._reads.flush()
                self._step.add(left)
        except Exception as e:
            log.debug("provspark: the output of an untracked write is not known", exc_info=e)


def _release(held: list[Claim]) -> None:
    for each in held:
        try:
            each.release()
        except Exception as e:  # the claim expires by itself
            log.debug("provspark: a claim could not be released", exc_info=e)
