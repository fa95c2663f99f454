"""Expand (rollup, cube, grouping sets, unpivot): each row made is a copy of the row that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Put the provenance columns into each of the node's projections."""
    java = rewriter.java
    below = rewriter.trace(node.children[0])
    provenance = java.provenance(below.number)
    plan = rewriter.shapes.expand(java.node(node.number), java.plan(below.number), provenance)
    return Traced(java.put(plan, provenance), below.provenance)


RULE = CaptureRule(frozenset({"Expand"}), trace)
