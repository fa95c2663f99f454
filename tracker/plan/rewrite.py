"""Rewrites a normalised plan from its scans up, so that every row carries where it came from."""

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
    """A node of a logical plan: its number in java/plan/Rewrite.java and what is asked of every node."""

    number: int
    kind: str
    subqueries: int
    detail: str
    """What its family's rule has to know of it: `detail` of java/plan/Operator.java."""
    same: int
    """The first node read that has the same rows by the same plan: its own number, unless it is used again."""
    leaf: int
    """Its number among the leaves of the user's plan; -1 of any other node."""
    children: tuple[PlanNode, ...]


@dataclass(frozen=True, slots=True)
class Twins:
    """A plan that is read again, by the taps and scans of its first reading; each of these counts once more, as a twin.

    `leaves` are its leaves by those of the first reading, `made` the twins so far by (grouped, origin).
    """

    leaves: dict[int, int]
    made: dict[tuple[bool, int], int]


_MALFORMED = "ProvSpark's plan for it failed a check, so the plain one ran (please report it)"


class Lender(Protocol):
    """A plan that was traced before, and that others read. It is not a class of this package: they depend on it."""

    def receipts(self) -> dict[int, list[Receipt]]:
        """Return by tap what was noted while it was computed."""


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

    def __init__(self, jvm: Jvm, folder: str, caches: Any = None) -> None:
        self.jvm = jvm
        self.caches = caches
        self._operators = operators(jvm)
        self.java: Any = jvm.new("Rewrite", jvm.session, folder, CHOSEN, self._operators)
        self._parts: dict[str, Any] = {}
        self.scans: list[Scan] = []
        self.paths: list[tuple[int, ...]] = []
        """Which leaf each scan was made for; of what is cached, and then which one within: (4, 1) is leaf 1 of the plan
        that leaf 4 keeps. `_ruled` puts the first number, `TracedCache.place` brings the rest."""
        self.taps: list[PlacedTap] = []
        self.placed = 0
        """How many taps stand in plans, those of plans traced before among them: java/taps/Taps.java counts the same,
        and receipts and sidecars go by it (`PlacedTap.place`). Provenance columns go by numbers in `taps`, where twins
        count, too."""
        self.lent: dict[int, tuple[Lender, int]] = {}
        """By a tap's place, which plan traced before noted what it says, and at which place there."""
        self.root: PlanNode | None = None
        self.taps_of: dict[int, int] = {}
        """By an aggregate's number, its tap."""
        self._answers: dict[int, tuple[ProvenanceColumn, range]] = {}
        """By a scalar subquery's number: its value's provenance column, and the scans made for it."""
        self._shareable: dict[int, tuple[Traced, range]] = {}
        """By the number of a node with taps below: what it became, and the scans made for it."""

    def part(self, name: str) -> Any:
        """Return what java/plan/Rewrite.java leaves to a family: an object of a class in its folder, given that."""
        if name not in self._parts:
            self._parts[name] = self.jvm.new(name, self.java)
        return self._parts[name]

    def run(self, analysed: Any) -> Traced:
        """Normalise and rewrite; UnsupportedPlanError names the first node that can't be traced exactly."""
        try:
            marks = CONTEXT, UNSEEN, DOMAIN, CHOSEN
            rules = self.jvm.new("Normal", *marks)
            normal = rules.apply(analysed, "\n".join(CLEANING), "\n".join(NORMAL))
            order = str(rules.order()).split()
            self.java.keeping(rules.kept())  # before `_read`, which writes of each node whether it keeps rows
        except Exception as e:
            raise UnsupportedPlanError("Subquery", f"Spark's rules can't unnest it: {reason(e)}") from e
        if normal is None:
            kind = str(rules.refused())
            raise UnsupportedPlanError(kind, changed(kind))
        root = self.root = self._read(normal)
        traced = self.trace(root)
        # Last, as it numbers inputs anew. There is an order only if all leaves bear numbers, each its own (java/trees/
        # Marks.java); it leaves out those below DOMAIN, of which no scan is made.
        provenance = self._ordered([int(leaf) for leaf in order], traced.provenance) if order else traced.provenance
        return Traced(self.java.front(self.java.answered(traced.number)), provenance)

    def sound(self, plan: Any, analysed: Any) -> Any:
        """Return a plan that replaces the user's, whose columns are its first; UnsupportedPlanError if it is malformed.

        A plan whose columns' ids are ambiguous would make Spark's optimiser move filters wrongly: other rows come out.
        """
        kind = self.root.kind if self.root else "Plan"
        try:
            # Spark's analyser gives relations that are read twice columns of their own, and then checks the plan. The
            # check would refuse taps in subqueries: for a plan with some, `checked` does the first and marks the plan
            # as analysed, so that Spark leaves out both.
            ready = self._phases(self.java.checked(plan)).analyzed()
        except Exception as e:
            raise UnsupportedPlanError(kind, f"{_MALFORMED}: {reason(e)}") from e
        wrong = self.jvm.new("Integrity", self._operators).broken(ready, analysed)
        if wrong:
            raise UnsupportedPlanError(kind, f"{_MALFORMED}: {wrong}")
        return ready

    def nullable(self, plan: Any, analysed: Any, *, optimised: bool) -> Any:
        """Return a sound plan whose columns may be null where the user's may: Parquet files and tables tell.

        The optimised plans are compared, or those that they are made of.
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
        """Number the inputs by the order of their leaves; return provenance columns that know the new numbers."""
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
        """Rewrite one node; `above` is the filter straight above it, where there is one.

        What is used again keeps its taps, so that Spark can compute it once; it counts as read again. Nodes of a chain
        of joins are rewritten each time: Spark orders no chain whose filters stand above the columns' new names.
        """
        if node.same in self._shareable:
            first, scans = self._shareable[node.same]
            twins = self._twins(scans, self.java.node(node.same), self.java.node(node.number))
            provenance = tuple(self.twin(column, twins) for column in first.provenance)
            return Traced(self.java.again(node.number, node.same, first.number), provenance)
        taps, inputs = len(self.taps), len(self.scans)
        traced = self._traced(node, above)
        new = self.taps[taps:]
        # Two readings share a tap's notes. Without taps nothing is to be shared, and Spark plans each place alone; keys
        # that are not lasting, such as rows' numbers, would differ where Spark computes the plan at each place.
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
        """Rewrite a node that no row is owed to: its inputs count among those read. Returns its number in java."""
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
                raise UnsupportedPlanError(node.kind, f"{line} in an expression has no exact rule")
            number = int(line)
            if number not in self._answers:
                self._answer_one(number, traced)
            if number in self._answers:  # it is not where no row is owed to its value
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
        """Return the twins for a plan that is equal to one before it, all of whose inputs count again."""
        leaves = (map(int, self.java.leaves(plan).split()) for plan in (first, again))
        twins = Twins(dict(zip(*leaves, strict=False)), {})
        for scan in scans:
            self.twin(ProvenanceColumn(False, scan), twins)
        return twins

    def twin(self, column: ProvenanceColumn, twins: Twins) -> ProvenanceColumn:
        """Return a provenance column to the same rows as another reading of them."""
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
        """Give a relation its address column; `predicates` on its rows may tell which partitions are read."""
        return self.leaf(scan_relation(self.jvm, self.java.node(node.number), predicates))

    def leaf(self, scan: Scan) -> Traced:
        """Read an input, as its next occurrence."""
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
        """Note that traced node `number` is a tap now."""
        self.taps.append(
            PlacedTap(len(self.taps), provenance, keyed, label, self.placed, keyless, numbered, coarse, lasting)
        )
        self.placed += 1
        return Traced(number, provenance)

    def receipts(self) -> dict[int, list[Receipt]]:
        """Return by tap what its tasks say that they noted; see `taps.counted`."""
        return counted(self.java.receipts()) | self.lent_receipts()

    def lent_receipts(self) -> dict[int, list[Receipt]]:
        """Return the receipts of taps in what is cached."""
        held = {id(h): h.receipts() for h, _ in self.lent.values()}
        return {place: held[id(h)].get(there, []) for place, (h, there) in self.lent.items()}

    def _read(self, plan: Any) -> PlanNode:
        return _node(iter(self.java.read(plan).splitlines()))


def _node(lines: Iterator[str]) -> PlanNode:
    # As java/plan/Nodes.java writes them, in pre-order; only the detail, the last field, may hold blanks.
    number, same, kind, children, subqueries, leaf, detail = next(lines).split(" ", 6)
    below = tuple(_node(lines) for _ in range(int(children)))
    return PlanNode(int(number), kind, int(subqueries), detail, int(same), int(leaf), below)
