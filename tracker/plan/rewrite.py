"""Rewrites a normalised plan from its scans upwards, so that every row carries its provenance columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.families.registry import capture_rule, changed, refusal
from provspark.tracker.plan.normalisation import CHOSEN, CLEANING, CONTEXT, DOMAIN, UNSEEN
from provspark.tracker.plan.normalisation import RULES as NORMAL
from provspark.tracker.plan.operators import operators
from provspark.tracker.plan.provenance_columns import ProvenanceColumn, Traced
from provspark.tracker.sources import Scan, scan_relation
from provspark.tracker.spark.jvm import Jvm
from provspark.tracker.spark.reasons import reason
from provspark.tracker.taps.taps import PlacedTap, Receipt, counted


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A node of a logical plan, as java/plan/Nodes.java reads it. `number` is its number in java/plan/Rewrite.java."""

    number: int
    kind: str
    subqueries: int
    detail: str
    """Details for its family's rule: `detail` of java/plan/Operator.java."""
    same: int
    """Number of the first node with the same rows by the same plan; its own number if it is that one."""
    leaf: int
    """Number among the leaves of the user's plan; -1 for other nodes."""
    children: tuple[PlanNode, ...]


@dataclass(frozen=True, slots=True)
class Twins:
    """Another reading of a plan, with the taps and scans of the first; each of them counts once more, as a twin.

    `leaves` maps the leaves of the first reading to its own; `made` has the twins so far, by (grouped, origin).
    """

    leaves: dict[int, int]
    made: dict[tuple[bool, int], int]


_MALFORMED = "ProvSpark's rewritten plan failed a check, so Spark ran the plain plan (please report it)"


class Lender(Protocol):
    """A plan that was traced before and that other plans read, such as a cache. Dependent packages implement it."""

    def receipts(self) -> dict[int, list[Receipt]]:
        """Return the receipts of its taps, by tap."""


