"""What the script caches or checkpoints: computed once, with the provenance columns beside the user's columns.

Under each entry of Spark's cache stands the traced plan (java/session/CacheEntries.java), so whatever finds the entry
uses it: frames made before `cache()` as after, SQL, tables. A write that reads it goes on from its provenance columns,
and reads the notes of the taps within as if they were its own, whichever action computed it.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from provspark.model.datasets import Dataset
from provspark.model.errors import CaptureError, UnsupportedPlanError
from provspark.tracker.families.cached import CACHE, RDD, TRANSPOSE
from provspark.tracker.plan.operations import OperationReader
from provspark.tracker.plan.provenance_columns import Traced
from provspark.tracker.plan.rewrite import PlanNode, Rewriter
from provspark.tracker.session.plan_tracer import PlanTracer
from provspark.tracker.session.rdds import Rdds
from provspark.tracker.session.traced_cache import TracedCache
from provspark.tracker.sources import Scan
from provspark.tracker.sources.local import LocalSites
from provspark.tracker.spark.jvm import Jvm
from provspark.tracker.spark.reasons import reason

log = logging.getLogger(__name__)


class Caches:
    """What is cached in one SparkContext, since the step began or before.

    Parameters
    ----------
    jvm : Jvm
    taps : str
        URL of the step's folder for sidecars.
    site : function of (node's class, plan)
        Tells the script's line.
    """

    def __init__(self, jvm: Jvm, taps: str, site: Callable[[Jvm, str, Any], str]) -> None:
        self._java: Any = jvm.new("CacheEntries")
        self._plans: Any = jvm.plans
        self.local = LocalSites(jvm)
        self.operations = OperationReader(jvm)
        self._tracer = PlanTracer(taps, site, self.operations, self)
        self.rdds = Rdds(jvm, self._tracer, self.current)
        self._held: dict[int, TracedCache | UnsupportedPlanError] = {}
        """By an entry's number in java/session/CacheEntries.java, what is known of its rows, or why nothing is."""
        self._checkpoints: dict[int, TracedCache | UnsupportedPlanError] = {}
        self._checkpointed: dict[int, Any] = {}
        """The users' analysed plans of checkpoints."""
        self._transposed: dict[int, TracedCache | UnsupportedPlanError] = {}
        self._looking = threading.RLock()

    def look(self, jvm: Jvm) -> None:
        """Put traced plans under what is cached and not known yet; leave what can't be traced as it is."""
        with self._looking:
            # The oldest first: entries that read others find these traced.
            for i in range(self._java.unknown(jvm.session)):
                self._trace(jvm, i)

    def _trace(self, jvm: Jvm, i: int) -> None:
        plan = self._java.plan(jvm.session, i)
        try:
            if self._java.begun(i):
                raise UnsupportedPlanError(CACHE, "what is cached was computed before capture saw it")
            held, whole = self._tracer.traced(jvm, plan)
            number = self._java.replace(jvm.session, i, whole)
            if number >= 0:  # else the script took it out of the cache meanwhile
                self._held[number] = held
                self.operations.cached(self._java.relation(number), held.plan)
        except Exception as e:
            self._held[self._java.keep(i)] = self._tracer.untraced(jvm, plan, e, CACHE, "what is cached")

    def observed(self, jvm: Jvm, plan: Any) -> None:
        """Complete the Observations in what a written user's plan reads from the cache, with its cached parts in it."""
        try:
            self._java.observed(jvm.session, plan)
        except Exception as e:
            log.warning("provspark: an Observation within what is cached gets no values: %s", reason(e))

    def current(self, jvm: Jvm, analysed: Any) -> Any:
        """Return a plan with what is cached now in its place, all of it known."""
        self.look(jvm)
        return self._java.current(jvm.session, analysed)

    def leaf(self, to: Rewriter, relation: Any) -> Traced:
        """Return an InMemoryRelation with its provenance columns; UnsupportedPlanError if it could not be traced."""
        held = self._held.get(self._java.number(relation))
        if held is None:
            raise UnsupportedPlanError(CACHE, "what is cached was not seen when it was")
        if isinstance(held, UnsupportedPlanError):
            raise held
        return held.lend(to, self._java.whole(relation))

    def checkpoint(self, jvm: Jvm, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Checkpoint a Java Dataset by `take`, which gets it or its traced form; return what shows the user's columns.

        What can't be traced is checkpointed as it is.
        """
        analysed = frame.queryExecution().analyzed()
        held: TracedCache | UnsupportedPlanError
        traced = None
        try:
            held, whole = self._tracer.traced(jvm, self.current(jvm, analysed))
            traced = self._java.dataset(jvm.session, whole)
        except Exception as e:
            held = self._tracer.untraced(jvm, analysed, e, RDD, "a checkpoint")
        if traced is None:  # outside of the handler, so that the script's own errors have no other behind them
            made = take(frame)
            self._remember_checkpoint(made, held, analysed)
            return made
        made = take(traced)
        try:
            self._remember_checkpoint(made, held, analysed)
            return self._java.shown(jvm.session, made, analysed.output().size())
        except Exception as e:
            log.warning("provspark: a checkpoint is made again, without capture: %s", reason(e))
            return take(frame)

    def _remember_checkpoint(self, made: Any, held: TracedCache | UnsupportedPlanError, analysed: Any) -> None:
        """A write of a checkpoint that could not be remembered is refused, as one of an RDD that the script made."""
        try:
            rdd = self._java.rdd(made.queryExecution().analyzed())
            self._checkpoints[rdd], self._checkpointed[rdd] = held, analysed
            if isinstance(held, TracedCache):
                self.operations.checkpoint(rdd, held.plan)
        except Exception as e:
            log.warning("provspark: a checkpoint can't be followed: %s", reason(e))

    def transposed(self, jvm: Jvm, frame: Any, plain: Any, take: Callable[[Any], Any]) -> Any:
        """Transpose a Java Dataset by `take`, which computes it at once; each row derives from all input rows.

        What can't be traced is transposed from `plain`.
        """
        analysed = frame.queryExecution().analyzed()
        held: TracedCache | UnsupportedPlanError
        rows = None
        try:
            held, plan = self._tracer.tapped(jvm, self.current(jvm, analysed), "transpose", coarse=False)
            rows = jvm.rows(plan)
        except Exception as e:
            held = self._tracer.untraced(jvm, analysed, e, TRANSPOSE, "what was transposed")
        made = take(plain if rows is None else rows)
        try:
            self._transposed[self._java.transposed(made.queryExecution().analyzed())] = held
        except Exception as e:
            log.warning("provspark: what was transposed can't be followed: %s", reason(e))
        return made

    def transpose_of(self, to: Rewriter, node: PlanNode, plan: Any) -> Traced:
        """Return a transposed frame with provenance columns to all rows that went in."""
        held = self._transposed.get(self._java.transposed(plan))
        if held is None:
            raise UnsupportedPlanError(node.kind, "it was computed before capture began")
        if isinstance(held, UnsupportedPlanError):
            raise held
        provenance = held.whole(to)
        return Traced(to.java.constant(to.java.bare(node.number), len(provenance)), provenance)

    def checkpoint_of(self, plan: Any) -> TracedCache | None:
        """Return what is known of an RDD's rows; UnsupportedPlanError for a checkpoint that can't be traced."""
        held = self._checkpoints.get(self._java.rdd(plan))
        if isinstance(held, UnsupportedPlanError):
            raise held
        return held

    def computes(self, leaf: Any) -> bool:
        """Whether a leaf is an RDD that is no checkpoint and holds no rows that the script handed over."""
        kind = leaf.getClass().getSimpleName()
        return kind == RDD and self._java.rdd(leaf) not in self._checkpoints and not self.local.handed(leaf)

    def scans_of(self, jvm: Jvm, plan: Any) -> Sequence[Scan]:
        """Return what an RDD's rows were read from; UnsupportedPlanError where that is not known."""
        held = self.checkpoint_of(plan)
        return [self.local.scan(jvm, plan, RDD)] if held is None else held.scans

    def plans_of(self, leaf: Any) -> Iterator[Any]:
        """Yield the analysed plans that an RDD's rows were computed from, as far as they are known."""
        rdd = self._java.rdd(leaf)
        plans = [self._checkpointed[rdd]] if rdd in self._checkpointed else []
        if not plans and not self.local.handed(leaf):
            with contextlib.suppress(UnsupportedPlanError):
                plans = [analysed for _, analysed in self.rdds.frames_of(leaf.rdd())]
        for plan in plans:
            yield plan
            for inner in self._plans.computed(plan):
                yield from self.plans_of(inner)

    def settle(self, dataset: Dataset) -> None:
        """Learn what was read of a data set that is about to change, for what is cached whole."""
        for number, held in list(self._held.items()):  # another thread's `look` may add to it
            if isinstance(held, TracedCache) and self._java.loaded(number):
                for scan in held.scans:
                    if scan.dataset.meets(dataset):
                        with contextlib.suppress(CaptureError):  # a write that reads it will tell
                            scan.settle()

    def cache_table(self, jvm: Jvm, text: str) -> Any:
        """Run CACHE TABLE, which computes at once, so that the traced plan is computed; None for another text."""
        cached = None
        try:
            cached = self._java.lazily(jvm.session, text)
            if cached is None:
                return None
            self.look(jvm)
        except Exception as e:
            if cached is None:
                return None  # Spark says what is wrong with the text
            log.warning("provspark: what is cached can't be followed: %s", reason(e))
        cached[1].count()
        return cached[0]

    def restore(self, jvm: Jvm) -> None:
        """Put the users' own plans back where nothing is computed yet."""
        with self._looking:
            self._java.restore(jvm.session)
