"""Filters hand legs on; straight above a scan they lend it their conjuncts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from provspark.tracker.legs import Traced

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"Filter"})


def trace(rewriter: Rewriter, node: Node, predicates: Sequence[Any]) -> Traced:
    """Keep the filter over its traced child."""
    (child,) = node.children
    conjuncts = list(rewriter.jvm.plans.conjuncts(node.plan.condition())) if child.kind == "LogicalRelation" else []
    below = rewriter.trace(child, conjuncts)
    return Traced(rewriter.jvm.logical.Filter(node.plan.condition(), below.plan), below.legs)
