"""Sorts."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.contract import Frame, Kit
from provspark.replay.narrow import NarrowRule, order


class Sort(NarrowRule):
    """ORDER BY, and sorting within partitions."""

    row_for_row = True

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        return inputs[0].orderBy(*order(operation, kit))


RULES = {"Sort": Sort()}
