"""Expand: copies of each row, with different columns."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.contract import Frame, Kit, select
from provspark.replay.narrow import NarrowRule, branches


class Expand(NarrowRule):
    """Grouping sets and unpivot: several output rows for each input row, one for each branch."""

    copies = True

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        out = [select(inputs[0], branch) for branch in branches(operation, kit)]
        whole = out[0]
        for frame in out[1:]:
            whole = whole.unionByName(frame)
        return whole


RULES = {"Expand": Expand()}
