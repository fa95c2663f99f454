"""Aggregates: one row for each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.column_flows import ColumnFlows
from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule
from provspark.model.operation_texts import keys, made
from provspark.model.operations import ColumnLink


def _links(flows: ColumnFlows) -> Iterator[ColumnLink]:
    yield from flows.made()
    yield from flows.deciding("group by", "group")


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    by, values = keys(o), ", ".join(made(o))
    return (f"group by {by}" if by else "aggregate all rows") + (f": {values}" if values else "")


OPERATIONS = {"Aggregate": OperationRule(_text, _links, ("aggregate",), groups=True, contextual=True, opaque=AGAIN)}
