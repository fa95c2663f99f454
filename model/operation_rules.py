"""Rules for how the operations of a family of operators are described in the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from provspark.model.column_flows import ColumnFlows
from provspark.model.drafts import DraftOperation
from provspark.model.operation_texts import shown
from provspark.model.operations import Category, ColumnLink

__all__ = ["AGAIN", "OperationRule", "column_categories", "computed", "widened"]

AGAIN = ""
"""Value of `OperationRule.opaque` for operations that can be replayed from their text."""

Categories = Callable[[DraftOperation, Sequence[DraftOperation]], tuple[Category, ...]]


def column_categories(o: DraftOperation, all_of: Sequence[DraftOperation]) -> tuple[Category, ...]:
    """Return what happens to columns: a computed one replaces one with its name, or is new."""
    before = {c.id: c.name for i in o.children for c in all_of[i].columns}
    same = {e.expression.column: e.tree.term.column for e in o.expressions}
    kept: set[int] = set()
    made: list[str] = []
    for column in o.columns:
        source = column.id if column.id in before else same.get(column.id, -1)
        if column.id in before or (source in before and source not in kept):
            kept.add(source)
        else:
            made.append(column.name.lower())
    gone = [name.lower() for i, name in before.items() if i not in kept]
    replaced = [name for name in made if name in gone]
    changes: list[Category] = ["transformation"] if replaced else []
    if any(name not in made for name in gone):
        changes.append("vertical reduction")
    if len(replaced) < len(made):
        changes.append("vertical augmentation")
    return tuple(changes)


def widened(o: DraftOperation, all_of: Sequence[DraftOperation]) -> tuple[Category, ...]:
    """Return what happens to columns, and that there are more rows."""
    return (*column_categories(o, all_of), "horizontal augmentation")


def computed(flows: ColumnFlows) -> Iterable[ColumnLink]:
    """Yield links into computed columns, and from conditions that decide about rows."""
    yield from flows.made()
    yield from flows.deciding("filter", "condition")


def _by_name(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return " ".join([o.node, *(shown(e) for e in o.expressions)])


def _unknown(flows: ColumnFlows) -> Iterable[ColumnLink]:
    yield from flows.unknown()
    yield from flows.deciding("group by", "group")


@dataclass(frozen=True, slots=True)
class OperationRule:
    """How operations of one of Spark's plan nodes are described. A node without a rule has all defaults.

    Parameters
    ----------
    text : function of (operation, all operations of the plan)
        What the operation does, in one line.
    links : function of ColumnFlows
        Which columns go into which, and which decide about rows.
    categories : tuple of Category, or function of (operation, all operations of the plan)
        What the operation does to the table; by default, what happens to its columns.
    as_many : bool
        Whether it returns as many rows as it reads.
    groups : bool
        Whether it becomes an aggregate, which reads all rows before it returns one.
    contextual : bool
        Whether its values are computed from rows other than those that its rows are made from.
    opaque : str
        Why an operation can't be replayed from its text; `AGAIN` if it can. ``{}`` is replaced by the node.
    """

    text: Callable[[DraftOperation, Sequence[DraftOperation]], str] = _by_name
    links: Callable[[ColumnFlows], Iterable[ColumnLink]] = _unknown
    categories: tuple[Category, ...] | Categories = column_categories
    as_many: bool = False
    groups: bool = False
    contextual: bool = False
    opaque: str = "no text stands for {}"

    def opaque_of(self, node: str) -> str:
        """Return why an operation of a node can't be replayed from its text, or ""."""
        return self.opaque.format(node)

    def categories_of(self, o: DraftOperation, all_of: Sequence[DraftOperation]) -> tuple[Category, ...]:
        """Return an operation's categories, in the order of `Category`."""
        if not o.children:
            return ("source",)
        return self.categories if isinstance(self.categories, tuple) else self.categories(o, all_of)

    def links_of(self, o: DraftOperation, all_of: Sequence[DraftOperation]) -> tuple[ColumnLink, ...]:
        """Return what an operation's columns and rows depend on, each link once."""
        links = set(self.links(ColumnFlows(o, all_of))) if o.children else set()
        return tuple(sorted(links, key=lambda k: (k.out, k.source, k.kind, k.context)))
