"""Rewrite of nodes that only order, move, keep or drop rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def passing(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Keep the node over its rewritten child, with the same provenance columns."""
    below = rewriter.trace(node.children[0])
    return Traced(rewriter.java.over(node.number, below.number), below.provenance)
