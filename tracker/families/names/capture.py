"""Aliases that normalising added: they mark how the rows below relate to those above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.normalisation import CHOSEN, CONTEXT, DOMAIN, UNSEEN
from provspark.tracker.plan.provenance_columns import Traced, as_context

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Rewrite the marked plan: turn its provenance columns into context, or drop them, as the mark requires."""
    if node.detail in (UNSEEN, DOMAIN):
        return Traced(rewriter.unseen(node), ())
    if node.detail == CHOSEN:
        window = node.children[0]
        below = rewriter.trace(window.children[0])
        return Traced(rewriter.java.over(window.number, below.number), below.provenance)
    below = rewriter.trace(node.children[0])
    return Traced(below.number, as_context(below.provenance) if node.detail == CONTEXT else below.provenance)


RULE = CaptureRule(frozenset({"SubqueryAlias"}), trace)

CHANGED = {
    "WithCTE": "a common table expression that is not deterministic is read several times,"
    " and the rewritten plan would compute different rows for each read; write its rows to files, and read these"
}
