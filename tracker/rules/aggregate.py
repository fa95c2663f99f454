"""An aggregate ends its legs: a tap below notes them with the key's hash, which is the one leg above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.errors import UnsupportedPlanError
from provspark.tracker.legs import Leg, Traced

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"Aggregate"})


def trace(rewriter: Rewriter, node: Node, above: Node | None) -> Traced:
    """Tap the aggregate's input by its grouping key; a global aggregate has one key for all."""
    java = rewriter.java
    unhashable = java.unhashable(node.number)
    keyless = unhashable == "none"
    if unhashable and not keyless:
        raise UnsupportedPlanError(node.kind, f"grouping by a column of type {unhashable} can't be followed")
    below = rewriter.trace(node.children[0])
    tap = java.tapGroups(node.number, below.number)
    tapped = rewriter.tapped(tap, below.legs, "aggregate", keyed=True, keyless=keyless)
    return Traced(java.aggregate(node.number, tapped.number), (Leg(True, len(rewriter.taps) - 1),))
