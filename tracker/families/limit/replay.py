"""Limits and offsets, whose result depends on all rows."""

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
    """limit and offset: keep or skip the first rows, in the order of a sort directly below if there is one."""

    def __init__(self, *, offset: bool = False) -> None:
        self._offset = offset

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        n = int(detail(operation, "n", "-1"))
        if n < 0:
            raise Refused(operation, "its number of rows is not stored")
        return inputs[0].offset(n) if self._offset else inputs[0].limit(n)

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        child = kit.focus(operation.children[0])
        if child is None:
            return None
        sort = kit.operation(operation.children[0])
        order = SORTS.get(sort.node)
        if order is not None:
            rows = order.build(sort, [kit.all(sort.index)], kit)
            return self.build(operation, [rows], kit).filter(FOCUS)
        kit.unsure(operation, "which rows Spark kept, because there is no sort directly below")
        taken = self.build(operation, [kit.whole(sort.index)], kit).filter(FOCUS)
        return _parented(taken, child, labels(operation.columns))

    def cause(self, operation: Operation, before: int) -> Cause:
        return "limit"

    def unsettled(self, operation: Operation, kit: Kit) -> str | None:
        return _cut(operation, kit)


class LocalLimitRule(SameRule):
    """Limit of each task, which replay skips: the limit above keeps some of these rows."""

    def cause(self, operation: Operation, before: int) -> Cause:
        return "limit"


def _parented(frame: Frame, before: Frame, names: Sequence[str]) -> Frame:
    """Return the rows of `frame` with the parents that they have in `before`."""
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
        return "which rows Spark kept, because there is no sort directly below"
    keys = [kit.sql(child, e) for e in of_role(child, "order")]
    rows = kit.whole(child.children[0]).orderBy(*order(child, kit)).selectExpr(*named_keys(keys))
    if rows.offset(n - 1).limit(2).distinct().count() < 2:
        return f"rows {n} and {n + 1} are equal in the sort order, so Spark may keep either"
    return ""


RULES = {
    "GlobalLimit": LimitRule(),
    "LimitAll": SameRule(keeps_order=True),
    "LocalLimit": LocalLimitRule(),
    "Offset": LimitRule(offset=True),
}
REFUSED = {"Tail": "the stored query does not determine which rows are last; sort in reverse order and use limit()"}
