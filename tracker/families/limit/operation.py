"""Limits and offsets: a number of rows is kept or skipped."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule


def _first(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return f"keep {o.detail('n')} rows"


def _last(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return f"keep the last {o.detail('n')} rows"


def _offset(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return f"leave out {o.detail('n')} rows"


OPERATIONS = {
    "GlobalLimit": OperationRule(_first, categories=("horizontal reduction",), opaque=AGAIN),
    "LimitAll": OperationRule(categories=("horizontal reduction",), opaque=AGAIN),
    "LocalLimit": OperationRule(_first, categories=("horizontal reduction",), opaque=AGAIN),
    "Offset": OperationRule(_offset, categories=("horizontal reduction",), opaque=AGAIN),
    "Tail": OperationRule(_last, categories=("horizontal reduction",), opaque=AGAIN),
}
