"""Operations that make each row from one row. A replay needs no other rows for them."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import distinct, named, placed, quoted
from provspark.replay.contract import Frame, Kit, ReplayRule, detail, of_role, select


class NarrowRule(ReplayRule):
    """Base class of the rules for these operations."""

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """See `ReplayRule`."""
        child = kit.focus(operation.children[0])
        return None if child is None else self.build(operation, [child], kit)


class SameRule(NarrowRule):
    """Operations that keep all rows and values, but may assign new column ids: hints, repartitioning, caches."""

    row_for_row = True

    def __init__(self, *, keeps_order: bool = False) -> None:
        self.keeps_order = keeps_order

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `ReplayRule`."""
        had = kit.operation(operation.children[0]).columns
        pairs = {c.id: (label, c) for label, c in zip(placed(had), operation.columns, strict=True)}.values()
        return select(inputs[0], [named(label, c) for label, c in pairs])


def branches(operation: Operation, kit: Kit) -> list[list[str]]:
    """Return the columns of each branch of a union or Expand, in SQL; columns that it doesn't compute are kept."""
    texts: dict[int, dict[int, str]] = {}
    for e in of_role(operation, "branch"):
        about = dict(e.details)
        number = int(about.get("child") or about.get("copy") or 0)
        texts.setdefault(number, {})[e.column] = kit.sql(operation, e)
    many = int(detail(operation, "copies", "0")) or len(operation.children)
    every = distinct(operation.columns)
    return [[named(texts.get(i, {}).get(c.id, quoted(c.label)), c) for c in every] for i in range(many)]


def order(operation: Operation, kit: Kit) -> list[Frame]:
    """Return the sort columns of an operation."""
    from pyspark.sql import functions as sf

    out = []
    for e in of_role(operation, "order"):
        about = dict(e.details)
        column = sf.expr(kit.sql(operation, e))
        down = about.get("direction", "").upper().startswith("DESC")
        first = about.get("nulls", "").upper().endswith("FIRST")
        if down:
            out.append(column.desc_nulls_first() if first else column.desc_nulls_last())
        else:
            out.append(column.asc_nulls_first() if first else column.asc_nulls_last())
    return out
