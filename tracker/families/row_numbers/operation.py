"""The index of pandas on Spark: a column that numbers rows."""

from __future__ import annotations

from provspark.model.operation_rules import OperationRule

OPERATIONS = {"AttachDistributedSequence": OperationRule(opaque="it numbers rows in the order in which they came")}
