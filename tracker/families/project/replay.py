"""Projections, and the MLlib transformers that make some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provspark.model.operations import Operation
from provspark.replay.contract import Frame, Kit, ReplayRule, detail, outputs, select
from provspark.replay.narrow import NarrowRule
from provspark.tracker.families.project.transformers import Transform


class Project(NarrowRule):
    """Columns that are computed, renamed or dropped."""

    row_for_row = True
    keeps_order = True
    selects = True

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        return select(inputs[0], outputs(operation, kit))

    def of(self, operation: Operation) -> ReplayRule:
        return TRANSFORM if operation.opaque and detail(operation, "transformer") else self

    def query(self, operation: Operation, columns: str, under: Sequence[str], kit: Kit) -> str:
        return f"SELECT {columns} FROM {under[0]}"

    def analysed(self, operation: Operation, frame: Frame, made: Any, kit: Kit) -> Any:
        return frame.select(made)._jdf.queryExecution().analyzed().projectList().last().child()


TRANSFORM = Transform()
"""Rule for a projection that an MLlib transformer made."""


RULES = {"Project": Project()}
