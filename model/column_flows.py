"""Flows between columns, found in the terms of expressions; families of operators build their links from these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from provspark.model.drafts import DraftOperation, Tree
from provspark.model.operations import ColumnLink, Dependence

_SUBQUERIES = frozenset({"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery"})
__all__ = ["WHOLE", "ColumnFlows", "Flow", "equal_columns"]

WHOLE = -1
"""Stands for the whole row in the place of a column."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A column that goes into an expression."""

    source: int
    kind: Dependence
    context: bool = False


class ColumnFlows:
    """What goes into the columns and rows of one operation.

    Parameters
    ----------
    operation : DraftOperation
    all_of : sequence of DraftOperation
        Operations of the plan, by number.

    Attributes
    ----------
    inputs : list of int
        Ids of the columns of the operation's children.
    """

    def __init__(self, operation: DraftOperation, all_of: Sequence[DraftOperation]) -> None:
        self.operation, self.all = operation, all_of
        self.inputs = [c.id for i in operation.children for c in all_of[i].columns]

    def rows(self, sources: Iterable[int], kind: Dependence, *, context: bool = False) -> Iterator[ColumnLink]:
        """Yield links from columns that decide about rows."""
        for source in sources:
            yield ColumnLink(WHOLE, source, kind, context)

    def deciding(self, kind: Dependence, *roles: str) -> Iterator[ColumnLink]:
        """Yield links from expressions that decide about rows."""
        for e in self.operation.of_role(*roles):
            for f in self.flows(e.tree, kind):
                yield ColumnLink(WHOLE, f.source, kind, f.context)

    def made(self) -> Iterator[ColumnLink]:
        """Yield links from expressions to the columns that they compute."""
        for e in self.operation.of_role("output", "branch"):
            for f in self.flows(e.tree, "identity"):
                if e.expression.column != f.source or f.kind != "identity":
                    yield ColumnLink(e.expression.column, f.source, f.kind, f.context)

    def unknown(self) -> Iterator[ColumnLink]:
        """Yield links for unknown computations: each new column may depend on all inputs."""
        known = set(self.inputs)
        for column in self.operation.columns:
            if column.id not in known:
                for source in self.inputs:
                    yield ColumnLink(column.id, source, "transformation")

    def flows(self, tree: Tree, kind: Dependence, *, context: bool = False) -> Iterator[Flow]:
        """Yield what goes into an expression's value; `kind` is how the value is used."""
        node, children = tree.term.node, tree.children
        inner: Dependence = "transformation" if kind == "identity" else kind
        if tree.term.column >= 0:
            yield Flow(tree.term.column, kind, context)
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

    def negated(self, tree: Tree, kind: Dependence) -> Iterator[Flow]:
        """Yield flows of NOT EXISTS and NOT IN; the subquery's rows are context."""
        for child in tree.children or (tree,):
            yield from self.flows(child, kind, context=child.term.node in _SUBQUERIES)

    def subquery(self, tree: Tree, kind: Dependence, context: bool) -> Iterator[Flow]:
        """Yield flows of a subquery: a scalar's rows are context; EXISTS has none, as its operations link its rows."""
        last = self.all[int(tree.term.value)]
        if tree.term.node != "Exists":
            for column in last.columns:
                yield Flow(column.id, kind, context or tree.term.node == "ScalarSubquery")


def _condition(kind: Dependence) -> Dependence:
    return "conditional" if kind in ("identity", "transformation", "aggregation", "conditional") else kind


def equal_columns(tree: Tree) -> Iterator[tuple[int, int]]:
    """Yield the pairs of columns that a condition makes equal."""
    if tree.term.node == "And":
        for child in tree.children:
            yield from equal_columns(child)
    elif tree.term.node in ("EqualTo", "EqualNullSafe"):
        a, b = (_column(child) for child in tree.children)
        if a >= 0 and b >= 0:
            yield a, b


def _column(tree: Tree) -> int:
    """Return the id of the column that a key is, without casts."""
    if tree.term.node == "Cast":
        return _column(tree.children[0])
    return tree.term.column
