"""Operations as in the user's plan, before the stored form is computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provspark.model.operations import Column, Expression, Term

__all__ = ["DraftExpression", "DraftOperation", "Tree"]


@dataclass(frozen=True, slots=True)
class Tree:
    """A term with the terms below it."""

    term: Term
    children: tuple[Tree, ...]

    @classmethod
    def of(cls, terms: tuple[Term, ...]) -> Tree:
        """Build a tree from terms in prefix order."""
        return _tree(iter(terms))

    def walk(self) -> Iterator[Term]:
        """Yield all terms."""
        yield self.term
        for child in self.children:
            yield from child.walk()


def _tree(terms: Iterator[Term]) -> Tree:
    term = next(terms)
    return Tree(term, tuple(_tree(terms) for _ in range(term.children)))


@dataclass(frozen=True, slots=True)
class DraftExpression:
    """An expression, the text to show if it has no SQL, and why it has none."""

    expression: Expression
    tree: Tree
    shown: str
    why: str


@dataclass(frozen=True, slots=True)
class DraftOperation:
    """One operation of the plan."""

    index: int
    node: str
    children: tuple[int, ...]
    subqueries: tuple[int, ...]
    columns: tuple[Column, ...]
    expressions: tuple[DraftExpression, ...]
    details: tuple[tuple[str, str], ...]
    path: tuple[int, ...] | None
    """Of a leaf: its number, and those of the leaves that contain its plan; see `Rewriter.paths`."""
    site: str
    name: str

    def detail(self, key: str) -> str:
        """Return the value of a detail, or ""."""
        return next((v for k, v in self.details if k == key), "")

    def of_role(self, *roles: str) -> list[DraftExpression]:
        """Return the expressions of these roles."""
        return [e for e in self.expressions if e.expression.role in roles]
