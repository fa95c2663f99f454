"""Joins hand on the legs of both sides; a semi-join is an aggregate of its right side by the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.errors import UnsupportedPlanError
from provspark.tracker.legs import Leg, Traced

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"Join"})
_BOTH = frozenset({"Inner", "Cross", "LeftOuter", "RightOuter", "FullOuter"})


def trace(rewriter: Rewriter, node: Node, above: Node | None) -> Traced:
    """Trace by the join's type."""
    if node.detail in _BOTH:
        left, right = (rewriter.trace(child) for child in node.children)
        return Traced(rewriter.java.join(node.number, left.number, right.number), left.legs + right.legs)
    if node.detail == "LeftSemi":
        return _semi(rewriter, node)
    if node.detail == "LeftAnti":
        left = rewriter.trace(node.children[0])
        return Traced(rewriter.java.antiJoin(node.number, left.number), left.legs)
    raise UnsupportedPlanError(f"Join {node.detail}", "no exact rule for this kind of join")


def _semi(rewriter: Rewriter, node: Node) -> Traced:
    java, name = rewriter.java, "Join LeftSemi"
    rest = java.residual(node.number)
    if rest:
        raise UnsupportedPlanError(name, f"its condition is more than equality of keys: {rest}")
    unhashable = java.unhashable(node.number)
    if unhashable:
        raise UnsupportedPlanError(name, f"its keys can't be followed: {unhashable}")
    left, right = (rewriter.trace(child) for child in node.children)
    tap = rewriter.tapped(java.tapRight(node.number, right.number), right.legs, "semi-join", keyed=True)
    leg = Leg(True, len(rewriter.taps) - 1)
    return Traced(java.semiJoin(node.number, left.number, tap.number), (*left.legs, leg))
