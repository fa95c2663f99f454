"""As-of joins: the provenance columns of the left row and of the nearest right row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Apply Spark's rule, which chooses a whole right row, so that its provenance columns come along."""
    left, right = (rewriter.trace(child) for child in node.children)
    number = rewriter.part("AsOfJoinCapture").join(node.number, left.number, right.number)
    return Traced(number, left.provenance + right.provenance)


RULE = CaptureRule(frozenset({"AsOfJoin"}), trace)
