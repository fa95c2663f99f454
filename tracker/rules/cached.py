"""What was computed before, or came from the script itself: cached and checkpointed rows, local data, ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.errors import UnsupportedPlanError
from provspark.tracker.legs import Traced

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"InMemoryRelation", "LocalRelation", "LogicalRDD", "Range"})


def trace(rewriter: Rewriter, node: Node, above: Node | None) -> Traced:
    """What is cached comes with its legs; rows that the script made get an address."""
    caches, plan = rewriter.caches, rewriter.java.node(node.number)
    if caches is None:
        raise UnsupportedPlanError(node.kind, "nothing is known of what the session holds")
    if node.kind == "InMemoryRelation":
        return caches.leaf(rewriter, plan)
    checkpoint = caches.checkpoint_of(plan) if node.kind == "LogicalRDD" else None
    if checkpoint is not None:
        return checkpoint.lend(rewriter, plan)
    return rewriter.leaf(caches.local.scan(rewriter.jvm, plan, node.kind))
