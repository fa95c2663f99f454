"""Filters."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import labels
from provspark.replay.contract import Frame, Kit, condition_of, of_role, select, united
from provspark.replay.narrow import NarrowRule
from provspark.replay.witnesses import anti, semi


class Filter(NarrowRule):
    """Rows for which a condition holds."""

    demands = True

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        (condition,) = of_role(operation, "condition")
        return select(inputs[0].filter(kit.sql(operation, condition)), labels(operation.columns))

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        child = operation.children[0]
        mine = kit.focus(child)
        for subquery in kit.demanded(operation):
            matching, met = kit.focus(subquery.met), subquery.condition
            other = semi(kit.rest(child), matching, met)
            if mine is not None:
                other = united([other, semi(mine, matching, met), anti(mine, matching, met)])
            mine = other
        return None if mine is None else self.build(operation, [mine], kit)

    def query(self, operation: Operation, columns: str, under: Sequence[str], kit: Kit) -> str:
        return f"SELECT {columns} FROM {under[0]} WHERE {condition_of(operation, kit)}"


RULES = {"Filter": Filter()}
