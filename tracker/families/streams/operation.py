"""Operations of streams, which only untracked writes have."""

from __future__ import annotations

from provspark.model.operation_rules import OperationRule

OPERATIONS = {"DeduplicateWithinWatermark": OperationRule(categories=("horizontal reduction",))}
