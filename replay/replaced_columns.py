"""Columns that operations of one write replaced by new ones. `former_columns` finds these across steps."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.index_store.profiles.former_columns import former_of, is_value, one_to_one
from provspark.model.operations import Operation
from provspark.replay.columns import names_of

__all__ = ["behind", "replaced_columns"]


def behind(operations: Sequence[Operation], operation: int) -> set[int]:
    """Return the operations whose rows an operation reads, directly or through others."""
    every: set[int] = set()
    waiting = [*operations[operation].children]
    while waiting:
        at = waiting.pop()
        if at not in every:
            every.add(at)
            waiting += operations[at].children
    return every


def replaced_columns(operations: Sequence[Operation], since: int, operation: int) -> dict[str, str]:
    """Return the former name of each column that replaced a column between two operations, by its new name."""
    names, olds = names_of(operations[operation]), names_of(operations[since])
    here, there = {n.lower() for n in names.values()}, {n.lower() for n in olds.values()}
    made_of: dict[str, dict[str, bool]] = {}
    for column, name in names.items():
        if name.lower() not in there:
            sources = _sources(operations, since, operation, column)
            made_of[name] = {olds[i]: goes_in for i, goes_in in sources.items()}
    former = former_of(made_of)
    return one_to_one({new: old for new, old in former.items() if old.lower() not in here})


def _sources(operations: Sequence[Operation], since: int, operation: int, column: int) -> dict[int, bool]:
    """Return the columns after `since` that a column was computed from, by id, and whether its value goes in."""
    reached: dict[int, dict[int, bool]] = {operation: {column: True}}
    for at in range(operation, since, -1):
        op = operations[at]
        for column, goes_in in reached.pop(at, {}).items():
            ways = {column: goes_in}
            for link in op.links:
                if link.out == column and not link.context and is_value(link.kind) is not None:
                    ways[link.source] = ways.get(link.source, False) or (goes_in and bool(is_value(link.kind)))
            for child in op.children:
                known = {c.id for c in operations[child].columns}
                for source in ways.keys() & known:
                    mine = reached.setdefault(child, {})
                    mine[source] = mine.get(source, False) or ways[source]
    return reached.get(since, {})
