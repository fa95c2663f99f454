"""Generators such as explode."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.columns import HIDDEN, distinct, labels
from provspark.replay.contract import Frame, Kit, detail, of_role
from provspark.replay.narrow import NarrowRule
from provspark.replay.records import Cause


class Generate(NarrowRule):
    """LATERAL VIEW of a generator."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        (generator,) = of_role(operation, "generator")
        had = {c.id for c in kit.operation(operation.children[0]).columns}
        made = [c for c in distinct(operation.columns) if c.id not in had]
        text = kit.sql(operation, generator)
        outer = detail(operation, "outer") == "true"
        frame = inputs[0]
        view = f"LATERAL VIEW {'OUTER ' if outer else ''}{text} made AS {', '.join(labels(made))}"
        columns = ", ".join([*labels(operation.columns), *HIDDEN])
        return frame.sparkSession.sql(f"SELECT {columns} FROM {{frame}} {view}", frame=frame)

    def cause(self, operation: Operation, before: int) -> Cause:
        return "nothing to explode"


RULES = {"Generate": Generate()}
