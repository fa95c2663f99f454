"""An aggregate ends its legs: a tap below notes them with the key's hash, which is the one leg above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from provspark.errors import UnsupportedPlanError
from provspark.tracker.legs import Leg, Traced

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"Aggregate"})


def trace(rewriter: Rewriter, node: Node, predicates: Sequence[Any]) -> Traced:
    """Tap the aggregate's input by its grouping key; a global aggregate has one key for all."""
    jvm = rewriter.jvm
    keys = jvm.plans.list(node.plan.groupingExpressions())
    unhashable = jvm.plans.unhashable(keys)
    if unhashable:
        raise UnsupportedPlanError(node.kind, f"grouping by a column of type {unhashable} has no key hash")
    below = rewriter.trace(node.children[0])
    hashes = jvm.plans.keyHashes(keys, "__key")
    keyed = Traced(jvm.plans.append(below.plan, hashes), below.legs)
    tapped, number = rewriter.taps.keyed(keyed, list(jvm.plans.attributes(hashes)), "aggregate", keyless=keys.isEmpty())
    made = jvm.plans.keyHashes(keys, "__group")
    plan = jvm.plans.aggregate(node.plan, tapped, made)
    return Traced(plan, (Leg(True, number, tuple(jvm.plans.attributes(made))),))
