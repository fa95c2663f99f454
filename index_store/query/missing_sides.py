"""Outer joins that fill columns with null: the inputs that contribute no row to a row without a match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from provspark.index_store.query.bits import ROWS, Bits
from provspark.index_store.query.column_maps import WayChoice, carried_on
from provspark.index_store.query.memo import kept
from provspark.index_store.query.nodes import WriteNode

__all__ = ["MissingSide", "missing_sides", "no_match"]

_LEFT, _RIGHT = 0, 1
_FILLED = {"leftouter": (_RIGHT,), "leftsingle": (_RIGHT,), "rightouter": (_LEFT,), "fullouter": (_LEFT, _RIGHT)}
"""The sides whose columns are null without a match, by the letters of the join's type."""


@dataclass(frozen=True, slots=True, eq=False)
class MissingSide:
    """A side of an outer join whose columns are null for rows of the other side without a match.

    Parameters
    ----------
    axes : frozenset of int
        Axes of the inputs below this side: a row without a match has no row of them.
    others : frozenset of int
        Axes of the inputs below the other side.
    bits : Bits
        From the output columns that were made from this side's columns to `ROWS`. The entries have operations, but no
        dependence. If `ways` is "all", their `doubt` marks the join and the side; see `no_match`.
    """

    axes: frozenset[int]
    others: frozenset[int]
    bits: Bits


@kept
def missing_sides(node: WriteNode, ways: WayChoice) -> tuple[MissingSide, ...]:
    """Return the sides of a write's outer joins whose columns may be null for lack of a match."""
    return tuple(_sides(node, ways))


def _sides(node: WriteNode, ways: WayChoice) -> Iterator[MissingSide]:
    for op in node.operations:
        ends = (*op.children, *op.subqueries)[:2]  # the right side of a lateral join is a subquery
        kind = re.sub("[^a-z]", "", dict(op.details).get("type", "").lower()) if len(ends) == 2 else ""
        left = {c.id for c in node.operations[ends[_LEFT]].columns} if ends else set()
        for side in _FILLED.get(kind, ()):
            mark = 1 << op.index | (1 << len(node.operations) if side == _LEFT else 0)
            doubt = mark if ways == "all" else 0
            columns = [c.id for c in op.columns if (c.id in left) == (side == _LEFT)]
            begin = Bits.of((c + 1, ROWS, 0, 0, 1 << op.index, doubt) for c in columns)
            bits = carried_on(node, {op.index: begin}, ways)
            axes, others = (_axes(node, ends[i]) for i in (side, 1 - side))
            yield MissingSide(axes, others, bits.take(bits.may == 0))


def _axes(node: WriteNode, last: int) -> frozenset[int]:
    """Return the axes of the inputs that an operation reads, directly or through other operations."""
    waiting, seen = [last], set()
    while waiting:
        if (i := waiting.pop()) not in seen:
            seen.add(i)
            waiting += node.operations[i].children
    return frozenset(axis for i in seen for axis in node.operations[i].axes)


def no_match(node: WriteNode, marked: Iterable[int]) -> dict[int, str]:
    """Return a text that names the side without a match, for each outer join (by number) that a `doubt` marks."""
    numbers = set(marked)
    side = "left" if len(node.operations) in numbers else "right"
    return {i: f"no match on the {side} side" for i in numbers if i < len(node.operations)}
