"""Joins: pairs of matching rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provspark.model.column_flows import WHOLE, ColumnFlows, equal_columns
from provspark.model.drafts import DraftOperation
from provspark.model.operation_rules import AGAIN, OperationRule
from provspark.model.operation_texts import conditions
from provspark.model.operations import Category, ColumnLink

_ONE_SIDED = frozenset({"LEFT SEMI", "LEFT ANTI"})


def join_links(flows: ColumnFlows) -> Iterator[ColumnLink]:
    """Yield links from the condition's columns to the rows, and between keys that must be equal."""
    how = flows.operation.detail("type")
    right = {c.id for i in flows.operation.children[1:] for c in flows.all[i].columns}
    anti = how == "LEFT ANTI"
    for e in flows.operation.of_role("condition", "order"):
        for f in flows.flows(e.tree, "join"):
            yield ColumnLink(WHOLE, f.source, "join", f.context or (anti and f.source in right))
        for a, b in equal_columns(e.tree):
            if how not in _ONE_SIDED:
                yield ColumnLink(a, b, "join")
                yield ColumnLink(b, a, "join")
    if how == "LEFT SEMI":
        for e in flows.operation.of_role("condition"):
            for a, b in equal_columns(e.tree):
                yield ColumnLink(*((b, a) if a in right else (a, b)), "join")


def _lateral(flows: ColumnFlows) -> Iterator[ColumnLink]:
    """Yield the links of the lateral subquery's columns, which get new ids, and of the condition."""
    known = set(flows.inputs)
    made = [c for c in flows.operation.columns if c.id not in known]
    columns = flows.all[flows.operation.subqueries[0]].columns if flows.operation.subqueries else ()
    yield from (ColumnLink(a.id, b.id, "identity") for a, b in zip(made, columns, strict=False))
    yield from join_links(flows)


def join_text(o: DraftOperation, all_of: Sequence[DraftOperation]) -> str:
    """Describe the type of the join and its condition."""
    how, on = o.detail("type").lower(), conditions(o)
    return f"{how or 'as-of'} join" + (f" on {on}" if on else "")


def join_categories(o: DraftOperation, all_of: Sequence[DraftOperation]) -> tuple[Category, ...]:
    """Return the category of a join: semi and anti joins only drop rows."""
    return ("horizontal reduction",) if o.detail("type") in _ONE_SIDED else ("join",)


OPERATIONS = {
    "Join": OperationRule(join_text, join_links, join_categories, opaque=AGAIN),
    "LateralJoin": OperationRule(join_text, _lateral, join_categories, opaque=AGAIN),
}
