"""Nodes that only order, move, keep or drop rows: each row stays the row it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def passing(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Keep the node over its traced child; provenance columns come along."""
    below = rewriter.trace(node.children[0])
    return Traced(rewriter.java.over(node.number, below.number), below.provenance)
