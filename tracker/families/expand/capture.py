"""Expand (rollup, cube, grouping sets, unpivot): each output row comes from the row that it copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Add the provenance columns to each of the node's projections."""
    below = rewriter.trace(node.children[0])
    return Traced(rewriter.part("ExpandCapture").expand(node.number, below.number), below.provenance)


RULE = CaptureRule(frozenset({"Expand"}), trace)
