"""explode and its kin: each row made owes itself to the row that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.tracker.legs import Traced

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"Generate"})


def trace(rewriter: Rewriter, node: Node, above: Node | None) -> Traced:
    """Keep the node over its traced child; legs come along."""
    below = rewriter.trace(node.children[0])
    return Traced(rewriter.java.generate(node.number, below.number), below.legs)
