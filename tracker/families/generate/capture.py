"""Generators such as explode: each output row comes from the row that the generator is called on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter

_AT_THE_END = frozenset({"HiveGenericUDTF", "PythonUDTF", "UnresolvedPolymorphicPythonUDTF"})
"""Generators that may make rows after the last input row, or from several input rows."""


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Keep the node over its rewritten child, with the same provenance columns."""
    if node.detail in _AT_THE_END:
        raise UnsupportedPlanError(
            node.kind,
            f"a row of a {node.detail} may come from several input rows or from none; explode an array from a UDF "
            f"instead",
        )
    below = rewriter.trace(node.children[0])
    return Traced(rewriter.java.over(node.number, below.number), below.provenance)


RULE = CaptureRule(frozenset({"Generate"}), trace)
