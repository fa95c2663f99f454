"""Unions: each branch keeps its provenance columns, which are null in the rows of other branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Pad each branch to the provenance columns of all branches."""
    branches = [rewriter.trace(child) for child in node.children]
    number = rewriter.part("UnionCapture").union(node.number, " ".join(str(branch.number) for branch in branches))
    return Traced(number, tuple(column for branch in branches for column in branch.provenance))


RULE = CaptureRule(frozenset({"Union"}), trace)
