"""Caches and checkpoints of the script, computed once with provenance columns next to the user's columns.

Each entry of Spark's cache gets a traced plan (java/session/CacheEntries.java). Everything that finds the entry uses
that plan: DataFrames from before and after `cache()`, SQL, tables. A write that reads the entry continues from its
provenance columns, and uses the notes of its taps like its own, whichever action computed it.
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
    """Cache entries, checkpoints and RDDs of one SparkContext.

    Parameters
    ----------
    jvm : Jvm
    taps : str
        URL of the step's folder for sidecar files.
    site : function
        Returns the script's line, given the session, a node's class name and the plan.
    """

    def __init__(self, jvm: Jvm, taps: str, site: Callable[[Jvm, str, Any], str]) -> None:
        self._java: Any = jvm.new("CacheEntries")
        self._plans: Any = jvm.plans
        self.local = LocalSites(jvm)
        self.operations = OperationReader(jvm)
        self._tracer = PlanTracer(taps, site, self.operations, self)
        self.rdds = Rdds(jvm, self._tracer, self.current)
        self._held: dict[int, TracedCache | UnsupportedPlanError] = {}
        """For each entry's number in java/session/CacheEntries.java, its traced plan, or why it has none."""
        self._checkpoints: dict[int, TracedCache | UnsupportedPlanError] = {}
        self._checkpointed: dict[int, Any] = {}
        """Analysed plans of the user's checkpoints, by RDD."""
        self._transposed: dict[int, TracedCache | UnsupportedPlanError] = {}
        self._looking = threading.RLock()

    def look(self, jvm: Jvm) -> None:
        """Put traced plans under new cache entries. Entries that can't be traced stay as they are."""
        with self._looking:
            # The oldest first, so that entries that read others find these traced.
            for i in range(self._java.unknown(jvm.session)):
                self._trace(jvm, i)

    def _trace(self, jvm: Jvm, i: int) -> None:
        plan = self._java.plan(jvm.session, i)
        try:
            if self._java.begun(i):
                raise UnsupportedPlanError(
                    CACHE, "the entry was computed before capture saw it. Unpersist the DataFrame and cache it again"
                )
            held, whole = self._tracer.traced(jvm, plan)
            number = self._java.replace(jvm.session, i, whole)
            if number >= 0:  # else the script has removed it from the cache meanwhile
                self._held[number] = held
                self.operations.cached(self._java.relation(number), held.plan)
        except Exception as e:
            self._held[self._java.keep(i)] = self._tracer.untraced(jvm, plan, e, CACHE, "what is cached")

    def observed(self, jvm: Jvm, plan: Any) -> None:
        """Complete the Observations in the cache entries that a written plan reads."""
        try:
            self._java.observed(jvm.session, plan)
        except Exception as e:
            log.warning("provspark: an Observation in a cached plan gets no values: %s", reason(e))

    def current(self, jvm: Jvm, analysed: Any) -> Any:
        """Return a plan with cached parts replaced by their cache entries. All these entries are then known."""
        self.look(jvm)
        return self._java.current(jvm.session, analysed)

    def leaf(self, to: Rewriter, relation: Any) -> Traced:
        """Return an InMemoryRelation with its provenance columns, or raise UnsupportedPlanError if it is not traced."""
        held = self._held.get(self._java.number(relation))
        if held is None:
            raise UnsupportedPlanError(
                CACHE, "capture did not see the entry when it was created. Unpersist the DataFrame and cache it again"
            )
        if isinstance(held, UnsupportedPlanError):
            raise held
        return held.lend(to, self._java.whole(relation))

    def checkpoint(self, jvm: Jvm, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Checkpoint a Java Dataset with `take`. Return a Dataset with the user's columns.

        `take` gets the traced Dataset, or the user's if that can't be traced.
        """
        analysed = frame.queryExecution().analyzed()
        held: TracedCache | UnsupportedPlanError
        traced = None
        try:
            held, whole = self._tracer.traced(jvm, self.current(jvm, analysed))
            traced = self._java.dataset(jvm.session, whole)
        except Exception as e:
            held = self._tracer.untraced(jvm, analysed, e, RDD, "a checkpoint")
        if traced is None:  # not in the handler, so that errors of the script don't chain to `e`
            made = take(frame)
            self._remember_checkpoint(made, held, analysed)
            return made
        made = take(traced)
        try:
            self._remember_checkpoint(made, held, analysed)
            return self._java.shown(jvm.session, made, analysed.output().size())
        except Exception as e:
            log.warning("provspark: capture of a checkpoint failed. It is created again without capture: %s", reason(e))
            return take(frame)

    def _remember_checkpoint(self, made: Any, held: TracedCache | UnsupportedPlanError, analysed: Any) -> None:
        """Remember a checkpoint's traced plan. If that fails, writes that read it are refused like those of an RDD."""
        try:
            rdd = self._java.rdd(made.queryExecution().analyzed())
            self._checkpoints[rdd], self._checkpointed[rdd] = held, analysed
            if isinstance(held, TracedCache):
                self.operations.checkpoint(rdd, held.plan)
        except Exception as e:
            log.warning("provspark: capture can't follow a checkpoint: %s", reason(e))

    def transposed(self, jvm: Jvm, frame: Any, plain: Any, take: Callable[[Any], Any]) -> Any:
        """Transpose a Java Dataset with `take`, which computes it at once. Each row derives from all input rows.

        `take` gets the traced `frame`, or `plain` if that can't be traced.
        """
        analysed = frame.queryExecution().analyzed()
        held: TracedCache | UnsupportedPlanError
        rows = None
        try:
            held, plan = self._tracer.tapped(jvm, self.current(jvm, analysed), "transpose", coarse=False)
            rows = jvm.rows(plan)
        except Exception as e:
            held = self._tracer.untraced(jvm, analysed, e, TRANSPOSE, "the input of transpose")
        made = take(plain if rows is None else rows)
        try:
            self._transposed[self._java.transposed(made.queryExecution().analyzed())] = held
        except Exception as e:
            log.warning("provspark: capture can't follow a transposed DataFrame: %s", reason(e))
        return made

    def transpose_of(self, to: Rewriter, node: PlanNode, plan: Any) -> Traced:
        """Return a transposed DataFrame with provenance columns to all its input rows."""
        held = self._transposed.get(self._java.transposed(plan))
        if held is None:
            raise UnsupportedPlanError(node.kind, "it was computed before capture started. Call transpose() again")
        if isinstance(held, UnsupportedPlanError):
            raise held
        provenance = held.whole(to)
        return Traced(to.java.constant(to.java.bare(node.number), len(provenance)), provenance)

    def checkpoint_of(self, plan: Any) -> TracedCache | None:
        """Return a checkpoint's traced plan, None for other RDDs. Raise UnsupportedPlanError if it can't be traced."""
        held = self._checkpoints.get(self._java.rdd(plan))
        if isinstance(held, UnsupportedPlanError):
            raise held
        return held

    def computes(self, leaf: Any) -> bool:
        """Whether a leaf is an RDD that is neither a checkpoint nor rows passed in by the script."""
        kind = leaf.getClass().getSimpleName()
        return kind == RDD and self._java.rdd(leaf) not in self._checkpoints and not self.local.handed(leaf)

    def scans_of(self, jvm: Jvm, plan: Any) -> Sequence[Scan]:
        """Return the scans that an RDD's rows come from. Raise UnsupportedPlanError if they are unknown."""
        held = self.checkpoint_of(plan)
        return [self.local.scan(jvm, plan, RDD)] if held is None else held.scans

    def plans_of(self, leaf: Any) -> Iterator[Any]:
        """Yield the analysed plans from which an RDD's rows were computed, as far as they are known."""
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
        """Count the rows of a dataset that is about to change, if a fully computed cache entry read it."""
        for number, held in list(self._held.items()):  # a copy, because another thread's `look` may add entries
            if isinstance(held, TracedCache) and self._java.loaded(number):
                for scan in held.scans:
                    if scan.dataset.meets(dataset):
                        with contextlib.suppress(CaptureError):  # a write that reads it reports the error
                            scan.settle()

    def restore(self, jvm: Jvm) -> None:
        """Restore the user's plans of cache entries that are not computed yet."""
        with self._looking:
            self._java.restore(jvm.session)
