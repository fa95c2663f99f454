"""Joins hand on the legs of both sides; a semi-join is an aggregate of its right side by the key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from provspark.errors import UnsupportedPlanError
from provspark.tracker.legs import Leg, Traced, rebound

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter

KINDS = frozenset({"Join"})
_BOTH = frozenset({"Inner", "Cross", "LeftOuter", "RightOuter", "FullOuter"})


def trace(rewriter: Rewriter, node: Node, predicates: Sequence[Any]) -> Traced:
    """Trace by the join's type."""
    kind = str(node.plan.joinType().toString())
    if kind in _BOTH:
        return _both(rewriter, node)
    if kind == "LeftSemi":
        return _semi(rewriter, node)
    if kind == "LeftAnti":
        left = rewriter.trace(node.children[0])
        plan = rewriter.jvm.plans.withChildren(node.plan, rewriter.jvm.jlist([left.plan, node.children[1].plan]))
        return Traced(plan, left.legs)
    raise UnsupportedPlanError(f"Join {kind}", "no exact rule for this kind of join")


def _both(rewriter: Rewriter, node: Node) -> Traced:
    jvm = rewriter.jvm
    left, right = (rewriter.trace(child) for child in node.children)
    legs = left.legs + right.legs
    joined = jvm.plans.withChildren(node.plan, jvm.jlist([left.plan, right.plan]))
    attributes = list(jvm.plans.rebind(joined, jvm.jlist(left.attributes + right.attributes)))
    plan = jvm.logical.Project(jvm.plans.seq(jvm.plans.outputAnd(node.plan, jvm.jlist(attributes))), joined)
    return Traced(plan, rebound(legs, attributes))


def _semi(rewriter: Rewriter, node: Node) -> Traced:
    jvm = rewriter.jvm
    left_keys, right_keys = jvm.jlist([]), jvm.jlist([])
    rest = jvm.plans.equalities(node.plan, left_keys, right_keys)
    if rest:
        raise UnsupportedPlanError("Join LeftSemi", f"its condition is more than equality of keys: {rest}")
    if left_keys.isEmpty():
        raise UnsupportedPlanError("Join LeftSemi", "it compares no keys")
    unhashable = jvm.plans.unhashable(left_keys)
    if unhashable:
        raise UnsupportedPlanError("Join LeftSemi", f"keys of type {unhashable} have no hash")
    left, right = (rewriter.trace(child) for child in node.children)
    hashes = jvm.plans.keyHashes(right_keys, "__key")
    keyed = Traced(jvm.plans.append(right.plan, hashes), right.legs)
    tapped, number = rewriter.taps.keyed(keyed, list(jvm.plans.attributes(hashes)), "semi-join")
    joined = jvm.plans.withChildren(node.plan, jvm.jlist([left.plan, tapped]))
    made = jvm.plans.keyHashes(left_keys, "__semi")
    leg = Leg(True, number, tuple(jvm.plans.attributes(made)))
    return Traced(jvm.plans.append(joined, made), (*left.legs, leg))
