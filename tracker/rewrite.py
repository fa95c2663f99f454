"""Rewrites a normalised plan from its scans up, so that every row carries where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from provspark.errors import UnsupportedPlanError
from provspark.tracker.jvm import Jvm
from provspark.tracker.legs import Traced
from provspark.tracker.normalise import normalise
from provspark.tracker.rules import RULES
from provspark.tracker.sources import Scan
from provspark.tracker.taps import Taps


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a logical plan, with what is asked of every node fetched at once."""

    plan: Any
    kind: str
    subqueries: int
    children: tuple[Node, ...]


class Rewriter:
    """One write's rewrite: the rules call back into it and leave scans and taps here.

    Parameters
    ----------
    jvm : Jvm
    taps : Taps
    """

    def __init__(self, jvm: Jvm, taps: Taps) -> None:
        self.jvm = jvm
        self.taps = taps
        self.scans: list[Scan] = []

    def run(self, analysed: Any) -> Traced:
        """Normalise and rewrite; UnsupportedPlanError names the first node that can't be traced exactly."""
        refuse_before_normalising(read(self.jvm, analysed))
        return self.trace(read(self.jvm, normalise(self.jvm, analysed)))

    def trace(self, node: Node, predicates: Sequence[Any] = ()) -> Traced:
        """Rewrite one node; `predicates` are the conjuncts of a filter straight above it."""
        if node.subqueries:
            raise UnsupportedPlanError(node.kind, "a subquery's value is used in an expression")
        rule = _BY_KIND.get(node.kind)
        if rule is None:
            raise UnsupportedPlanError(node.kind, "no exact rule for this operator")
        return rule.trace(self, node, predicates)


_BY_KIND = {kind: rule for rule in RULES for kind in rule.KINDS}


def read(jvm: Jvm, plan: Any) -> Node:
    """Fetch a plan's tree."""
    nodes = jvm.jlist([])
    lines = iter(zip(jvm.plans.walk(plan, nodes).splitlines(), nodes, strict=True))
    return _read(lines)


def _read(lines: Iterator[tuple[str, Any]]) -> Node:
    line, plan = next(lines)
    kind, children, subqueries = line.split(" ")
    return Node(plan, kind, int(subqueries), tuple(_read(lines) for _ in range(int(children))))


def refuse_before_normalising(node: Node) -> None:
    """Refuse what normalising would turn into something of another meaning: duplicates dropped by some columns."""
    if node.kind == "Deduplicate":
        keys = node.plan.keys().size()
        if keys < node.children[0].plan.output().size():
            raise UnsupportedPlanError(node.kind, "duplicates are dropped by some of the columns only")
    for child in node.children:
        refuse_before_normalising(child)
