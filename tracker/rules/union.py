"""A union keeps the legs of each branch in columns of their own, null for the rows of other branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from provspark.tracker.legs import Traced, rebound

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"Union"})


def trace(rewriter: Rewriter, node: Node, predicates: Sequence[Any]) -> Traced:
    """Pad each branch to the width of all."""
    jvm = rewriter.jvm
    branches = [rewriter.trace(child) for child in node.children]
    legs = tuple(leg for branch in branches for leg in branch.legs)
    plan = jvm.plans.union(
        node.plan,
        jvm.jlist(branch.plan for branch in branches),
        jvm.jlist(jvm.jlist(branch.attributes) for branch in branches),
        jvm.jlist(child.plan.output() for child in node.children),
    )
    width = sum(len(leg.attributes) for leg in legs)
    return Traced(plan, rebound(legs, list(jvm.plans.lastOutput(plan, width))))
