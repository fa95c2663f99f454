"""As-of joins hand on the provenance columns of both sides: of the right, those of the one row that was nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Let Spark make it a choice among the right rows, whole: their provenance columns come along."""
    left, right = (rewriter.trace(child) for child in node.children)
    number = rewriter.part("AsOfJoinCapture").join(node.number, left.number, right.number)
    return Traced(number, left.provenance + right.provenance)


RULE = CaptureRule(frozenset({"AsOfJoin"}), trace)
