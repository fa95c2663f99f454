"""Leaves: a file relation yields the address of each row; a single made-up row has no origin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from provspark.tracker.legs import Leg, Traced
from provspark.tracker.sources import scan_relation

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"LogicalRelation", "OneRowRelation"})


def trace(rewriter: Rewriter, node: Node, predicates: Sequence[Any]) -> Traced:
    """Give a relation its address column; partition predicates go below it, or pruning would be lost."""
    if node.kind == "OneRowRelation":
        return Traced(node.plan, ())
    scan = scan_relation(rewriter.jvm, node.plan, list(predicates))
    rewriter.scans.append(scan)
    return Traced(scan.plan, (Leg(False, len(rewriter.scans) - 1, (scan.address,)),))
