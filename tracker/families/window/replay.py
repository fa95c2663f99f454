"""Window functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provspark.model.operations import Expression, Operation
from provspark.replay.contract import Frame, Kit, of_role, outputs, select
from provspark.replay.determinism import by_place, named_keys
from provspark.replay.groups import GroupedRule

_BY_KEY = frozenset({"Rank", "DenseRank", "PercentRank", "CumeDist"})
"""Window functions that return the same value for rows that are equal in the order."""
_WHOLE = "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


class Window(GroupedRule):
    """Values over the rows of a partition."""

    row_for_row = True

    def keys(self, operation: Operation, kit: Kit) -> list[str]:
        """Return the partition's keys as SQL."""
        return [kit.sql(operation, e) for e in of_role(operation, "partition")]

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        return select(inputs[0], outputs(operation, kit))

    def unsettled(self, operation: Operation, kit: Kit) -> str | None:
        return _windowed(operation, kit)


def _windowed(operation: Operation, kit: Kit) -> str:
    if all(_of_all(e) for e in of_role(operation, "output")):
        return ""
    keys = [kit.sql(operation, e) for role in ("partition", "order") for e in of_role(operation, role)]
    rows: Any = kit.whole(operation.children[0]).selectExpr(*named_keys(keys), "1 AS one")
    if rows.groupBy(*rows.columns[:-1]).count().where("count > 1").limit(1).count():
        return "some rows of a partition are equal in its order, and the result depends on which comes first"
    return ""


def _of_all(e: Expression) -> bool:
    """Whether a window's value is the same in any order of equal rows."""
    if any(t.node in _BY_KEY for t in e.terms):
        return True
    of_rows = not any(t.node == "AggregateExpression" for t in e.terms) or " ROWS BETWEEN " in e.sql
    return not (of_rows and _WHOLE not in e.sql) and not any(by_place(e))


RULES = {"Window": Window()}
