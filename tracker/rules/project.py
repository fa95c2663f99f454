"""Projections put the legs behind the user's columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from provspark.tracker.legs import Traced

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"Project"})


def trace(rewriter: Rewriter, node: Node, predicates: Sequence[Any]) -> Traced:
    """Project the user's columns and the legs."""
    below = rewriter.trace(node.children[0])
    plan = rewriter.jvm.plans.project(node.plan, below.plan, rewriter.jvm.jlist(below.attributes))
    return Traced(plan, below.legs)
