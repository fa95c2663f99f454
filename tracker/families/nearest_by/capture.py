"""Joins with the nearest rows: the provenance columns of the left row and of each chosen right row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Apply Spark's rule, which chooses whole right rows, so that their provenance columns come along."""
    left, right = (rewriter.trace(child) for child in node.children)
    java = rewriter.part("NearestByCapture")
    number = java.join(node.number, left.number, right.number, -1 if above is None else above.number)
    return Traced(number, left.provenance + right.provenance)


RULE = CaptureRule(frozenset({"NearestByJoin"}), trace)
