"""As-of joins hand on the legs of both sides: of the right, those of the one row that was nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter

KINDS = frozenset({"AsOfJoin"})


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Let Spark make it a choice among the right rows, whole: their legs come along."""
    java = rewriter.java
    left, right = (rewriter.trace(child) for child in node.children)
    plan = rewriter.shapes.asOf(java.node(node.number), java.plan(left.number), java.plan(right.number))
    legs = java.legs(left.number)
    legs.addAll(java.legs(right.number))
    return Traced(java.put(plan, legs), left.legs + right.legs)