class Rewriter:
    """Rewrite of one write's plan: the rules call its methods, and add scans and taps to it.

    Parameters
    ----------
    jvm : Jvm
    folder : str
        URL of the folder for sidecars, reachable from the executors.
    caches : Caches, optional
        Caches, checkpoints and RDDs of the script, for plans that read them.
    """

    def __init__(self, jvm: Jvm, folder: str, caches: Any = None) -> None:
        self.jvm = jvm
        self.caches = caches
        self._operators = operators(jvm)
        self.java: Any = jvm.new("Rewrite", jvm.session, folder, CHOSEN, self._operators)
        self._parts: dict[str, Any] = {}
        self.scans: list[Scan] = []
        self.paths: list[tuple[int, ...]] = []
        """The leaf that each scan was made for. In a cached plan the path goes on: (4, 1) is leaf 1 of the plan that
        leaf 4 caches. `_ruled` adds the first number, `TracedCache.place` the rest."""
        self.taps: list[PlacedTap] = []
        self.placed = 0
        """Number of taps in plans, including those of plans traced before. java/taps/Taps.java counts the same way, and
        receipts and sidecars use this number (`PlacedTap.place`). Provenance columns use positions in `taps`, where
        twins count too."""
        self.lent: dict[int, tuple[Lender, int]] = {}
        """Plan that was traced before and whose receipts count for a tap, and the tap's place there, by the tap's place
        here."""
        self.root: PlanNode | None = None
        self.taps_of: dict[int, int] = {}
        """Tap of each aggregate, by the aggregate's number."""
        self._answers: dict[int, tuple[ProvenanceColumn, range]] = {}
        """Provenance column of each scalar subquery's value, and the scans made for it, by the subquery's number."""
        self._shareable: dict[int, tuple[Traced, range]] = {}
        """Result of rewriting each node with taps below, and the scans made for it, by the node's number."""

    def part(self, name: str) -> Any:
        """Return the object of a class in a family's folder that works on this rewrite (java/plan/Rewrite.java)."""
        if name not in self._parts:
            self._parts[name] = self.jvm.new(name, self.java)
        return self._parts[name]

    def run(self, analysed: Any) -> Traced:
        """Normalise and rewrite a plan; raise `UnsupportedPlanError` for the first node that can't be exact."""
        try:
            marks = CONTEXT, UNSEEN, DOMAIN, CHOSEN
            rules = self.jvm.new("Normal", *marks)
            normal = rules.apply(analysed, "\n".join(CLEANING), "\n".join(NORMAL))
            order = str(rules.order()).split()
            self.java.keeping(rules.kept())  # before `_read`, whose details depend on it
        except Exception as e:
            raise UnsupportedPlanError(
                "Subquery", f"Spark's rules can't turn it into a join: {reason(e)}. Write it as a join"
            ) from e
        if normal is None:
            kind = str(rules.refused())
            raise UnsupportedPlanError(kind, changed(kind))
        root = self.root = self._read(normal)
        traced = self.trace(root)
        # Last, because it renumbers inputs. There is an order only if each leaf has a number of its own (java/trees/
        # Marks.java). It lacks the leaves below DOMAIN, which have no scans.
        provenance = self._ordered([int(leaf) for leaf in order], traced.provenance) if order else traced.provenance
        return Traced(self.java.front(self.java.answered(traced.number)), provenance)

    def sound(self, plan: Any, analysed: Any) -> Any:
        """Return the analysed form of a plan that replaces the user's; raise `UnsupportedPlanError` if it is malformed.

        Its first columns must be the user's. If the ids of its columns were ambiguous, Spark's optimiser would move
        filters wrongly, and the plan would return other rows.
        """
        kind = self.root.kind if self.root else "Plan"
        try:
            # Spark's analyser gives each reading of a relation its own columns, and then checks the plan. The check
            # would refuse taps in subqueries: for a plan with some, `checked` does the first part and marks the plan
            # as analysed, so that Spark skips both.
            ready = self._phases(self.java.checked(plan)).analyzed()
        except Exception as e:
            raise UnsupportedPlanError(kind, f"{_MALFORMED}: {reason(e)}") from e
        wrong = self.jvm.new("Integrity", self._operators).broken(ready, analysed)
        if wrong:
            raise UnsupportedPlanError(kind, f"{_MALFORMED}: {wrong}")
        return ready

    def nullable(self, plan: Any, analysed: Any, *, optimised: bool) -> Any:
        """Return a sound plan whose columns are nullable where the user's are: Parquet files and tables store that.

        Compare the optimised plans if `optimised`, otherwise the given ones.
        """
        rules = self.jvm.new("Nullability", self._operators)
        if optimised and not rules.open(analysed):
            return plan
        ours, users = (self._phases(p).optimizedPlan() if optimised else p for p in (plan, analysed))
        made = rules.alike(plan, ours, users)
        return plan if made.equals(plan) else self.sound(made, analysed)

    def _phases(self, plan: Any) -> Any:
        """Return the QueryExecution of a plan."""
        return self.jvm.rows(plan).queryExecution()

    def _ordered(self, leaves: list[int], provenance: tuple[ProvenanceColumn, ...]) -> tuple[ProvenanceColumn, ...]:
        """Number the inputs in the order of their leaves; return the provenance columns with the new numbers."""
        # A cached leaf has several scans: the sort is stable, so they stay in order.
        before = sorted(range(len(self.scans)), key=lambda i: leaves.index(self.paths[i][0]))
        now = {old: new for new, old in enumerate(before)}

        def renumbered(some: tuple[ProvenanceColumn, ...]) -> tuple[ProvenanceColumn, ...]:
            return tuple(column if column.grouped else replace(column, origin=now[column.origin]) for column in some)

        self.scans[:] = [self.scans[i] for i in before]
        self.paths[:] = [self.paths[i] for i in before]
        self.taps[:] = [replace(tap, provenance=renumbered(tap.provenance)) for tap in self.taps]
        return renumbered(provenance)

    def trace(self, node: PlanNode, above: PlanNode | None = None) -> Traced:
        """Rewrite one node; `above` is the filter directly above it, or None.

        A node that is used again keeps its taps, so that Spark can compute it once; it counts as another reading. Nodes
        of a chain of joins are rewritten each time: Spark can't reorder a chain whose filters use the columns' new
        names.
        """
        if node.same in self._shareable:
            first, scans = self._shareable[node.same]
            twins = self._twins(scans, self.java.node(node.same), self.java.node(node.number))
            provenance = tuple(self.twin(column, twins) for column in first.provenance)
            return Traced(self.java.again(node.number, node.same, first.number), provenance)
        taps, inputs = len(self.taps), len(self.scans)
        traced = self._traced(node, above)
        new = self.taps[taps:]
        # Two readings share a tap's records. Without taps there is nothing to share. Keys that are not lasting, such as
        # row numbers, would differ if Spark computed the plan at each place.
        if new and all(tap.lasting for tap in new) and not self._rule(node).chained(node):
            self._shareable[node.number] = traced, range(inputs, len(self.scans))
        return traced

    def _traced(self, node: PlanNode, above: PlanNode | None) -> Traced:
        traced = self._ruled(node, above)
        if not node.subqueries:
            return traced
        known = dict.fromkeys(self._answer(node, traced=True))
        provenance = tuple(column for column in known if column not in traced.provenance)
        return Traced(self.java.constant(traced.number, len(provenance)), traced.provenance + provenance)

    def _ruled(self, node: PlanNode, above: PlanNode | None) -> Traced:
        before = len(self.paths)
        traced = self._rule(node).trace(self, node, above)
        if not node.children:
            self.paths[before:] = [(node.leaf, *path) for path in self.paths[before:]]
        return traced

    def unseen(self, node: PlanNode, above: PlanNode | None = None) -> int:
        """Rewrite a node to which no edges lead, though its inputs count as read; return its number in Java."""
        if node.detail == DOMAIN:
            return int(self.java.bare(node.number))
        if node.subqueries:
            self._answer(node, traced=False)
        if not node.children:
            return int(self.java.hidden(node.number, self._ruled(node, above).number))
        rule = capture_rule(node.kind)
        below = [
            self.unseen(child, node if rule is not None and rule.filters(node) else None) for child in node.children
        ]
        return int(self.java.rebuilt(node.number, " ".join(map(str, below))))

    def _answer(self, node: PlanNode, *, traced: bool) -> list[ProvenanceColumn]:
        """Rewrite the scalar subqueries in a node's expressions; return the provenance columns of their values."""
        provenance: list[ProvenanceColumn] = []
        for line in self.java.scalars(node.number).splitlines():
            if not line.isdigit():
                raise UnsupportedPlanError(node.kind, f"{line} inside an expression is not supported; use a join")
            number = int(line)
            if number not in self._answers:
                self._answer_one(number, traced)
            if number in self._answers:  # it is missing if no edges lead to its rows
                provenance.append(self._answers[number][0])
        return provenance

    def _answer_one(self, number: int, traced: bool) -> None:
        root = self._read(self.java.answers().subquery(number))
        if not traced:
            self.java.answer(number, root.number, self.unseen(root))
            return
        already, before = self.java.answers().alike(number), len(self.scans)
        if already in self._answers:
            self.java.answers().share(number, already)
            first, scans = self._answers[already]
            column = self.twin(first, self._twins(scans, *(self.java.answers().subquery(n) for n in (already, number))))
        else:
            value = self.trace(root)
            tap = self.tapped(self.java.tapAll(value.number), value.provenance, "subquery", keyed=True, keyless=True)
            self.java.answer(number, root.number, tap.number)
            column = ProvenanceColumn(True, len(self.taps) - 1, "context")
        self._answers[number] = column, range(before, len(self.scans))

    def _twins(self, scans: range, first: Any, again: Any) -> Twins:
        """Return the twins for a plan that equals an earlier one, whose inputs all count again."""
        leaves = (map(int, self.java.leaves(plan).split()) for plan in (first, again))
        twins = Twins(dict(zip(*leaves, strict=False)), {})
        for scan in scans:
            self.twin(ProvenanceColumn(False, scan), twins)
        return twins

    def twin(self, column: ProvenanceColumn, twins: Twins) -> ProvenanceColumn:
        """Return a provenance column for another reading of the same rows."""
        made = twins.made
        if (column.grouped, column.origin) not in made:
            if column.grouped:
                tap = self.taps[column.origin]
                provenance = tuple(self.twin(inner, twins) for inner in tap.provenance)
                self.taps.append(replace(tap, number=len(self.taps), provenance=provenance))
                made[True, column.origin] = len(self.taps) - 1
            else:
                leaf, *within = self.paths[column.origin]
                self.scans.append(self.scans[column.origin])
                self.paths.append((twins.leaves.get(leaf, leaf), *within))
                made[False, column.origin] = len(self.scans) - 1
        return replace(column, origin=made[column.grouped, column.origin])

    def _rule(self, node: PlanNode) -> CaptureRule:
        rule = capture_rule(node.kind)
        if rule is None:
            raise UnsupportedPlanError(node.kind, refusal(node.kind))
        return rule

    def scan(self, node: PlanNode, predicates: Any) -> Traced:
        """Give a relation its address column; `predicates` on its rows may limit which partitions are read."""
        return self.leaf(scan_relation(self.jvm, self.java.node(node.number), predicates))

    def leaf(self, scan: Scan) -> Traced:
        """Add an input, as its next occurrence; return its leaf."""
        self.scans.append(scan)
        self.paths.append(())
        return Traced(self.java.leaf(scan.plan), (ProvenanceColumn(False, len(self.scans) - 1),))

    def tapped(
        self,
        number: int,
        provenance: tuple[ProvenanceColumn, ...],
        label: str,
        *,
        keyed: bool,
        keyless: bool = False,
        numbered: bool = False,
        coarse: bool = False,
        lasting: bool = True,
    ) -> Traced:
        """Register traced node `number` as a tap."""
        self.taps.append(
            PlacedTap(len(self.taps), provenance, keyed, label, self.placed, keyless, numbered, coarse, lasting)
        )
        self.placed += 1
        return Traced(number, provenance)

    def receipts(self) -> dict[int, list[Receipt]]:
        """Return the receipts that count, by tap; see `taps.counted`."""
        return counted(self.java.receipts()) | self.lent_receipts()

    def lent_receipts(self) -> dict[int, list[Receipt]]:
        """Return the receipts of taps in cached plans, by tap."""
        held = {id(h): h.receipts() for h, _ in self.lent.values()}
        return {place: held[id(h)].get(there, []) for place, (h, there) in self.lent.items()}

    def _read(self, plan: Any) -> PlanNode:
        return _node(iter(self.java.read(plan).splitlines()))


def _node(lines: Iterator[str]) -> PlanNode:
    # The format of java/plan/Nodes.java, in pre-order; only the last field, the detail, may contain spaces.
    number, same, kind, children, subqueries, leaf, detail = next(lines).split(" ", 6)
    below = tuple(_node(lines) for _ in range(int(children)))
    return PlanNode(int(number), kind, int(subqueries), detail, int(same), int(leaf), below)
