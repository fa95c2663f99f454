"""What an operation does to the table: TensProv's categories."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.model.operations import Category
from provspark.tracker.plan.operations.draft import DraftOperation

_ROWS_GO = frozenset(
    {"Filter", "GlobalLimit", "LocalLimit", "LimitAll", "Offset", "Tail", "Sample", "Distinct", "Deduplicate"}
    | {"DeduplicateWithinWatermark", "Except", "Intersect", "TypedFilter"}
)
_JOINS = frozenset({"Join", "LateralJoin", "AsOfJoin", "NearestByJoin"})
_HANDS_ON = frozenset(
    {"Sort", "Repartition", "RepartitionByExpression", "RebalancePartitions", "ResolvedHint", "CollectMetrics"}
    | {"EventTimeWatermark", "InMemoryRelation", "LogicalRDD"}
)


def categories(operation: DraftOperation, all_of: Sequence[DraftOperation]) -> tuple[Category, ...]:
    """Return an operation's categories, in the order of `Category`."""
    node = operation.node
    if not operation.children:
        return ("source",)
    if node == "Aggregate":
        return ("aggregate",)
    if node == "Union":
        return ("append",)
    if node in _JOINS:
        one_sided = operation.detail("type") in ("LEFT SEMI", "LEFT ANTI")
        return ("horizontal reduction",) if one_sided else ("join",)
    if node in _ROWS_GO:
        return ("horizontal reduction",)
    if node in _HANDS_ON:
        return ()
    columns = _columns(operation, all_of)
    return (*columns, "horizontal augmentation") if node in ("Expand", "Generate") else columns


def _columns(operation: DraftOperation, all_of: Sequence[DraftOperation]) -> tuple[Category, ...]:
    """What becomes of columns: a computed one takes the place of one of its name, or is new."""
    before = {c.id: c.name for i in operation.children for c in all_of[i].columns}
    same = {e.expression.column: e.tree.term.column for e in operation.expressions}
    kept: set[int] = set()
    made: list[str] = []
    for column in operation.columns:
        source = column.id if column.id in before else same.get(column.id, -1)
        if column.id in before or (source in before and source not in kept):
            kept.add(source)
        else:
            made.append(column.name.lower())
    gone = [name.lower() for i, name in before.items() if i not in kept]
    replaced = [name for name in made if name in gone]
    found: list[Category] = ["transformation"] if replaced else []
    if any(name not in made for name in gone):
        found.append("vertical reduction")
    if len(replaced) < len(made):
        found.append("vertical augmentation")
    return tuple(found)
