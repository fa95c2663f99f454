"""Projections: the provenance columns follow the user's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Project the user's columns and the provenance columns."""
    below = rewriter.trace(node.children[0])
    return Traced(rewriter.part("ProjectCapture").project(node.number, below.number), below.provenance)


RULE = CaptureRule(frozenset({"Project"}), trace)
