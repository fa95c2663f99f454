"""Functions over a task's rows at once: which rows made which, Spark does not see.

A row that such a function returns is owed to all rows that its task handed to the function, and the write is coarse;
unless it is declared to keep to its rows (`provspark.rowwise`, `provspark.keeps_index`): then their provenance columns
go through it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.functions.commands import declared, wrapped
from provspark.tracker.plan.provenance_columns import ProvenanceColumn, Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter

_PYTHON = frozenset({"MapInArrow", "MapInPandas"})


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Tap what goes in by the task's partition, which is the provenance column of what comes out."""
    if node.kind in _PYTHON:
        command = bytes(rewriter.part("BatchFunctionsCapture").command(rewriter.java.node(node.number)))
        how = declaration(node, command)
        if how:
            return through(rewriter, node, command, how)
    below = rewriter.trace(node.children[0])
    return by_key(rewriter, node, node, below, rewriter.java.partition(), coarse=True)


def by_key(rewriter: Rewriter, top: PlanNode, bottom: PlanNode, below: Traced, keys: Any, *, coarse: bool) -> Traced:
    """Put the nodes from `top` to `bottom` over a tap of the rows `below`, by keys that are the same above `top`.

    The functions see the columns that they saw before.
    """
    number = rewriter.java.tapKeyed(below.number, keys)
    tap = rewriter.tapped(number, below.provenance, bottom.kind, keyed=True, coarse=coarse, lasting=False)
    column = ProvenanceColumn(True, len(rewriter.taps) - 1)
    functions = rewriter.part("BatchFunctionsCapture")
    return Traced(functions.keyed(top.number, bottom.number, tap.number, keys), (column,))


def declaration(node: PlanNode, command: bytes) -> str:
    """Return what a node's function is declared to be, or ""; UnsupportedPlanError where that can't be meant."""
    how, name = declared(command)
    if how == "keeps_index" and "Arrow" in node.kind:
        why = f"{name} is declared provspark.keeps_index, but Arrow tables have no index; use rowwise or pandas"
        raise UnsupportedPlanError(node.kind, why)
    return how


def through(rewriter: Rewriter, node: PlanNode, command: bytes, how: str) -> Traced:
    """Send the provenance columns through a function that keeps to its rows, beside the columns that it sees."""
    java, functions = rewriter.java, rewriter.part("BatchFunctionsCapture")
    below = rewriter.trace(node.children[0])
    columns = java.provenance(below.number)
    names = ours(len(columns))
    if not names:
        return Traced(java.bare(node.number), ())
    plan = java.node(node.number)
    shown = functions.shown(plan, 0, java.plan(below.number), columns, rewriter.jvm.jlist(names))
    new = wrapped(command, names, (len(names),), how, keyed="Groups" in node.kind)
    made = functions.over(plan, rewriter.jvm.jlist([shown]), new, rewriter.jvm.jlist(names))
    return Traced(java.put(made, functions.last(made, len(names))), below.provenance)


def ours(n: int) -> tuple[str, ...]:
    """Return names of columns of ours."""
    return tuple(f"__provspark_{i}" for i in range(n))


RULE = CaptureRule(_PYTHON | {"MapPartitionsInR", "MapPartitionsInRWithArrow", "ScriptTransformation"}, trace)
