"""Capture of writes: runs them with rewritten plans that record where rows come from, or unchanged if it can't."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from provspark.index_store.store.writer import StepWriter
from provspark.model.datasets import Dataset
from provspark.model.errors import CaptureError, ProvSparkError, UnsupportedPlanError
from provspark.model.pending import PendingWrite
from provspark.model.writes import Untracked, Write
from provspark.tracker.families.distribution import REPARTITION
from provspark.tracker.files.step_files import FilesOfDriver
from provspark.tracker.intercept.commands import Aim, Command
from provspark.tracker.intercept.events import PLAIN, Steps
from provspark.tracker.plan.operations import Draft, built
from provspark.tracker.plan.rewrite import Rewriter
from provspark.tracker.script.sites import caller, of_node
from provspark.tracker.seal.captured_write import TracedWrite
from provspark.tracker.session.driver_reads import DriverReads
from provspark.tracker.session.failures import ours, said, stopped
from provspark.tracker.session.read_capture import ReadCapture
from provspark.tracker.session.read_inputs import NONE, Inputs
from provspark.tracker.session.reads_behind import behind
from provspark.tracker.session.sessions import Sessions
from provspark.tracker.session.troubles import Troubles, log
from provspark.tracker.sinks import Output, WriteMetrics
from provspark.tracker.sinks.claims import Claim, claim
from provspark.tracker.sinks.uncounted import dataset_of, files_of, version_of
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
        self._adding = files.adding
        self._added: list[tuple[PendingWrite, Write]] | None = [] if profile else None
        self.costs: list[Cost] = []

    def run(self, command: Command) -> Steps:
        """Capture a command that writes. Yields the command to run in its place, or `PLAIN`."""
        site = caller()
        held: list[Claim] = []
        try:
            yield from self._run(command, site, held)
        finally:
            for each in held:
                _release(each)

    def _run(self, command: Command, site: str, held: list[Claim]) -> Steps:
        """Capture a command. Claims on its output are added to `held`."""
        began = time.perf_counter()
        jvm = command.jvm
        aim: Aim | None = None
        try:
            cut = self._reads.cut()
            if command.skipped():
                yield PLAIN
                return
            caches = self._sessions.caches(jvm)
            aim = command.aim(lambda analysed: caches.current(jvm, analysed))
            self.settle(jvm, aim.sink.dataset)  # now, because the write may replace files that the step has read
            self._reading.written(jvm, aim.users)
            if aim.sink.skips:
                yield PLAIN
                return
            held.append(claim(self._store, aim.sink.dataset, self._owner))
            traced = self._traced(jvm, aim, site, cut)
            rewritten = command.replaced(traced.plan)
        except Exception as e:
            yield from self._plainly(command, aim, self._reason(e, site, now=aim is not None))
            return
        ready = time.perf_counter()
        failed = yield rewritten
        if failed is not None:
            yield from self._again(command, aim, failed, site)
            return
        done = time.perf_counter()
        caches.observed(jvm, aim.plan)
        self._seal(traced, aim, command.written(), site)
        self.costs.append(Cost(aim.sink.dataset.uri, ready - began, time.perf_counter() - done))

    def settle(self, jvm: Jvm, dataset: Dataset) -> None:
        """Count the rows that the step has read of a dataset that is about to change."""
        self._sessions.caches(jvm).settle(dataset)
        self._reads.settle(dataset)

    def add(self, write: PendingWrite) -> None:
        """Store a write that Spark did not make from a captured plan."""
        with self._adding:
            self._reads.flush()  # first, because a write's edges to reads go to those stored before it
            self._step.add(write)

    def _changed(self, jvm: Jvm, folder: str, read: Inputs, reason: Untracked, began: float) -> None:
        """Store the output of a command that was not captured. It read the files from before `began` (a Unix time)."""
        try:
            since = int(began * 1000)
            dataset, files = files_of(jvm, folder)
            output = version_of(dataset, [(f, f.mtime >= since) for f in files], "")
            before = version_of(dataset, [(f, False) for f in files if f.mtime < since], "")
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

    def _traced(self, jvm: Jvm, aim: Aim, site: str, cut: int) -> TracedWrite:
        """Rewrite the plan. UnsupportedPlanError names the script's line of the refused operator."""
        sessions = self._sessions
        try:
            _check(jvm, aim.plan)
            read = behind(jvm, sessions, self._reads, aim.users, cut)
            caches = sessions.caches(jvm)
            return TracedWrite(jvm, aim.sink, aim.plan, self._step.taps, caches, read)
        except UnsupportedPlanError as e:
            kind = e.node.split(" ")[0]
            where = of_node(jvm, kind, aim.users)
            raise e.at(e.site or where or site) from None

    def check(self, jvm: Jvm, analysed: Any) -> None:
        """Check that capture can follow a plan whose rows are about to be written.

        Raises
        ------
        UnsupportedPlanError
        """
        caches = self._sessions.caches(jvm)
        plan = caches.current(jvm, analysed)
        _check(jvm, plan)
        Rewriter(jvm, self._step.taps, caches).run(plan)

    def _seal(self, captured: TracedWrite, aim: Aim, metrics: WriteMetrics | None, site: str) -> None:
        try:
            sealed = captured.seal(metrics, site)
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

    def _again(self, command: Command, aim: Aim, error: Exception, site: str) -> Steps:
        """Run the user's own command after the captured one failed. If it fails as well, its error is the user's.

        It may succeed, because Spark skips some work that capture needs, such as rows after the first match of EXISTS.
        """
        jvm = command.jvm
        blamed = ours(error, jvm)
        # If lost lineage stops the script, a second run could at best end in that. The first error says more.
        if stopped(error, jvm) or (self._troubles.fatal and not blamed) or not aim.sink.undone():
            return
        if blamed:
            failure = CaptureError(f"the rewritten plan failed: {error}")
            yield from self._plainly(command, aim, self._reason(failure, site, now=True))
            return
        line = said(error)
        log.warning("provspark: the write failed with capture and runs again without it: %s", line)
        alone = CaptureError(f"the write failed with capture and succeeded without it: {line}")
        yield from self._plainly(command, aim, self._reason(alone, site, now=False))

    def _reason(self, error: Exception, site: str, *, now: bool) -> Callable[[], Untracked]:
        """Return a function that returns why a command is untracked.

        The reason is recorded `now`, or if lost lineage stops the script: then this raises. Otherwise the function
        records it, when the command has written something.
        """
        if not now and not self._troubles.fatal:
            return lambda: self._troubles.refuse(error, site)
        reason = self._troubles.refuse(error, site)
        return lambda: reason

    def _plainly(self, command: Command, aim: Aim | None, why: Callable[[], Untracked]) -> Steps:
        """Run the user's own command and store its output. `why` is called after it: it may stop the script."""
        jvm = command.jvm
        read = self._inputs(command)  # before it overwrites what it reads
        began = time.time()
        folder = "" if aim is not None else command.folder()
        if folder:
            self.settle(jvm, dataset_of(folder))
        failed = yield PLAIN
        if failed is not None:
            return
        reason = why()
        if aim is not None:
            plan = aim.plan
            self._record_plain(aim.sink, reason, read, lambda: self._drafted(jvm, plan))
        elif folder:
            self._changed(jvm, folder, read, reason, began)
        elif folder := command.folder():  # of a table that it created, or moved: all files are new there
            self._changed(jvm, folder, read, reason, 0.0)
        else:
            self._reading.lost(lambda: read, reason.node, reason.why, reason.site)

    def _inputs(self, command: Command) -> Inputs:
        """Return the inputs of an untracked command."""
        if not command.complete:
            return Inputs((), command.name, "it reads files without a plan")
        try:
            return sum((self._reading.inputs(command.jvm, plan) for plan in command.rows), NONE)
        except Exception as e:
            log.debug("provspark: the inputs of an untracked write are not known", exc_info=e)
            return Inputs((), command.name, str(e))

    def _drafted(self, jvm: Jvm, plan: Any) -> Draft | None:
        """Return the operations of an untracked write."""
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


def _check(jvm: Jvm, plan: Any) -> None:
    placed = str(jvm.new("Places").dependent(plan))
    if placed:
        raise UnsupportedPlanError(REPARTITION, _DEALT.format(placed))
    unknown = str(jvm.new("Unknowns").dependent(plan))
    if unknown:
        raise UnsupportedPlanError("InSubquery", _UNKNOWN.format(unknown))


def _release(held: Claim) -> None:
    try:
        held.release()
    except Exception as e:  # the claim expires by itself
        log.debug("provspark: a claim could not be released", exc_info=e)
