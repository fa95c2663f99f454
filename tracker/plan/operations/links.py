"""Which columns go into which, by the terms of expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from provspark.model.operations import ColumnLink, Dependence
from provspark.tracker.plan.operations.draft import DraftOperation, Tree

_SUBQUERIES = frozenset({"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery"})
_CONTEXT_ONLY = frozenset({"Lag", "Lead"})
_KEEPS_NO_OTHER = frozenset({"LEFT SEMI", "LEFT ANTI"})
WHOLE = -1


@dataclass(frozen=True, slots=True)
class _Flow:
    """That a column goes into an expression."""

    source: int
    kind: Dependence
    context: bool = False


def links(operation: DraftOperation, all_of: Sequence[DraftOperation]) -> tuple[ColumnLink, ...]:
    """Return what an operation's columns and rows depend on, each link once."""
    found = dict.fromkeys(_Links(operation, all_of).run())
    return tuple(sorted(found, key=lambda k: (k.out, k.source, k.kind, k.context)))


class _Links:
    def __init__(self, operation: DraftOperation, all_of: Sequence[DraftOperation]) -> None:
        self.operation, self.all = operation, all_of
        self.inputs = [c.id for i in operation.children for c in all_of[i].columns]

    def run(self) -> Iterator[ColumnLink]:
        """By the operation's class."""
        node = self.operation.node
        if node in ("Filter", "Project", "Union", "Expand"):
            yield from self.made()
            yield from self.deciding("filter", "condition")
        elif node == "Aggregate":
            yield from self.made()
            yield from self.deciding("group by", "group")
        elif node in ("Join", "LateralJoin", "AsOfJoin"):
            yield from self.join()
        elif node == "Window":
            yield from self.window()
        elif node == "Sort":
            yield from self.deciding("sort", "order")
        elif node == "Deduplicate":
            yield from self.deciding("group by", "group")
        elif node == "Distinct":
            yield from self.rows(self.inputs, "group by")
        elif node in ("Intersect", "Except"):
            yield from self.set_operation()
        elif node == "Generate":
            yield from self.generate()
        elif node == "TypedFilter":
            yield from self.rows(self.inputs, "filter")
        elif self.operation.children:
            yield from self.unknown()
            yield from self.deciding("group by", "group")

    def rows(self, sources: Iterable[int], kind: Dependence, *, context: bool = False) -> Iterator[ColumnLink]:
        """Columns that decide about rows."""
        for source in sources:
            yield ColumnLink(WHOLE, source, kind, context)

    def deciding(self, kind: Dependence, *roles: str) -> Iterator[ColumnLink]:
        """Expressions that decide about rows."""
        for e in self.operation.of_role(*roles):
            for f in self.flows(e.tree, kind):
                yield ColumnLink(WHOLE, f.source, kind, f.context)

    def made(self) -> Iterator[ColumnLink]:
        """Expressions that make columns."""
        for e in self.operation.of_role("output", "branch"):
            for f in self.flows(e.tree, "identity"):
                if e.expression.column != f.source or f.kind != "identity":
                    yield ColumnLink(e.expression.column, f.source, f.kind, f.context)

    def join(self) -> Iterator[ColumnLink]:
        """The condition's columns decide; a key that equals another is as much that other's.

        A lateral subquery's columns are handed on under ids of their own.
        """
        if self.operation.node == "LateralJoin":
            known = set(self.inputs)
            made = [c for c in self.operation.columns if c.id not in known]
            found = self.all[self.operation.subqueries[0]].columns if self.operation.subqueries else ()
            yield from (ColumnLink(a.id, b.id, "identity") for a, b in zip(made, found, strict=False))
        how = self.operation.detail("type")
        right = {c.id for i in self.operation.children[1:] for c in self.all[i].columns}
        anti = how == "LEFT ANTI"
        for e in self.operation.of_role("condition", "order"):
            for f in self.flows(e.tree, "join"):
                yield ColumnLink(WHOLE, f.source, "join", f.context or (anti and f.source in right))
            for a, b in _equal(e.tree):
                if how not in _KEEPS_NO_OTHER:
                    yield ColumnLink(a, b, "join")
                    yield ColumnLink(b, a, "join")
        if how == "LEFT SEMI":
            for e in self.operation.of_role("condition"):
                for a, b in _equal(e.tree):
                    yield ColumnLink(*((b, a) if a in right else (a, b)), "join")

    def window(self) -> Iterator[ColumnLink]:
        """A value over a partition is computed from its own row and, as context, from the others."""
        for e in self.operation.of_role("output"):
            out = e.expression.column
            for f in self.flows(e.tree, "identity"):
                if not f.context and not _only_others(e.tree, f):
                    yield ColumnLink(out, f.source, f.kind)
                yield ColumnLink(out, f.source, f.kind, context=True)

    def set_operation(self) -> Iterator[ColumnLink]:
        """Rows are kept for being equal, in all columns, to rows of the other side, or for being not."""
        left, right = (self.all[i].columns for i in self.operation.children)
        context = self.operation.node == "Except"
        yield from self.rows((c.id for c in left), "group by")
        yield from self.rows((c.id for c in right), "join", context=context)
        if not context:
            for a, b in zip(left, right, strict=True):
                yield ColumnLink(a.id, b.id, "join")

    def generate(self) -> Iterator[ColumnLink]:
        """Each row made holds a part of a value; without OUTER a row of no parts goes."""
        for e in self.operation.of_role("generator"):
            for f in self.flows(e.tree, "transformation"):
                for out in self.operation.detail("columns").split():
                    yield ColumnLink(int(out), f.source, f.kind, f.context)
                if self.operation.detail("outer") != "true":
                    yield ColumnLink(WHOLE, f.source, "filter", f.context)

    def unknown(self) -> Iterator[ColumnLink]:
        """What is computed in a way that can't be seen may depend on all that goes in."""
        known = set(self.inputs)
        for column in self.operation.columns:
            if column.id not in known:
                for source in self.inputs:
                    yield ColumnLink(column.id, source, "transformation")

    def flows(self, tree: Tree, kind: Dependence, *, context: bool = False) -> Iterator[_Flow]:
        """Return what goes into an expression's value, `kind` being how the value goes on."""
        node, children = tree.term.node, tree.children
        inner: Dependence = "transformation" if kind == "identity" else kind
        if tree.term.column >= 0:
            yield _Flow(tree.term.column, kind, context)
        elif node in _SUBQUERIES:
            yield from self.subquery(tree, inner, context)
        elif node == "If":
            yield from self.flows(children[0], _condition(kind), context=context)
            for child in children[1:]:
                yield from self.flows(child, inner, context=context)
        elif node == "CaseWhen":
            for i, child in enumerate(children):
                asks = i % 2 == 0 and i + 1 < len(children)
                yield from self.flows(child, _condition(kind) if asks else inner, context=context)
        elif node == "AggregateExpression":
            value: Dependence = "aggregation" if inner == "transformation" else inner
            yield from self.flows(children[0], value, context=context)
            for child in children[1:]:
                yield from self.flows(child, _condition(kind), context=context)
        elif node == "WindowExpression":
            yield from self.flows(children[0], inner, context=context)
            yield from self.flows(children[1], "window" if inner == "transformation" else inner, context=context)
        else:
            negated = node == "Not" and children[0].term.node in ("Exists", "InSubquery")
            for child in children:
                yield from self.negated(child, inner) if negated else self.flows(child, inner, context=context)

    def negated(self, tree: Tree, kind: Dependence) -> Iterator[_Flow]:
        """Of NOT EXISTS and NOT IN no row of the subquery is owed anything."""
        for child in tree.children or (tree,):
            yield from self.flows(child, kind, context=child.term.node in _SUBQUERIES)

    def subquery(self, tree: Tree, kind: Dependence, context: bool) -> Iterator[_Flow]:
        """A scalar's rows are context; of EXISTS only that there are rows counts, which its own operations tell."""
        last = self.all[int(tree.term.value)]
        if tree.term.node != "Exists":
            for column in last.columns:
                yield _Flow(column.id, kind, context or tree.term.node == "ScalarSubquery")


def _condition(kind: Dependence) -> Dependence:
    return "conditional" if kind in ("identity", "transformation", "aggregation", "conditional") else kind


def _equal(tree: Tree) -> Iterator[tuple[int, int]]:
    """Return the pairs of columns that a condition makes equal."""
    if tree.term.node == "And":
        for child in tree.children:
            yield from _equal(child)
    elif tree.term.node in ("EqualTo", "EqualNullSafe"):
        a, b = (_column(child) for child in tree.children)
        if a >= 0 and b >= 0:
            yield a, b


def _column(tree: Tree) -> int:
    """Return the column that a key is, casts aside."""
    if tree.term.node == "Cast":
        return _column(tree.children[0])
    return tree.term.column


def _only_others(tree: Tree, flow: _Flow) -> bool:
    """Whether a window's value is taken from another row than its own."""
    return flow.kind == "transformation" and any(t.node in _CONTEXT_ONLY for t in tree.walk())
