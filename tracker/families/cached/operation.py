"""Reads of caches, checkpoints and RDDs."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return "read what was kept"


OPERATIONS = {
    "InMemoryRelation": OperationRule(_text, categories=(), opaque=AGAIN),
    "LogicalRDD": OperationRule(_text, categories=(), opaque=AGAIN),
}
