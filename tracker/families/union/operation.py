"""Rows of several inputs, one behind the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.column_flows import ColumnFlows
from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import OperationRule, again
from provspark.model.operations import ColumnLink


def _links(flows: ColumnFlows) -> Iterator[ColumnLink]:
    yield from flows.made()
    yield from flows.deciding("filter", "condition")


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return f"append {len(o.children)} inputs"


OPERATIONS = {
    "Union": OperationRule(_text, _links, ("append",), opaque=again),
}
