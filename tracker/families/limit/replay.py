"""Limits and offsets: they decide about a row by all others."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import FOCUS, HIDDEN, PARENT, labels
from provspark.replay.contract import Frame, Kit, Refused, ReplayRule, detail, of_role, select
from provspark.replay.determinism import named_keys
from provspark.replay.narrow import SameRule, order
from provspark.replay.records import Cause
from provspark.replay.rules import replay_rule
from provspark.tracker.families.sort.replay import RULES as SORTS


class LimitRule(ReplayRule):
    """limit, offset: the first rows of an order, or of none."""

    def __init__(self, *, offset: bool = False) -> None:
        self._offset = offset

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        """See `ReplayRule`."""
        n = int(detail(operation, "n", "-1"))
        if n < 0:
            raise Refused(operation, "how many rows it takes is not stored")
        return inputs[0].offset(n) if self._offset else inputs[0].limit(n)

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        """See `ReplayRule`."""
        child = kit.focus(operation.children[0])
        if child is None:
            return None
        sort = kit.operation(operation.children[0])
        order = SORTS.get(sort.node)
        if order is not None:
            rows = order.build(sort, [kit.all(sort.index)], kit)
            return self.build(operation, [rows], kit).filter(FOCUS)
        kit.unsure(operation, "which rows Spark took, as no order stands right below it")
        taken = self.build(operation, [kit.whole(sort.index)], kit).filter(FOCUS)
        return _parented(taken, child, labels(operation.columns))

    def cause(self, operation: Operation, before: int) -> Cause:
        """See `ReplayRule`."""
        return "limit"

    def unsettled(self, operation: Operation, kit: Kit) -> str | None:
        """See `ReplayRule`."""
        return _cut(operation, kit)


class LocalLimitRule(SameRule):
    """What each task lets through: all rows that the limit above takes are among them."""

    def cause(self, operation: Operation, before: int) -> Cause:
        """See `ReplayRule`."""
        return "limit"


def _parented(frame: Frame, before: Frame, names: Sequence[str]) -> Frame:
    """Give rows, which are some of those before, their parents."""
    from pyspark.sql import functions as sf

    key = ", ".join(names)
    place = f"row_number() OVER (PARTITION BY {key} ORDER BY {{}}) AS __place"
    mine = before.selectExpr(*names, *HIDDEN, place.format(PARENT))
    taken = frame.selectExpr(*(f"{n} AS `__{i}`" for i, n in enumerate(names)), place.format("1"))
    same = " AND ".join([*(f"{n} <=> `__{i}`" for i, n in enumerate(names)), "__place <=> __place2"])
    kept = mine.join(taken.withColumnRenamed("__place", "__place2"), sf.expr(same), "left_semi")
    return select(kept, names)


def _cut(operation: Operation, kit: Kit) -> str:
    n = int(detail(operation, "n", "-1"))
    child = kit.operation(operation.children[0])
    if n == 0 or kit.whole(child.index).limit(n + 1).count() <= n:
        return ""
    while replay_rule(child.node).keeps_order:
        child = kit.operation(child.children[0])
    if child.node not in SORTS or detail(child, "global", "true") != "true":
        return "which rows Spark took, as no order stands right below it"
    keys = [kit.sql(child, e) for e in of_role(child, "order")]
    rows = kit.whole(child.children[0]).orderBy(*order(child, kit)).selectExpr(*named_keys(keys))
    if rows.offset(n - 1).limit(2).distinct().count() < 2:
        return "the last row that it took and the first one that it left are equal in its order"
    return ""


RULES = {
    "GlobalLimit": LimitRule(),
    "LimitAll": SameRule(keeps_order=True),
    "LocalLimit": LocalLimitRule(),
    "Offset": LimitRule(offset=True),
}
REFUSED = {"Tail": "which rows are last is not in its text; sort the other way, and limit"}
