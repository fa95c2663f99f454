"""Leaves: a file relation gets an address for each row; the single row of a query without FROM comes from no row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Give a relation its address column; the filter above it may limit which partitions are read."""
    if node.kind == "OneRowRelation":
        return Traced(rewriter.java.bare(node.number), ())
    predicates = rewriter.part("FilterCapture").conjuncts(above.number) if above is not None else ()
    return rewriter.scan(node, predicates)


RULE = CaptureRule(frozenset({"LogicalRelation", "OneRowRelation"}), trace)
