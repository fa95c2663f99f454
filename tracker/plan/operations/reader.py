"""Reads plans; trouble in it costs a write its operations, and nothing else."""

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
        """Return a plan with its leaves numbered, which `read` and the rewriter then agree on."""
        try:
            return self._java.numbered(plan)
        except Exception as e:
            log.info("provspark: the operations of a plan are not known: %s", reason(e))
            return plan

    def read(self, jvm: Jvm, plan: Any) -> Draft | None:
        """Read a numbered plan, if it can be read; how it reads as SQL is looked at while the write runs."""
        try:
            return Draft(self._java.read(jvm.session, plan))
        except Exception as e:
            log.info("provspark: the operations of a plan are not known: %s", reason(e))
            return None

    def cached(self, relation: Any, plan: Any) -> None:
        """Remember the numbered plan of what is cached, by what reads it."""
        self._java.cached(relation, plan)

    def checkpoint(self, rdd: int, plan: Any) -> None:
        """Remember the numbered plan of a checkpoint, by its RDD."""
        self._java.checkpoint(rdd, plan)
