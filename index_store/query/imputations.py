"""Imputations: operations that replace missing or flagged values of a column with an aggregate of the column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from provspark.model.drafts import Tree
from provspark.model.operations import Expression, Operation

__all__ = ["imputed"]

_SAME = frozenset({"Cast", "Round", "BRound", "Floor", "Ceil", "Alias", "KnownNotNull", "KnownNullable"})
"""Functions whose result still counts as the value of their first argument."""
_FIRST = frozenset({"Coalesce", "Nvl", "IfNull", "NaNvl"})
_AGGREGATES = frozenset({"AggregateExpression", "WindowExpression"})
_IMPUTERS = ("ImputerModel",)
_MISSING = frozenset({"IsNull", "IsNaN"})


def imputed(operations: Sequence[Operation], numbers: Sequence[int]) -> list[int]:
    """Return the ids of the columns that given operations of a write make by imputation."""
    makers = {e.column: (op, e) for op in operations for e in op.expressions if e.column >= 0}
    names = {c.id: c.name.lower() for op in operations for c in op.columns}
    reading = _Reading(operations, makers, names)
    return [e.column for i in numbers for e in operations[i].expressions if reading.is_imputation(operations[i], e)]


class _Reading:
    """Interprets expressions together with those of the columns that they use."""

    def __init__(
        self,
        operations: Sequence[Operation],
        makers: Mapping[int, tuple[Operation, Expression]],
        names: Mapping[int, str],
    ) -> None:
        self.operations, self.makers, self.names = operations, makers, names

    def is_imputation(self, op: Operation, e: Expression) -> bool:
        if e.role != "output" or not e.terms:
            return False
        tree = _bare(Tree.of(e.terms))
        node = tree.term.node
        if dict(op.details).get("transformer", "").rpartition(".")[2] in _IMPUTERS:
            return node in ("CaseWhen", "If", *_FIRST)
        if node in _FIRST and len(tree.children) > 1:
            kept, fills = _bare(tree.children[0]), tree.children[1:]
            column = kept.term.column
            return column >= 0 and any(self.fills(f, column, e.column) for f in fills)
        if node in ("CaseWhen", "If"):
            return self.chooses(tree, e.column)
        return False

    def chooses(self, tree: Tree, out: int) -> bool:
        """Whether a CASE returns a column, or else an aggregate of it, or a constant if it is missing."""
        cases = list(_cases(tree))
        kept = {v.term.column for _, v in cases if v.term.column >= 0 and not self.aggregates(v, set())}
        if len(kept) != 1:
            return False
        (column,) = kept
        fills = [(c, v) for c, v in cases if v.term.column != column]
        return bool(fills) and all(
            self.aggregates(v, self.called(column))
            or (_asks_missing(c, column) and v.term.node == "Literal" and self.names.get(out) in self.called(column))
            for c, v in fills
        )

    def fills(self, tree: Tree, column: int, out: int) -> bool:
        """Whether a value fills gaps of a column: an aggregate of it, or a constant if the result has the same name."""
        bare = _bare(tree)
        if bare.term.node == "Literal":
            return self.names.get(out) in self.called(column)
        return self.aggregates(bare, self.called(column))

    def called(self, column: int) -> set[str]:
        """Return the names of a column, including those from before it was renamed."""
        names = set()
        while column in self.names and self.names[column] not in names:
            names.add(self.names[column])
            maker = self.makers.get(column)
            if maker is None or len(maker[1].terms) != 1 or maker[1].terms[0].column < 0:
                break
            column = maker[1].terms[0].column
        return names

    def aggregates(self, tree: Tree, names: set[str], depth: int = 0) -> bool:
        """Whether a value is an aggregate of a column with one of these names, or of any column without names."""
        bare = _bare(tree)
        term = bare.term
        if depth > 20:
            return False
        if term.node in _AGGREGATES:
            return not names or any(self.names.get(t.column) in names for t in bare.walk() if t.column >= 0)
        if term.node == "ScalarSubquery":
            last = self.operations[int(term.value)]
            return any(
                self.aggregates(Tree.of(e.terms), names, depth + 1)
                for e in last.expressions
                if e.column >= 0 and e.terms
            )
        if term.column >= 0 and term.column in self.makers:
            terms = self.makers[term.column][1].terms
            return bool(terms) and self.aggregates(Tree.of(terms), names, depth + 1)
        return False


def _bare(tree: Tree) -> Tree:
    while tree.children and (_is_replaced(tree) or (tree.term.node == "NaNvl" and _is_null(tree.children[1]))):
        tree = tree.children[0]
    return tree


def _is_replaced(tree: Tree) -> bool:
    """Whether a function has the value of its first child, or only this child, as after a replacement by Spark."""
    return tree.term.node in _SAME or (tree.term.node in _FIRST and len(tree.children) == 1)


def _is_null(tree: Tree) -> bool:
    while tree.term.node == "Cast":
        tree = tree.children[0]
    return tree.term.node == "Literal" and tree.term.value == "NULL"


def _cases(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Yield each condition with its value; the value of ELSE comes with the whole CASE as its condition."""
    children = tree.children
    if tree.term.node == "If":
        yield children[0], _bare(children[1])
        yield children[0], _bare(children[2])
        return
    for i in range(0, len(children) - 1, 2):
        yield children[i], _bare(children[i + 1])
    if len(children) % 2:
        yield tree, _bare(children[-1])


def _asks_missing(condition: Tree, column: int) -> bool:
    return condition.term.node in _MISSING and _bare(condition.children[0]).term.column == column
