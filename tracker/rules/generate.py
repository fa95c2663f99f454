"""explode and its kin: each row made owes itself to the row that it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from provspark.tracker.legs import Traced

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"Generate"})


def trace(rewriter: Rewriter, node: Node, predicates: Sequence[Any]) -> Traced:
    """Put the legs behind what is generated, as every traced node does."""
    below = rewriter.trace(node.children[0])
    plans = rewriter.jvm.plans
    over = plans.withChildren(node.plan, rewriter.jvm.jlist([below.plan]))
    plan = rewriter.jvm.logical.Project(
        plans.seq(plans.outputAnd(node.plan, rewriter.jvm.jlist(below.attributes))), over
    )
    return Traced(plan, below.legs)
