"""Generators such as explode: rows made from the parts of a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.column_flows import WHOLE, ColumnFlows
from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule, widened
from provspark.model.operation_texts import shown
from provspark.model.operations import ColumnLink


def _links(flows: ColumnFlows) -> Iterator[ColumnLink]:
    """Yield links from a value to its parts; without OUTER, a value without parts drops its row."""
    for e in flows.operation.of_role("generator"):
        for f in flows.flows(e.tree, "transformation"):
            for out in flows.operation.detail("columns").split():
                yield ColumnLink(int(out), f.source, f.kind, f.context)
            if flows.operation.detail("outer") != "true":
                yield ColumnLink(WHOLE, f.source, "filter", f.context)


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    ids = set(map(int, o.detail("columns").split()))
    names = ", ".join(c.name for c in o.columns if c.id in ids)
    return f"{', '.join(shown(e) for e in o.of_role('generator'))} into {names}"


OPERATIONS = {"Generate": OperationRule(_text, _links, widened, opaque=AGAIN)}
