"""Random samples of rows."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import OperationRule


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return f"sample from {o.detail('lower')} to {o.detail('upper')}"


OPERATIONS = {"Sample": OperationRule(_text, categories=("horizontal reduction",), opaque="it is a random sample")}
