"""Filters: rows for which a condition holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.column_flows import ColumnFlows
from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule, computed
from provspark.model.operation_texts import conditions
from provspark.model.operations import ColumnLink


def _typed(flows: ColumnFlows) -> Iterator[ColumnLink]:
    yield from flows.rows(flows.inputs, "filter")


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return f"keep rows where {conditions(o)}"


OPERATIONS = {
    "Filter": OperationRule(_text, computed, ("horizontal reduction",), opaque=AGAIN),
    "TypedFilter": OperationRule(links=_typed, categories=("horizontal reduction",)),
}
