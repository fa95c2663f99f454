"""Sorts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.column_flows import ColumnFlows
from provspark.model.drafts import DraftExpression, DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule
from provspark.model.operation_texts import shown
from provspark.model.operations import ColumnLink


def _links(flows: ColumnFlows) -> Iterator[ColumnLink]:
    yield from flows.deciding("sort", "order")


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return "sort by " + ", ".join(_ordered(e) for e in o.of_role("order"))


def _ordered(e: DraftExpression) -> str:
    direction = dict(e.expression.details).get("direction", "ASC")
    return shown(e) + (" DESC" if direction == "DESC" else "")


OPERATIONS = {"Sort": OperationRule(_text, _links, (), as_many=True, opaque=AGAIN)}
