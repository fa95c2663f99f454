"""explode and its kin: each row made owes itself to the row that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter

_AT_THE_END = frozenset({"HiveGenericUDTF", "PythonUDTF", "UnresolvedPolymorphicPythonUDTF"})
"""Generators that may make rows after they saw the last row, or of several rows."""


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Keep the node over its traced child; provenance columns come along."""
    if node.detail in _AT_THE_END:
        raise UnsupportedPlanError(node.kind, f"a {node.detail} may make rows of several rows, or of none")
    below = rewriter.trace(node.children[0])
    return Traced(rewriter.java.over(node.number, below.number), below.provenance)


RULE = CaptureRule(frozenset({"Generate"}), trace)
