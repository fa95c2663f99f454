"""Repartitioning and hints, which change no rows."""

from __future__ import annotations

from provspark.model.operation_rules import AGAIN, OperationRule

_RULE = OperationRule(categories=(), as_many=True, opaque=AGAIN)
OPERATIONS = dict.fromkeys(("RebalancePartitions", "Repartition", "RepartitionByExpression", "ResolvedHint"), _RULE)
