"""A union keeps the provenance columns of each branch in columns of their own, null for the rows of other branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Pad each branch to the width of all."""
    branches = [rewriter.trace(child) for child in node.children]
    number = rewriter.part("UnionCapture").union(node.number, " ".join(str(branch.number) for branch in branches))
    return Traced(number, tuple(column for branch in branches for column in branch.provenance))


RULE = CaptureRule(frozenset({"Union"}), trace)
