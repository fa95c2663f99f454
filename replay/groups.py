"""Operations over groups of rows. A replay needs all rows of the groups that the replayed rows belong to."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import FOCUS, quoted
from provspark.replay.contract import Frame, Kit, ReplayRule
from provspark.replay.key_literals import one_of


class GroupedRule(ReplayRule):
    """Base class of the rules for operations over groups."""

    def keys(self, operation: Operation, kit: Kit) -> list[str]:
        """Return the SQL of the grouping keys."""
        raise NotImplementedError

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """See `ReplayRule`."""
        child = kit.focus(operation.children[0])
        if child is None:
            return None
        members = members_of(operation, child, self.keys(operation, kit), kit)
        return self.build(operation, [members], kit).filter(FOCUS)


def members_of(operation: Operation, some: Frame, keys: Sequence[str], kit: Kit) -> Frame:
    """Return all rows of an operation's child with the same keys as some kept rows of it."""
    near = one_of(some, [(k, k) for k in keys], nulls=True)
    rows = kit.all(operation.children[0], near)
    # For a single key, the literals already are the condition of the join with the kept rows.
    return rows if len(keys) == 1 and near != "true" else grouped_with(some, rows, keys)


def grouped_with(some: Frame, all_rows: Frame, keys: Sequence[str]) -> Frame:
    """Return the rows of `all_rows` with the same keys as a row of `some`."""
    from pyspark.sql import functions as sf

    if not keys:
        return all_rows
    names = [quoted(f"__key{i}") for i in range(len(keys))]
    mine = some.selectExpr(*(f"{k} AS {n}" for k, n in zip(keys, names, strict=True))).distinct()
    condition = " AND ".join(f"({k}) <=> {n}" for k, n in zip(keys, names, strict=True))
    return all_rows.join(sf.broadcast(mine), sf.expr(condition), "left_semi")
