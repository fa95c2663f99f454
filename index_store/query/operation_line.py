"""Descriptions of operations, alone or combined by script line or name, with the columns that they touch."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from provspark.index_store.query.helper_columns import helpers, meanings
from provspark.index_store.query.imputations import imputed
from provspark.index_store.query.memo import kept
from provspark.index_store.query.nodes import WriteNode
from provspark.model.operation_texts import named
from provspark.model.operations import PLAIN_CATEGORIES, Category, Column, Operation, PlainCategory

__all__ = ["OperationLine", "line_of"]

_OF_COLUMNS: tuple[Category, ...] = ("transformation", "vertical reduction", "vertical augmentation")
_QUERY = re.compile(r"\(operation (\d+)\)")


@dataclass(frozen=True, slots=True)
class OperationLine:
    """One operation, or several of one script line or one name, combined."""

    step: str
    write: int
    dataset: str
    """The dataset that the write wrote."""
    operations: tuple[int, ...]
    """Numbers of the operations within the write."""
    category: tuple[PlainCategory, ...]
    """What it does to the table; empty if it only renames columns or sorts rows."""
    paper_categories: tuple[Category, ...]
    """The same in the papers' words."""
    contextual: bool
    text: str
    site: str
    name: str
    columns_in: tuple[str, ...]
    columns_out: tuple[str, ...]
    reads: tuple[str, ...]
    """Columns that other columns are computed from, or that decide which rows exist."""
    makes: tuple[str, ...]
    """Columns that are new or computed anew."""
    drops: tuple[str, ...]
    """Columns that it does not pass on under any name."""
    rows_in: int | None
    """Number of rows over all its inputs; None if they were not counted."""
    rows_out: int | None
    exact: bool = True
    """False if the values of a row determine whether it touched the requested columns."""
    why: str | None = None
    """The operations where the values decide, if it is not exact."""

    @property
    def categories(self) -> tuple[Category, ...]:
        """`paper_categories` under its former name, which the next release removes."""
        warnings.warn(
            "OperationLine.categories goes with the next release: write .category for the new words, or "
            ".paper_categories for these",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.paper_categories


def line_of(node: WriteNode, group: Sequence[int], whole: Sequence[int]) -> OperationLine:
    """Describe operations of a write as one line.

    Parameters
    ----------
    group : sequence of int
        Numbers of the operations, in order.
    whole : sequence of int
        Numbers of all operations of the same script line or name. A column that these read does not count as new.
    """
    line = _Composite(node, group, whole)
    members, last = line.members, node.operations[line.above[-1]]
    rows_in = [node.operations[i].rows for i in line.below]
    return OperationLine(
        step=node.step,
        write=node.write.index,
        dataset=str(node.write.output.dataset),
        operations=tuple(group),
        category=line.category(),
        paper_categories=line.paper_categories(),
        contextual=any(op.contextual for op in members),
        text=line.text(),
        site=members[-1].site,
        name=members[-1].name,
        columns_in=line.names(line.ins),
        columns_out=line.names(line.outs),
        reads=line.reads(),
        makes=line.names(line.made) if line.below else (),
        drops=line.names(line.gone),
        rows_in=sum(rows_in) if line.below and min(rows_in) >= 0 else None,
        rows_out=last.rows if len(line.above) == 1 and last.rows >= 0 else None,
    )


@kept
def _helpers(node: WriteNode) -> dict[int, str]:
    """Return the expressions of Spark's helper columns, by column id."""
    return meanings(node.operations) if helpers(node.operations) else {}


@kept
def _imputed(node: WriteNode) -> frozenset[int]:
    return frozenset(imputed(node.operations, range(len(node.operations))))


class _Composite:
    """The combined effect of operations."""

    def __init__(self, node: WriteNode, group: Sequence[int], whole: Sequence[int]) -> None:
        self.node, self.operations, self.group = node, node.operations, group
        self.members = [self.operations[i] for i in group]
        inside = set(group)
        self.within = _within(self.operations, inside)
        """Operations that belong to a subquery of another one of the group."""
        self.below = list(dict.fromkeys(i for op in self.members for i in op.children if i not in inside))
        read_on = {i for k, op in enumerate(self.operations) if k not in inside for i in (*op.children, *op.subqueries)}
        self.above = [i for i in group if i in read_on or i == len(self.operations) - 1] or list(group[-1:])
        self.ins = self._read(group)
        self.outs = _distinct(c for i in self.above for c in self.operations[i].columns)
        self.roots = roots = _roots(self.members)
        fresh: set[int] = set()
        handed: set[int] | None = None
        if self.below and max(self.below) > group[0]:
            fresh, handed = _changes(self.operations, group, roots)
        self.ins = [c for c in self.ins if c.id not in fresh]
        self.known = {c.id: c for c in self.ins}
        self.kept = {c.id: self._root(c.id) for c in self.outs}
        self.made = [c for c in self.outs if self.kept[c.id] not in self.known or self._is_renamed(c)]
        handed = set(self.kept.values()) if handed is None else handed
        main = [i for i in group if i not in self.within]
        self.gone = [c for c in self._read(main) if c.id not in handed and c.id not in fresh]
        self.before = self._names_before([i for i in whole if i not in self.within])

    def _read(self, numbers: Sequence[int]) -> list[Column]:
        """Return the columns that operations read from other operations."""
        inside = set(numbers)
        below = dict.fromkeys(i for k in numbers for i in self.operations[k].children if i not in inside)
        return _distinct(c for i in below for c in self.operations[i].columns)

    def _names_before(self, whole: Sequence[int]) -> set[str]:
        """Return the names of columns of other lines. In a loop, a line also reads columns that it made itself."""
        own: set[int] = set()
        for op in (self.operations[i] for i in whole):
            read = {c.id for i in op.children for c in self.operations[i].columns}
            own |= {c.id for c in op.columns} - read
        return {c.name.lower() for c in self._read(whole) if c.id not in own}

    def _root(self, column: int) -> int:
        return self.roots.get(column, column)

    def _is_renamed(self, column: Column) -> bool:
        return self.known[self.kept[column.id]].name != column.name

    @property
    def own(self) -> dict[int, str]:
        """Expressions of Spark's helper columns, by column id."""
        return _helpers(self.node)

    def names(self, columns: Iterable[Column]) -> tuple[str, ...]:
        """Return the names of columns, without Spark's helper columns."""
        return tuple(c.name for c in columns if c.id not in self.own)

    def reads(self) -> tuple[str, ...]:
        """Return the columns that other columns are computed from, or that decide which rows exist."""
        used = dict.fromkeys(k.source for op in self.members for k in op.links if k.kind != "identity")
        return tuple(dict.fromkeys(self.names(self.known[i] for i in used if i in self.known)))

    def _of_columns(self) -> set[Category]:
        """Return the categories about columns. A column that took the name of another is neither changed nor kept."""
        made = [c for c in self.made if c.id not in self.own]
        renamed = {c.id for c in made if self.kept[c.id] in self.known}
        told: set[Category] = set()
        if {c.name.lower() for c in made if c.id not in renamed} & self.before:
            told.add("transformation")
        if {c.name.lower() for c in made} - self.before:
            told.add("vertical augmentation")
        kept = {c.name.lower() for c in self.outs if c.id not in renamed}
        if {c.name.lower() for c in self.gone if c.id not in self.own} - kept:
            told.add("vertical reduction")
        return told

    def paper_categories(self) -> tuple[Category, ...]:
        """Return the categories of all operations; those about columns compare the columns before and after them."""
        stored = list(dict.fromkeys(c for op in self.members for c in op.categories))
        if len(self.group) == 1 or not set(stored) & set(_OF_COLUMNS):
            return tuple(stored)
        told = self._of_columns()
        return (
            *(c for c in _OF_COLUMNS if c in told and c not in stored),
            *(c for c in stored if c not in _OF_COLUMNS or c in told),
        )

    def category(self) -> tuple[PlainCategory, ...]:
        """Return the categories in plain words. Columns that are computed only for an imputation are part of it."""
        some = [op for op in self.members if op.index not in self.within] or self.members
        stored = {c for op in some for c in op.categories} | {*self.paper_categories()} & {*_OF_COLUMNS}
        words = [PLAIN_CATEGORIES[c] for c in self.paper_categories() if c in stored]
        made = {c.id for op in some for c in op.columns} - self.known.keys()
        filled = made & _imputed(self.node)
        if not filled:
            return tuple(words)
        others = {c.id for c in self.made} - filled - self.own.keys()
        if not others:
            words = [w for w in words if w not in ("changed column", "added column")]
        return ("imputation", *words)

    def text(self) -> str:
        """Return the text, without helper operations, and without drops of columns that exist again at the end."""
        made = {c.name.lower() for op in self.members for c in op.columns if self._root(c.id) not in self.known}
        told = [(op, self._without_drops(op, made)) for op in self.members]
        if len(self.group) > 1:
            told = [(op, text) for op, text in told if not self._only_helps(op)] or told
        inline = self._subqueries()
        texts = [text for op, text in told if text and op.index not in inline] or [op.text for op in self.members]
        return _QUERY.sub(lambda m: f"({inline.get(int(m[1]), m[0][1:-1])})", "; ".join(texts))

    def _only_helps(self, op: Operation) -> bool:
        """Return whether an operation does nothing but make or drop Spark's helper columns, or select all columns."""
        if not op.children or not set(op.categories) <= {*_OF_COLUMNS} or any(k.out < 0 for k in op.links):
            return False
        before = {c.id for i in op.children for c in self.operations[i].columns}
        changed = before ^ {c.id for c in op.columns}
        return changed <= self.own.keys() and (bool(changed) or op.text.startswith("select "))

    def _without_drops(self, op: Operation, made: set[str]) -> str:
        """Return an operation's text without drops of Spark's helper columns and of columns that are made again."""
        handed = {c.id for c in op.columns} | {k.source for k in op.links if k.kind == "identity" and k.out >= 0}
        gone = [c for i in op.children for c in self.operations[i].columns if c.id not in handed]
        told = "drop " + ", ".join(self.own.get(c.id, c.name) for c in gone)
        if not gone or not op.text.endswith(told):
            return op.text
        left = [c.name for c in gone if c.name.lower() not in made and c.id not in self.own]
        head = op.text.removesuffix(told)
        if not left and not head:
            return op.text if len(self.group) == 1 else ""
        return head + f"drop {', '.join(left)}" if left else head.removesuffix("; ")

    def _subqueries(self) -> dict[int, str]:
        """Return the aggregates over all rows that subqueries of the line compute, by their last operation."""
        told = {}
        for i in self.within:
            op = self.operations[i]
            if (
                op.categories == ("aggregate",)
                and len(op.columns) == len(op.expressions) == 1
                and op.expressions[0].sql
            ):
                told[i] = f"{named(op.expressions[0].sql, self.own)} over all rows"
        return told


def _within(operations: Sequence[Operation], inside: set[int]) -> set[int]:
    """Return the operations of a group that belong to subqueries of others in the group."""
    waiting = [i for k in inside for i in operations[k].subqueries if i in inside]
    reached: set[int] = set()
    while waiting:
        i = waiting.pop()
        if i not in reached:
            reached.add(i)
            waiting += [k for k in (*operations[i].children, *operations[i].subqueries) if k in inside]
    return reached


def _changes(
    operations: Sequence[Operation], group: Sequence[int], roots: Mapping[int, int]
) -> tuple[set[int], set[int]]:
    """Return the columns that a line's operations make, and those that all of them pass on under any name.

    Operations are compared one by one, because in a loop operations of other lines run between those of one line.
    """
    ids = {
        i: {c.id for c in operations[i].columns} for i in {*group, *(j for k in group for j in operations[k].children)}
    }
    fresh: set[int] = set()
    gone: set[int] = set()
    for k in group:
        before = set[int]().union(*(ids[i] for i in operations[k].children))
        fresh |= ids[k] - before
        if lost := before - ids[k]:
            gone |= {roots.get(i, i) for i in lost} - {roots.get(i, i) for i in ids[k]}
    return fresh, set[int]().union(*ids.values()) - gone


def _roots(members: Iterable[Operation]) -> dict[int, int]:
    """Return the column that each column is a copy of, by id."""
    roots: dict[int, int] = {}
    for op in members:
        by_out: dict[int, list[tuple[int, str]]] = {}
        for link in op.links:
            by_out.setdefault(link.out, []).append((link.source, link.kind))
        for out, sources in by_out.items():
            if len(sources) == 1 and sources[0][1] == "identity":
                roots[out] = roots.get(sources[0][0], sources[0][0])
    return roots


def _distinct(columns: Iterable[Column]) -> list[Column]:
    return list({c.id: c for c in columns}.values())
