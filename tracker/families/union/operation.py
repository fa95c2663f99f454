"""UNION ALL: the rows of several inputs, one input after another."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule, computed


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return f"append {len(o.children)} inputs"


OPERATIONS = {"Union": OperationRule(_text, computed, ("append",), opaque=AGAIN)}
