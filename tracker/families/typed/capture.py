"""Typed functions (Scala and Java lambdas): rows become objects, which can't carry provenance columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.batch_functions.capture import by_key
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.families.registry import refusal
from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter

_EACH = frozenset({"MapElements"})
_PARTITION = frozenset({"MapPartitions"})


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Tap the rows below the objects: by position if each object yields one object, otherwise by partition."""
    each, at = True, node.children[0]
    while at.kind in _EACH | _PARTITION:
        each, at = each and at.kind in _EACH, at.children[0]
    if at.kind != "DeserializeToObject":
        raise UnsupportedPlanError(
            at.kind,
            refusal(at.kind, "capture can't determine which row an object comes from; use functions of columns"),
        )
    below = rewriter.trace(at.children[0])
    keys = rewriter.java.place() if each else rewriter.java.partition()
    return by_key(rewriter, node, at, below, keys, coarse=not each)


RULE = CaptureRule(frozenset({"SerializeFromObject"}), trace)
