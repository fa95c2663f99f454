"""Capture of what a script reads on the driver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from provspark.model.datasets import Field
from provspark.model.driver_datasets import FIT
from provspark.model.errors import UnsupportedPlanError
from provspark.model.pending import PendingWrite
from provspark.model.writes import Untracked
from provspark.tracker.boundary import Boundary, guarded
from provspark.tracker.files.step_files import FilesOfDriver
from provspark.tracker.intercept.actions import FITS, METHODS, Action
from provspark.tracker.plan.rewrite import Rewriter
from provspark.tracker.script.shown_frames import EAGER, takes_text
from provspark.tracker.script.sites import caller
from provspark.tracker.session.accumulators import Accumulated, accumulators_exist
from provspark.tracker.session.coarse_read import CoarseRead, ReadPlan
from provspark.tracker.session.driver_reads import DriverReads
from provspark.tracker.session.failures import said, stopped
from provspark.tracker.session.fitted_models import Models, columns_named, learned
from provspark.tracker.session.possible_edges import Behind
from provspark.tracker.session.read_inputs import NONE, Inputs, ReadInputs
from provspark.tracker.session.reads_behind import behind
from provspark.tracker.session.row_iterators import Taking
from provspark.tracker.session.saved_models import LoadedModel, model_files, saved_model
from provspark.tracker.session.sessions import Sessions
from provspark.tracker.session.traced_read import Ask, TracedRead, TracedRows
from provspark.tracker.session.troubles import log
from provspark.tracker.spark.jvm import Jvm

__all__ = ["ReadCapture"]

_SETTING = "spark.provspark.driverReads"
_MOST = "spark.provspark.driverReads.traced"
MOST = 100
"""Default limit of the reads in a step whose rows are followed one by one."""
_ARROW = "spark.sql.execution.arrow.pyspark.enabled"
_UNREAD = "capture could not determine what the driver read: "


@dataclass(frozen=True, slots=True)
class _Plan:
    """Properties of a plan that the script reads."""

    jvm: Jvm
    inputs: Inputs
    single: bool
    fields: tuple[Field, ...]
    most: int
    """Limit of the step's reads whose rows are followed one by one."""

    @property
    def reads(self) -> bool:
        """Whether it reads anything but rows that the script passed in."""
        return bool(self.inputs.sources or self.inputs.node)


