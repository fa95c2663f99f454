"""An aggregate ends its provenance columns: a tap below notes them with the key's hash, the one such column above.

dropDuplicates on some columns is an aggregate that takes the first row of each group whole: the provenance columns of
that row go on, and the others of its group are its context.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import ProvenanceColumn, Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Tap the aggregate's input by its grouping key; a global aggregate has one key for all."""
    java = rewriter.part("AggregateCapture")
    if node.detail == "sessions":
        raise UnsupportedPlanError(node.kind, "which rows' sessions Spark merges into one can't be followed")
    unhashable = java.unhashable(node.number)
    keyless = unhashable == "none"
    if unhashable and not keyless:
        raise UnsupportedPlanError(node.kind, f"grouping by a column of type {unhashable} can't be followed")
    below = rewriter.trace(node.children[0])
    column = ProvenanceColumn(True, len(rewriter.taps))
    rewriter.taps_of[node.number] = column.origin
    if node.detail == "kept":
        tap = java.tapGroups(node.number, java.numbered(below.number))
        rewriter.tapped(tap, below.provenance, "dropDuplicates", keyed=True, numbered=True, lasting=False)
        others = replace(column, kind="context", others=True)
        return Traced(java.keep(node.number, tap), (*below.provenance, others))
    tap = java.tapGroups(node.number, below.number)
    rewriter.tapped(tap, below.provenance, "aggregate", keyed=True, keyless=keyless)
    return Traced(java.aggregate(node.number, tap), (column,))


RULE = CaptureRule(frozenset({"Aggregate"}), trace)
