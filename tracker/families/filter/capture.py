"""Filters: the provenance columns pass through. A scan directly below also gets the condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Keep the filter over its rewritten child."""
    below = rewriter.trace(node.children[0], node if _by_condition(node) else None)
    return Traced(rewriter.java.over(node.number, below.number), below.provenance)


def _by_condition(node: PlanNode) -> bool:
    """Whether it filters by an expression, which Spark and scans can read, and not by a Scala function."""
    return node.kind == "Filter"


RULE = CaptureRule(frozenset({"Filter", "TypedFilter"}), trace, _by_condition, _by_condition)