class ReadCapture:
    """Capture of one step's reads on the driver.

    Parameters
    ----------
    sessions : Sessions
    reads : DriverReads
        Receives the reads.
    boundary : Boundary
    files : FilesOfDriver
    folder : str
        URL of the step's folder for sidecar files.
    """

    def __init__(
        self, sessions: Sessions, reads: DriverReads, boundary: Boundary, files: FilesOfDriver, folder: str
    ) -> None:
        self._sessions, self._reads, self.boundary, self._folder = sessions, reads, boundary, folder
        self._files = files
        self._followed = 0
        """Number of reads so far for which following rows one by one was attempted."""
        self.models = Models()
        self._accumulated = Accumulated()
        self._java: Any = None
        self._inputs: ReadInputs | None = None
        self._making = threading.Lock()
        self._unannounced: ReadInputs | None = None
        """Lists inputs of what is not stored as a read, without announcing to `files` that Spark reads them."""

    def clear(self) -> None:
        """Forget everything that belongs to the SparkContext, which is about to stop."""
        self._java = self._inputs = self._unannounced = None

    def frame(self, frame: Any, name: str, args: tuple[Any, ...], call: Callable[[Any], Any]) -> Any:
        """Run an action of a DataFrame: call `call` with the DataFrame or a traced one, and return the result."""
        ready = None
        with self._guard():
            ready = self._ready(frame, METHODS["DataFrame"][name], name, args)
        if ready is None:
            return call(frame)
        plan, trace, read, before = ready
        result, trace, read = self._run(frame, plan, trace, read, call)
        with self._guard():
            if name == "toLocalIterator":
                taking = Taking(trace, read, before)
                self._reads.follow(taking)
                return taking.over(result)
            read = replace(read, rows=size(result))
            self._reads.add(read if trace is None else TracedRows(trace, range(read.rows), read), before)
        return result

    def _ready(
        self, frame: Any, action: Action, name: str, args: tuple[Any, ...]
    ) -> tuple[_Plan, TracedRead | None, CoarseRead, Behind | None] | None:
        """Describe a read before it runs. Return None if it reads nothing."""
        plan = self._of_frame(frame)
        if plan is None or not plan.reads or _takes_none(action, args):
            return None
        self._accumulated.note(plan.inputs)
        read = CoarseRead(plan.inputs, f"DataFrame.{name}", caller(), 1, plan.fields, _single(action, plan))
        before: Behind | None = None
        if not read.single:
            with self._guard():
                before = self._before(plan.jvm, frame)
        if not action.tapped or read.single:
            return plan, None, read, before
        return plan, *self._traced(frame, plan, action, args, read), before

    def _before(self, jvm: Jvm, frame: Any) -> Behind:
        """Return the earlier reads that the rows of a DataFrame may derive from."""
        if not self._reads.begun:
            return Behind()
        analysed = frame._jdf.queryExecution().analyzed()
        return behind(jvm, self._sessions, self._reads, analysed, self._reads.count)

    @guarded(_UNREAD, "reads")
    def shown(self, frame: Any, name: str, rows: int) -> None:
        """Record a DataFrame that printed at most so many of its rows. It is a read if the script uses the text."""
        site = caller()
        conf, most = frame.sparkSession._jconf, rows
        if name in EAGER:
            if not conf.isReplEagerEvalEnabled():
                return
            most = int(conf.replEagerEvalMaxNumRows())
        taken = takes_text(name, site)
        plan = self._of_frame(frame) if taken or accumulators_exist() else None
        if plan is None or not plan.reads:
            return
        self._accumulated.note(plan.inputs)
        if taken and most > 0:
            read = CoarseRead(plan.inputs, f"DataFrame.{name}", site, most, plan.fields, plan.single)
            self._reads.add(replace(read, rows=1) if read.single else read, self._before(plan.jvm, frame))

    def saved(self, instance: Any, path: str) -> PendingWrite | None:
        """Return the write of a model's files that were just saved, or None if there is no session."""
        jvm, site = self._sessions.any(), caller()
        if jvm is None or not path:
            return None
        self._reads.cut()
        spans = [self._reads.span(number) for number in self.models.within(instance)]
        where = str(self._reader(jvm)[0].qualified(jvm.session, path))
        return saved_model(jvm, where, spans, self._reads.rows(), site, learned=learned(instance))

    @guarded(_UNREAD, "reads")
    def loaded(self, instance: Any, path: str) -> None:
        """Record the files that a model was loaded from. They are context of the rows that it transforms."""
        jvm = self._sessions.any()
        if jvm is None or not path or not self._on(jvm) or not learned(instance):
            return
        where = str(self._reader(jvm)[0].qualified(jvm.session, path))
        model = LoadedModel(model_files(jvm, where, written=False), caller())
        self.models.fitted(None, instance, self._reads.add(model))

    @guarded(_UNREAD, "reads")
    def lost(self, rows: Callable[[], Inputs], node: str, why: str, site: str) -> None:
        """Record rows that are about to go where capture can't follow them."""
        inputs = rows()
        if inputs.sources:
            self._reads.add(CoarseRead(replace(inputs, node=node, why=why), node, site, 1))

    def of(self, rows: Any) -> Inputs:
        """Return the inputs of a PySpark DataFrame or RDD. They are empty if capture of reads is off."""
        from pyspark import RDD

        if isinstance(rows, RDD):
            return self._of_rdd(rows)
        jvm = self._sessions.jvm(rows.sparkSession)
        return self.inputs(jvm, rows._jdf.queryExecution().analyzed()) if self._on(jvm) else NONE

    def _traced(
        self, frame: Any, plan: _Plan, action: Action, args: tuple[Any, ...], read: CoarseRead
    ) -> tuple[TracedRead | None, CoarseRead]:
        """Trace an action's plan. Return None and the read with the reason if rows can't be followed one by one."""
        if self._followed >= plan.most:
            why = (
                f"the step has more than {plan.most} reads of rows, the most whose rows capture follows one by one. "
                f"Raise {_MOST} to follow more"
            )
            return None, replace(read, reason=Untracked(read.action, why, read.site))
        self._followed += 1
        try:
            jvm = plan.jvm
            java, caches = self._reader(jvm)[0], self._sessions.caches(jvm)
            ask = Ask(action.limit, _number(args), _stops(action, frame), action.piecewise)
            analysed = frame._jdf.queryExecution().analyzed()
            return TracedRead(jvm, caches, java, f"{self._folder}/d{self._followed}", analysed, ask), read
        except UnsupportedPlanError as e:
            return None, replace(read, reason=Untracked(e.node, e.why, e.site or read.site))
        except Exception as e:
            log.debug("provspark: the rows of a read are not followed one by one", exc_info=e)
            return None, replace(read, reason=Untracked(read.action, f"{type(e).__name__}: {e}", read.site))

    def _run(
        self, frame: Any, plan: _Plan, trace: TracedRead | None, read: CoarseRead, call: Callable[[Any], Any]
    ) -> tuple[Any, TracedRead | None, CoarseRead]:
        """Run the script's call with the traced plan. If that fails, run it unchanged."""
        from pyspark.sql import DataFrame

        rows = None
        if trace is not None:
            with self._guard():
                rows = DataFrame(trace.rows, frame.sparkSession)
        if rows is None:
            return call(frame), None, read
        failed: Exception | None = None
        try:
            return call(rows), trace, read
        except Exception as e:
            failed = e  # handled below, so that an error of the second run, which is the user's, does not chain to it
        cancelled = False
        with self._guard():
            cancelled = stopped(failed, plan.jvm)
        if cancelled:
            raise failed
        result = call(frame)
        why = f"the read failed with capture and succeeded without it: {said(failed)}"
        return result, None, replace(read, reason=Untracked(read.action, why, read.site))

    @guarded(_UNREAD, "reads")
    def observed(self, frame: Any) -> None:
        """Record what an Observation returned for an observed DataFrame."""
        plan = self._of_frame(frame)
        if plan is not None and plan.reads:
            single = bool(self._java.observed(frame._jdf))  # `_of_frame` created `_java`
            self._reads.add(CoarseRead(plan.inputs, "Observation.get", caller(), 1, single=single))

    @guarded(_UNREAD, "reads")
    def plan(self, jvm: Jvm, analysed: Any, name: str) -> None:
        """Record a read of an analysed plan's values by SQL."""
        plan = self._of_plan(jvm, str(self._reader(jvm)[0].of(analysed)))
        if self._on(jvm) and plan.reads:
            self._accumulated.note(plan.inputs)
            self._reads.add(CoarseRead(plan.inputs, name, caller(), 1, plan.fields))

    @guarded(_UNREAD, "reads")
    def rdd(self, rdd: Any, name: str, result: Any) -> None:
        """Record an action of an RDD and its result."""
        inputs = self._of_rdd(rdd)
        if inputs.sources or inputs.node:
            single = METHODS["RDD"][name].returns == "number" if name in METHODS["RDD"] else False
            rows = 1 if single else size(result)
            self._reads.add(CoarseRead(inputs, f"RDD.{name}", caller(), rows, single=single))

    @guarded(_UNREAD, "reads")
    def computed(self, rows: Any) -> None:
        """Record that Spark is about to compute a DataFrame or an RDD, whose functions may add to accumulators."""
        if accumulators_exist():
            self._accumulated.note(self.of(rows))

    @guarded(_UNREAD, "reads")
    def written(self, jvm: Jvm, analysed: Any) -> None:
        """Record that Spark is about to compute the rows of a command, whose functions may add to accumulators."""
        if accumulators_exist() and self._on(jvm):
            self._accumulated.note(self.inputs(jvm, analysed))

    @guarded(_UNREAD, "reads")
    def accumulated(self, value: Any) -> None:
        """Record that the script read the value of an accumulator."""
        read = self._accumulated.read(value, caller(), size(value))
        if read is not None:
            self._reads.add(read)

    @guarded(_UNREAD, "reads")
    def learned(self, values: Sequence[Any], name: str, result: Any) -> None:
        """Record what MLlib learned from the DataFrames and RDDs among `values`, the arguments of the call."""
        from pyspark import RDD
        from pyspark.sql import DataFrame

        inputs, fields = NONE, list[Field]()
        for value in values:
            if isinstance(value, DataFrame):
                plan = self._of_frame(value)
                inputs += plan.inputs if plan is not None else NONE
                fields += plan.fields if plan is not None else ()
            elif isinstance(value, RDD):
                inputs += self._of_rdd(value)
        self._accumulated.note(inputs)
        if not inputs.sources and not inputs.node:
            return
        if name not in FITS:
            number = self._reads.add(CoarseRead(inputs, name, caller(), 1))
            of_model = "_java_obj" in getattr(values[0], "__dict__", ())  # else it may be a DataFrame, or anything
            numbers = (number, *self.models.of(values[0])) if of_model else (number,)
            self._learned_by(numbers, name, result)
            return
        named = columns_named(values[0], [field.name for field in fields])
        columns = self._columns(values[1]) if len(values) == 2 and isinstance(values[1], DataFrame) else None
        read = CoarseRead(inputs, FIT, caller(), 1, tuple(f for f in fields if f.name in named), plan=columns)
        self.models.fitted(values[0], result, self._reads.add(read))

    @guarded(_UNREAD, "reads")
    def called(self, owner: Any, name: str, result: Any) -> None:
        """Record what a method of a model returned. Rows of a returned DataFrame have the model as context."""
        numbers = self.models.of(owner)
        if numbers:
            self._learned_by(numbers, name, result)

    def _learned_by(self, numbers: tuple[int, ...], name: str, result: Any) -> None:
        """Mark an MLlib result with the numbers of the reads that it was learned from."""
        from pyspark.sql import DataFrame

        if not isinstance(result, DataFrame):
            self.models.returned(result, numbers)
            return
        jvm = self._sessions.jvm(result.sparkSession)
        jvm.plans.models(result._jdf, " ".join(map(str, sorted(numbers))))
        local = self._sessions.caches(jvm).local
        if local.unknown(result._jdf):
            self._sessions.learned(jvm).note(result._jdf, f"MLlib creates the rows of {name} on the driver.")
            local.note(result._jdf, caller(), local=False)

    def _columns(self, frame: Any) -> ReadPlan | None:
        """Return the operations that a DataFrame's columns come from, or None if they are unknown."""
        try:
            jvm = self._sessions.jvm(frame.sparkSession)
            caches = self._sessions.caches(jvm)
            plan = caches.operations.numbered(caches.current(jvm, frame._jdf.queryExecution().analyzed()))
            draft = caches.operations.read(jvm, plan)
            rewriter = Rewriter(jvm, self._folder, caches)
            rewriter.run(plan)
        except Exception as e:
            log.debug("provspark: the source columns of a fit are not known", exc_info=e)
            return None
        read = tuple(scan.listing.identity for scan in rewriter.scans if scan.listing is not None)
        if draft is None or len(read) < len(rewriter.scans):
            return None
        return ReadPlan(draft, read, tuple(rewriter.paths))

    def inputs(self, jvm: Jvm, analysed: Any) -> Inputs:
        """Return the inputs of an analysed plan without announcing them to `files` or counting their rows."""
        java = self._reader(jvm)[0]
        if self._unannounced is None:
            self._unannounced = ReadInputs(java, self._sessions.caches(jvm), self._on, lambda dataset: None)
        return self._unannounced.of(jvm, map(int, str(java.of(analysed)).split("\1")[1].split()))

    def _of_frame(self, frame: Any) -> _Plan | None:
        """Return the plan of a DataFrame, or None if capture of reads is off."""
        jvm = self._sessions.jvm(frame.sparkSession)
        on, most, text = str(self._reader(jvm)[0].of(frame._jdf, _SETTING, _MOST)).split("\1", 2)
        if on.lower() == "false":
            self._reads.setting = "off"
            return None
        return self._of_plan(jvm, text, int(most) if most.isdigit() else MOST)

    def _of_rdd(self, rdd: Any) -> Inputs:
        """Return the inputs of a PySpark RDD. They are empty if capture of reads is off."""
        from pyspark.core.rdd import PipelinedRDD

        jvm = self._sessions.any()
        if jvm is None or not any(map(self._on, self._sessions.every())):
            return NONE
        java = rdd._prev_jrdd if isinstance(rdd, PipelinedRDD) else rdd._jrdd  # `_jrdd` would pickle its functions
        return self._reader(jvm)[1].of_rdd(java.rdd())

    def _of_plan(self, jvm: Jvm, text: str, most: int = MOST) -> _Plan:
        """Parse a plan's description by `of` in java/intercept/Reads.java."""
        kind, leaves, fields = text.split("\1")
        inputs = self._reader(jvm)[1].of(jvm, map(int, leaves.split()))
        named = fields.split("\0")[:-1]
        columns = tuple(Field(n, t) for n, t in zip(named[::2], named[1::2], strict=True))
        return _Plan(jvm, inputs, kind == "single", columns, most)

    def _reader(self, jvm: Jvm) -> tuple[Any, ReadInputs]:
        with self._making:  # threads may start at the same time, and one object must number all leaves
            if self._inputs is None:
                self._java = jvm.new("Reads")
                self._inputs = ReadInputs(self._java, self._sessions.caches(jvm), self._on, self._files.listed)
            return self._java, self._inputs

    def _on(self, jvm: Jvm) -> bool:
        on = str(jvm.session.conf().get(_SETTING, "true")).lower() != "false"
        if not on:
            self._reads.setting = "off"
        return on

    def _guard(self) -> AbstractContextManager[None]:
        return self.boundary.guard(_UNREAD, "reads")


def size(result: Any) -> int:
    """Return the number of rows of an action's result: 1 for a single value, 0 for None."""
    if result is None:
        return 0
    if hasattr(result, "num_rows"):
        return int(result.num_rows)
    if isinstance(result, (list, dict, set)) or hasattr(result, "iloc"):
        return len(result)
    return 1


def _single(action: Action, plan: _Plan) -> bool:
    return action.returns == "number" or (action.by_plan and plan.single)


def _number(args: tuple[Any, ...]) -> int:
    """Return how many rows an action with these arguments reads, or -1 if Spark refuses them."""
    value = args[0] if args else None
    if value is None:
        return 1
    return value if type(value) is int else -1


def _takes_none(action: Action, args: tuple[Any, ...]) -> bool:
    return bool(action.limit) and _number(args) <= 0


def _stops(action: Action, frame: Any) -> bool:
    """Whether Spark stops reading as soon as a limit on top of the plan has its rows. With Arrow it does not."""
    return action.stops or (action.unless_arrow and str(frame.sparkSession.conf.get(_ARROW)).lower() == "false")
