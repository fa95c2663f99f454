"""Functions over a task's rows at once: which rows made which, Spark does not see.

A row that such a function returns is owed to all rows that its task handed to the function, and the write is coarse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from provspark.tracker.legs import Leg, Traced

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset(
    {"MapInArrow", "MapInPandas", "MapPartitionsInR", "MapPartitionsInRWithArrow", "ScriptTransformation"}
)


def trace(rewriter: Rewriter, node: Node, above: Node | None) -> Traced:
    """Tap what goes in by the task's partition, which is the leg of what comes out."""
    below = rewriter.trace(node.children[0])
    return by_key(rewriter, node, node, below, rewriter.shapes.partition(), coarse=True)


def by_key(rewriter: Rewriter, top: Node, bottom: Node, below: Traced, keys: Any, *, coarse: bool) -> Traced:
    """Put the nodes from `top` to `bottom` over a tap of the rows `below`, by keys that are the same above `top`.

    The functions see the columns that they saw before.
    """
    java = rewriter.java
    number = java.tapKeyed(below.number, keys)
    tap = rewriter.tapped(number, below.legs, bottom.kind, keyed=True, coarse=coarse, lasting=False)
    leg = Leg(True, len(rewriter.taps) - 1)
    plan = rewriter.shapes.over(java.node(top.number), java.node(bottom.number), java.plan(tap.number))
    return Traced(java.keyed(plan, keys), (leg,))
