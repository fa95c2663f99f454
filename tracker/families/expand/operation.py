"""Expand: copies of each row, with different columns."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule, computed, widened


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return f"make {o.detail('copies')} copies of each row"


OPERATIONS = {"Expand": OperationRule(_text, computed, widened, opaque=AGAIN)}
