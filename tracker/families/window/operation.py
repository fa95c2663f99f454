"""Window functions: values over the rows of a partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.column_flows import ColumnFlows, Flow
from provspark.model.drafts import DraftOperation, Tree
from provspark.model.operation_rules import AGAIN, OperationRule
from provspark.model.operation_texts import made
from provspark.model.operations import ColumnLink

_CONTEXT_ONLY = frozenset({"Lag", "Lead"})


def _links(flows: ColumnFlows) -> Iterator[ColumnLink]:
    """Yield links from a value to the columns of its own row and, as context, of the other rows."""
    for e in flows.operation.of_role("output"):
        out = e.expression.column
        for f in flows.flows(e.tree, "identity"):
            if not f.context and not _only_others(e.tree, f):
                yield ColumnLink(out, f.source, f.kind)
            yield ColumnLink(out, f.source, f.kind, context=True)


def _only_others(tree: Tree, flow: Flow) -> bool:
    """Whether a window's value comes from another row than its own, as with lag and lead."""
    return flow.kind == "transformation" and any(t.node in _CONTEXT_ONLY for t in tree.walk())


def _text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    return ", ".join(made(o))


OPERATIONS = {"Window": OperationRule(_text, _links, as_many=True, contextual=True, opaque=AGAIN)}
