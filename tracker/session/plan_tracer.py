"""Tracing of plans that are computed once and read often, or whose rows leave the DataFrame."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.plan.operations import OperationReader
from provspark.tracker.plan.provenance_columns import ProvenanceColumn
from provspark.tracker.plan.rewrite import Rewriter
from provspark.tracker.session.traced_cache import TracedCache
from provspark.tracker.spark.jvm import Jvm


class PlanTracer:
    """Tracer for the plans of one SparkContext.

    Parameters
    ----------
    taps : str
        URL of the step's folder for sidecar files.
    site : function
        Returns the script's line, given the session, a node's class name and the plan.
    operations : OperationReader
    caches : Caches
        Cache entries that the plans may read.
    """

    def __init__(
        self, taps: str, site: Callable[[Jvm, str, Any], str], operations: OperationReader, caches: Any
    ) -> None:
        self._taps, self._site, self._operations, self._caches = taps, site, operations, caches
        self._made = 0

    def traced(self, jvm: Jvm, plan: Any) -> tuple[TracedCache, Any]:
        """Trace a plan that is computed once and read often. Its output also contains the provenance columns."""
        rewriter, name = self._rewriter(jvm)
        plan = self._operations.numbered(plan)
        traced = rewriter.run(plan)
        whole = rewriter.sound(rewriter.java.whole(traced.number), plan)
        return TracedCache(rewriter, traced.provenance, name, plan), whole

    def tapped(self, jvm: Jvm, plan: Any, label: str, *, coarse: bool) -> tuple[TracedCache, Any]:
        """Trace a plan whose rows go where provenance columns can't follow. A tap on top notes rows by partition."""
        rewriter, name = self._rewriter(jvm)
        plan = self._operations.numbered(plan)
        traced = rewriter.run(plan)
        number = rewriter.java.tapKeyed(traced.number, rewriter.java.partition())
        rewriter.tapped(number, traced.provenance, label, keyed=True, coarse=coarse)
        provenance = (ProvenanceColumn(True, len(rewriter.taps) - 1),)
        shown = rewriter.java.userColumns(number, plan.output().size())
        return TracedCache(rewriter, provenance, name, plan), rewriter.sound(shown, plan)

    def _rewriter(self, jvm: Jvm) -> tuple[Rewriter, str]:
        self._made += 1
        name = f"c{self._made}"
        rewriter = Rewriter(jvm, f"{self._taps}/{name}", self._caches)
        rewriter.java.markPartitions()
        return rewriter, name

    def untraced(self, jvm: Jvm, plan: Any, e: Exception, node: str, what: str) -> UnsupportedPlanError:
        """Return the error for writes that read a plan which could not be traced. `what` names the plan."""
        if not isinstance(e, UnsupportedPlanError):
            return UnsupportedPlanError(node, f"capture can't follow {what}: {type(e).__name__}: {e}")
        site = e.site
        with contextlib.suppress(Exception):
            site = site or self._site(jvm, e.node.split(" ")[0], plan)
        return UnsupportedPlanError(e.node, f"in {what}: {e.why}", site)
