"""Aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provspark.model.operations import Operation
from provspark.replay.columns import GATHERED
from provspark.replay.contract import Frame, Kit, of_role, outputs
from provspark.replay.groups import GroupedRule


class Aggregate(GroupedRule):
    """GROUP BY."""

    groups = True

    def keys(self, operation: Operation, kit: Kit) -> list[str]:
        """Return the grouping keys as SQL."""
        return [kit.sql(operation, e) for e in of_role(operation, "group")]

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        from pyspark.sql import functions as sf

        keys = [sf.expr(k) for k in self.keys(operation, kit)]
        made = [sf.expr(e) for e in (*outputs(operation, kit), *GATHERED)]
        return (inputs[0].groupBy(*keys) if keys else inputs[0]).agg(*made)

    def is_of_rows(self, operation: Operation) -> bool:
        return bool(operation.columns) and bool(of_role(operation, "group"))

    def query(self, operation: Operation, columns: str, under: Sequence[str], kit: Kit) -> str:
        keys = ", ".join(self.keys(operation, kit))
        return f"SELECT {columns} FROM {under[0]}" + (f" GROUP BY {keys}" if keys else "")

    def analysed(self, operation: Operation, frame: Frame, made: Any, kit: Kit) -> Any:
        from pyspark.sql import functions as sf

        keys = [sf.expr(k) for k in self.keys(operation, kit)]
        plan = frame.groupBy(*keys).agg(made)._jdf.queryExecution().analyzed()
        return plan.aggregateExpressions().last().child()


RULES = {"Aggregate": Aggregate()}
