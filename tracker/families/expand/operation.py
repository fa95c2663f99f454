"""Copies of each row, each with columns of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.column_flows import ColumnFlows
from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import OperationRule, again, widened
from provspark.model.operations import ColumnLink


def _links(flows: ColumnFlows) -> Iterator[ColumnLink]:
    yield from flows.made()
    yield from flows.deciding("filter", "condition")


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return f"make {o.detail('copies')} copies of each row"


OPERATIONS = {
    "Expand": OperationRule(_text, _links, widened, opaque=again),
}
