"""Reads the operations of plans. If this fails, a write has no operations, and everything else works."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from provspark.tracker.plan.operations.build import Draft
from provspark.tracker.plan.operators import operators
from provspark.tracker.spark.reasons import reason

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

log = logging.getLogger("provspark")


class OperationReader:
    """Reads the plans of one SparkContext.

    Parameters
    ----------
    jvm : Jvm
    """

    def __init__(self, jvm: Jvm) -> None:
        self._java: Any = jvm.new("PlanOperations", operators(jvm))

    def numbered(self, plan: Any) -> Any:
        """Return the plan with its leaves numbered; `read` and the rewriter refer to leaves by these numbers."""
        try:
            return self._java.numbered(plan)
        except Exception as e:
            log.info("provspark: can't number the leaves of a plan, so its operations may be incomplete: %s", reason(e))
            return plan

    def read(self, jvm: Jvm, plan: Any) -> Draft | None:
        """Read a numbered plan; return None if that fails. The operations' SQL is checked while the write runs."""
        try:
            return Draft(self._java.read(jvm.session, plan))
        except Exception as e:
            log.info("provspark: can't read the operations of a plan, so they are not stored: %s", reason(e))
            return None

    def cached(self, relation: Any, plan: Any) -> None:
        """Remember the numbered plan of a cache entry, by a relation that reads it."""
        self._java.cached(relation, plan)

    def checkpoint(self, rdd: int, plan: Any) -> None:
        """Remember the numbered plan of a checkpoint, by the id of its RDD."""
        self._java.checkpoint(rdd, plan)
