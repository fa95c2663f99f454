"""Functions over the rows of a group: each returned row comes from all rows of its group, and the write is coarse.

The function is called unchanged. The hashes of its group's key come with the rows, are removed before the function sees
them, and are added to the rows that it returns. A function of one group that is declared `provspark.rowwise` or
`provspark.keeps_index` is followed row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.batch_functions.capture import declaration, ours, through
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.functions.commands import wrapped
from provspark.tracker.plan.provenance_columns import ProvenanceColumn, Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter

_HASHES = 2


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Tap each side by the group's key; the key's hash is that side's provenance column in the output."""
    java, jlist = rewriter.java, rewriter.jvm.jlist
    functions, groups = rewriter.part("BatchFunctionsCapture"), rewriter.part("GroupFunctionsCapture")
    plan = java.node(node.number)
    command = bytes(functions.command(plan))
    how = declaration(node, command)
    if how and len(node.children) == 1:
        return through(rewriter, node, command, how)
    if how:
        raise UnsupportedPlanError(
            node.kind, f"cogrouped functions (of two groups) can't be declared provspark.{how}; remove the declaration"
        )
    names = ours(_HASHES * len(node.children))
    sides, provenance = [], []
    for i, child in enumerate(node.children):
        keys = groups.groups(node.number, i)
        unhashable = java.unhashable(keys)
        if unhashable:
            raise UnsupportedPlanError(node.kind, f"grouping by type {unhashable} is not supported; cast the column")
        shown, provenance_column = _side(rewriter, node, i, rewriter.trace(child), keys, names)
        sides.append(shown)
        provenance.append(provenance_column)
    new = wrapped(command, names, (_HASHES,) * len(sides), "group", keyed=True)
    made = functions.over(plan, jlist(sides), new, jlist(names))
    return Traced(java.put(made, functions.last(made, len(names))), tuple(provenance))


def _side(
    rewriter: Rewriter, node: PlanNode, i: int, below: Traced, keys: Any, names: tuple[str, ...]
) -> tuple[Any, ProvenanceColumn]:
    java = rewriter.java
    mine = rewriter.jvm.jlist(names[_HASHES * i : _HASHES * (i + 1)])
    tap = rewriter.tapped(java.tapKeyed(below.number, keys), below.provenance, node.kind, keyed=True, coarse=True)
    hashes = rewriter.part("GroupFunctionsCapture").hashes(keys)
    shown = rewriter.part("BatchFunctionsCapture").shown(java.node(node.number), i, java.plan(tap.number), hashes, mine)
    return shown, ProvenanceColumn(True, len(rewriter.taps) - 1)


RULE = CaptureRule(
    frozenset({"FlatMapCoGroupsInArrow", "FlatMapCoGroupsInPandas", "FlatMapGroupsInArrow", "FlatMapGroupsInPandas"}),
    trace,
)
