"""DISTINCT and dropDuplicates: one of the rows that are equal in all columns, or in some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.column_flows import ColumnFlows
from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule
from provspark.model.operation_texts import keys
from provspark.model.operations import ColumnLink


def _all(flows: ColumnFlows) -> Iterator[ColumnLink]:
    yield from flows.rows(flows.inputs, "group by")


def _some(flows: ColumnFlows) -> Iterator[ColumnLink]:
    yield from flows.deciding("group by", "group")


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return "drop duplicates"


def _text_some(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return f"drop duplicates by {keys(o)}"


OPERATIONS = {
    "Deduplicate": OperationRule(_text_some, _some, ("horizontal reduction",), groups=True, opaque=AGAIN),
    "Distinct": OperationRule(_text, _all, ("horizontal reduction",), groups=True, opaque=AGAIN),
}
