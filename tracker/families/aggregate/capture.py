"""An aggregate ends its legs: a tap below notes them with the key's hash, which is the one leg above it.

dropDuplicates on some columns is an aggregate that takes the first row of each group whole: the legs of that row go on,
and the others of its group are its context.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.plan.provenance_columns import Leg, Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter

KINDS = frozenset({"Aggregate"})


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Tap the aggregate's input by its grouping key; a global aggregate has one key for all."""
    java = rewriter.java
    if node.detail == "sessions":
        raise UnsupportedPlanError(node.kind, "which rows' sessions Spark merges into one can't be followed")
    unhashable = java.unhashable(node.number)
    keyless = unhashable == "none"
    if unhashable and not keyless:
        raise UnsupportedPlanError(node.kind, f"grouping by a column of type {unhashable} can't be followed")
    below = rewriter.trace(node.children[0])
    leg = Leg(True, len(rewriter.taps))
    rewriter.taps_of[node.number] = leg.origin
    if node.detail == "kept":
        tap = java.tapGroups(node.number, java.numbered(below.number))
        rewriter.tapped(tap, below.legs, "dropDuplicates", keyed=True, numbered=True, lasting=False)
        others = replace(leg, kind="context", others=True)
        return Traced(java.keep(node.number, tap), (*below.legs, others))
    tap = java.tapGroups(node.number, below.number)
    rewriter.tapped(tap, below.legs, "aggregate", keyed=True, keyless=keyless)
    return Traced(java.aggregate(node.number, tap), (leg,))
