"""UNION ALL."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Operation
from provspark.replay.contract import Frame, Kit, ReplayRule, select, united
from provspark.replay.narrow import branches


class Union(ReplayRule):
    """Rows of several children, one child after another."""

    def build(self, operation: Operation, inputs: Sequence[Frame], kit: Kit) -> Frame:
        parts = [select(f, b) for f, b in zip(inputs, branches(operation, kit), strict=True)]
        return united(parts)

    def focus(self, operation: Operation, kit: Kit) -> Frame | None:
        texts = branches(operation, kit)
        frames = [(kit.focus(c), t) for c, t in zip(operation.children, texts, strict=True)]
        return united([select(f, t) for f, t in frames if f is not None])


RULES = {"Union": Union()}
