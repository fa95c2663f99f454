"""Rewrites a normalised plan from its scans up, so that every row carries where it came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from provspark.errors import UnsupportedPlanError
from provspark.tracker.jvm import Jvm
from provspark.tracker.legs import Leg, Traced
from provspark.tracker.normalise import RULES as NORMAL
from provspark.tracker.rules import RULES
from provspark.tracker.sinks.reasons import reason
from provspark.tracker.sources import Scan, scan_relation
from provspark.tracker.taps import Receipt, Tap, counted

if TYPE_CHECKING:
    from provspark.tracker.caches import Caches, Held


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a logical plan: its number in java/Rewrite.java and what is asked of every node."""

    number: int
    kind: str
    subqueries: int
    detail: str
    """A join's type; whether duplicates are dropped by all columns or a subset."""
    children: tuple[Node, ...]


class Rewriter:
    """One write's rewrite: the rules call back into it and leave scans and taps here.

    Parameters
    ----------
    jvm : Jvm
    folder : str
        URL of the folder for sidecars, reachable from the executors.
    caches : Caches, optional
        What the script caches, for plans that read it.
    """

    def __init__(self, jvm: Jvm, folder: str, caches: Caches | None = None) -> None:
        self.jvm = jvm
        self.caches = caches
        self.java: Any = jvm.new("Rewrite", jvm.session, folder)
        self.scans: list[Scan] = []
        self.taps: list[Tap] = []
        self.lent: dict[int, tuple[Held, int]] = {}
        """By tap, which plan traced before noted what it says, and as which of its taps."""

    def run(self, analysed: Any) -> Traced:
        """Normalise and rewrite; UnsupportedPlanError names the first node that can't be traced exactly."""
        _refuse_before_normalising(self._read(analysed))
        try:
            normal = self.java.normalise(analysed, "\n".join(NORMAL))
        except Exception as e:
            raise UnsupportedPlanError("Subquery", f"Spark's rules can't unnest it: {reason(e)}") from e
        traced = self.trace(self._read(normal))
        return Traced(self.java.front(traced.number), traced.legs)

    def trace(self, node: Node, above: Node | None = None) -> Traced:
        """Rewrite one node; `above` is the filter straight above it, where there is one."""
        if node.subqueries:
            raise UnsupportedPlanError(node.kind, "a subquery's value is used in an expression")
        rule = _BY_KIND.get(node.kind)
        if rule is None:
            raise UnsupportedPlanError(node.kind, "no exact rule for this operator")
        return rule.trace(self, node, above)

    def scan(self, node: Node, above: Node | None) -> Traced:
        """Give a relation its address column."""
        predicates = self.java.conjuncts(above.number) if above is not None else self.jvm.jlist([])
        return self.leaf(scan_relation(self.jvm, self.java.node(node.number), predicates))

    def leaf(self, scan: Scan) -> Traced:
        """Read an input, as its next occurrence."""
        self.scans.append(scan)
        return Traced(self.java.leaf(scan.plan, scan.address), (Leg(False, len(self.scans) - 1),))

    def tapped(self, number: int, legs: tuple[Leg, ...], label: str, *, keyed: bool, keyless: bool = False) -> Traced:
        """Note that traced node `number` is a tap now."""
        self.taps.append(Tap(len(self.taps), legs, keyed, label, keyless))
        return Traced(number, legs)

    def receipts(self) -> dict[int, list[Receipt]]:
        """Return by tap what its tasks say that they noted; see `taps.counted`."""
        return counted(self.java.receipts()) | self.lent_receipts()

    def lent_receipts(self) -> dict[int, list[Receipt]]:
        """Return the receipts of taps in what is cached."""
        held = {id(h): h.receipts() for h, _ in self.lent.values()}
        return {number: held[id(h)].get(tap, []) for number, (h, tap) in self.lent.items()}

    def _read(self, plan: Any) -> Node:
        lines = enumerate(self.java.read(plan).splitlines())
        return _node(lines)


_BY_KIND = {kind: rule for rule in RULES for kind in rule.KINDS}


def _node(lines: Iterator[tuple[int, str]]) -> Node:
    number, line = next(lines)
    kind, children, subqueries, detail = line.split(" ", 3)
    return Node(number, kind, int(subqueries), detail, tuple(_node(lines) for _ in range(int(children))))


def _refuse_before_normalising(node: Node) -> None:
    """Refuse what normalising would turn into something of another meaning."""
    if node.kind == "Deduplicate" and node.detail == "subset":
        raise UnsupportedPlanError(node.kind, "duplicates are dropped by some of the columns only")
    for child in node.children:
        _refuse_before_normalising(child)
