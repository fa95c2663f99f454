"""INTERSECT and EXCEPT: rows that are equal to rows of the other side, or to none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.column_flows import ColumnFlows
from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule
from provspark.model.operations import ColumnLink


def _links(flows: ColumnFlows) -> Iterator[ColumnLink]:
    """Yield links from all columns of both sides, whose equality decides which rows are kept."""
    left, right = (flows.all[i].columns for i in flows.operation.children)
    context = flows.operation.node == "Except"
    yield from flows.rows((c.id for c in left), "group by")
    yield from flows.rows((c.id for c in right), "join", context=context)
    if not context:
        for a, b in zip(left, right, strict=True):
            yield ColumnLink(a.id, b.id, "join")


def _except(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return "keep rows that are not in the second input"


def _intersect(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return "keep rows that are in both inputs"


OPERATIONS = {
    "Except": OperationRule(_except, _links, ("horizontal reduction",), opaque=AGAIN),
    "Intersect": OperationRule(_intersect, _links, ("horizontal reduction",), opaque=AGAIN),
}
