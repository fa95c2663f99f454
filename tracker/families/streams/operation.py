"""Operations of streams, which a write that is not tracked may have."""

from __future__ import annotations

from provspark.model.operation_rules import OperationRule

OPERATIONS = {"DeduplicateWithinWatermark": OperationRule(categories=("horizontal reduction",))}
