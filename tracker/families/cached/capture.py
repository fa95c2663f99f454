"""Leaves with rows that were computed before or elsewhere (caches, checkpoints, RDDs), or that the script made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter
    from provspark.tracker.session.caches import Caches


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Trace a leaf; a cache has its provenance columns, an RDD those of its frames, and local rows get an address."""
    plan = rewriter.java.node(node.number)
    caches: Caches | None = rewriter.caches
    if caches is None:
        raise UnsupportedPlanError(node.kind, "this plan was read without the session's caches and local rows")
    if node.kind == "InMemoryRelation":
        return caches.leaf(rewriter, plan)
    if node.kind == "Transpose":
        return caches.transpose_of(rewriter, node, plan)
    if node.kind == "LogicalRDD":
        if caches.computes(plan):
            return caches.rdds.leaf(rewriter, node, plan)
        checkpoint = caches.checkpoint_of(plan)
        if checkpoint is not None:
            return checkpoint.lend(rewriter, plan)
    return rewriter.leaf(caches.local.scan(rewriter.jvm, plan, node.kind))


RULE = CaptureRule(frozenset({"InMemoryRelation", "LocalRelation", "LogicalRDD", "Range", "Transpose"}), trace)
