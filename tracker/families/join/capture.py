"""Joins pass on the provenance columns of both sides; a semi-join is an aggregate of its right side by the key.

If the condition is more than an equality of keys, each left row has a group of its own: the right rows that it matches.
An existence join is a semi-join that keeps all left rows and returns which of them have a group. If its result is used
as NOT EXISTS or NOT IN only, it is an anti-join, whose right side leaves no edge. A semi-join that Spark inferred
leaves none either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.normalisation import DOMAIN
from provspark.tracker.plan.provenance_columns import ProvenanceColumn, Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter

_BOTH = frozenset({"Inner", "Cross", "LeftOuter", "RightOuter", "FullOuter", "LeftSingle"})


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Rewrite the join by its type."""
    java = rewriter.part("JoinCapture")
    if node.detail in _BOTH:
        left, right = (rewriter.trace(child) for child in node.children)
        return Traced(java.join(node.number, left.number, right.number), left.provenance + right.provenance)
    owed = node.children[1].detail != DOMAIN
    if owed and (node.detail == "LeftSemi" or (node.detail == "ExistenceJoin" and java.asserted(node.number))):
        return _semi(rewriter, node)
    if node.detail in ("LeftSemi", "LeftAnti", "ExistenceJoin"):
        left = rewriter.trace(node.children[0])
        return Traced(java.antiJoin(node.number, left.number, rewriter.unseen(node.children[1])), left.provenance)
    raise UnsupportedPlanError(
        f"Join {node.detail}", "this type of join is not supported; use an inner, outer, semi or anti join"
    )


def _semi(rewriter: Rewriter, node: PlanNode) -> Traced:
    java = rewriter.part("JoinCapture")
    left, right = (rewriter.trace(child) for child in node.children)
    column = ProvenanceColumn(True, len(rewriter.taps))
    if java.residual(node.number) or java.unhashable(node.number) not in ("", "none"):
        number = java.matches(node.number, left.number, right.number)
        rewriter.tapped(number, right.provenance, "semi-join", keyed=True, lasting=False)
    else:
        tap = rewriter.tapped(java.tapRight(node.number, right.number), right.provenance, "semi-join", keyed=True)
        number = java.semiJoin(node.number, left.number, tap.number)
    return Traced(number, (*left.provenance, column))


RULE = CaptureRule(frozenset({"Join"}), trace, lambda node: node.detail in ("Inner", "Cross"))
