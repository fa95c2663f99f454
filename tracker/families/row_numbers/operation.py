"""A column that numbers rows."""

from __future__ import annotations

from provspark.model.operation_rules import OperationRule


def _opaque(node: str) -> str:
    return "it numbers rows in the order in which they came"


OPERATIONS = {
    "AttachDistributedSequence": OperationRule(opaque=_opaque),
}
