"""Aggregates: a tap below records provenance columns by group key; above, the key's hash is the only one.

dropDuplicates on some columns is an aggregate that keeps the first row of each group. The provenance columns of that
row are kept with it, and the other rows of its group are its context.
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
    """Tap the aggregate's input by its grouping key; a global aggregate has one key for all rows."""
    java = rewriter.part("AggregateCapture")
    if node.detail == "sessions":
        raise UnsupportedPlanError(
            node.kind,
            "grouping by session_window is not supported, because Spark merges sessions while it runs; use window()",
        )
    unhashable = java.unhashable(node.number)
    keyless = unhashable == "none"
    if unhashable and not keyless:
        raise UnsupportedPlanError(node.kind, f"grouping by type {unhashable} is not supported; cast the column")
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
