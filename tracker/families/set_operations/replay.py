"""INTERSECT and EXCEPT, whose result depends on all rows."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import FOCUS, HIDDEN, labels, named, placed
from provspark.replay.contract import Frame, Kit, Refused, ReplayRule, detail, select, united
from provspark.replay.groups import grouped_with
from provspark.replay.records import Cause
from provspark.replay.witnesses import anti, semi
from provspark.tracker.families.distinct.replay import Distinct


class SetRule(ReplayRule):
    """INTERSECT and EXCEPT of distinct rows."""

    def __init__(self, *, removes: bool) -> None:
        self._removes = removes

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        if detail(operation, "all") == "true":
            raise Refused(operation, f"{operation.node} ALL is not replayed")
        left, right = _sides(operation, inputs, kit)
        return self._met(operation, left, right, kit)

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        if detail(operation, "all") == "true":
            raise Refused(operation, f"{operation.node} ALL is not replayed")
        names = labels(operation.columns)
        sides = operation.children[:1] if self._removes else operation.children
        frames = [(kit.focus(c), c) for c in sides]
        rows = united([f.selectExpr(*_named(kit.operation(c), operation)) for f, c in frames if f is not None])
        if rows is None:
            return None
        near = []
        for c in operation.children:
            side = kit.all(c).selectExpr(*_named(kit.operation(c), operation), *HIDDEN)
            near.append(grouped_with(rows, side, names))
        right = near[1].selectExpr(*(f"{n} AS `__{i}`" for i, n in enumerate(names)), *HIDDEN)
        return self._met(operation, near[0], right, kit).filter(FOCUS)

    def _met(self, operation: Operation, left: Frame, right: Frame, kit: Kit) -> Frame:
        meet = anti if self._removes else semi
        return Distinct().build(operation, [meet(left, right, _equal(operation))], kit)

    def cause(self, operation: Operation, before: int) -> Cause:
        return "only decides" if self._removes and operation.children[-1] == before else "set operator"


def _named(child: Operation, operation: Operation) -> list[str]:
    pairs = {c.id: (mine, c) for mine, c in zip(placed(child.columns), operation.columns, strict=True)}.values()
    return [named(mine, c) for mine, c in pairs]


def _sides(operation: Operation, inputs: Sequence[Frame], kit: Kit) -> tuple[Frame, Frame]:
    one, other = (kit.operation(c) for c in operation.children)
    right = select(inputs[1], _named(other, operation))
    away = [f"{n} AS `__{i}`" for i, n in enumerate(labels(operation.columns))]
    return select(inputs[0], _named(one, operation)), select(right, away)


def _equal(operation: Operation) -> str:
    return " AND ".join(f"{n} <=> `__{i}`" for i, n in enumerate(labels(operation.columns)))


RULES = {"Except": SetRule(removes=True), "Intersect": SetRule(removes=False)}
