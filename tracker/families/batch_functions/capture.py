"""Functions that get many rows of a task at once: Spark can't see which input row made which output row.

By default, each returned row comes from all rows that the task passed to the function, and the write is coarse. If the
function is declared `provspark.rowwise` or `provspark.keeps_index`, provenance columns pass through it.
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
    """Tap the node's input by partition; the partition's hash is the provenance column of the output."""
    if node.kind in _PYTHON:
        command = bytes(rewriter.part("BatchFunctionsCapture").command(rewriter.java.node(node.number)))
        how = declaration(node, command)
        if how:
            return through(rewriter, node, command, how)
    below = rewriter.trace(node.children[0])
    return by_key(rewriter, node, node, below, rewriter.java.partition(), coarse=True)


def by_key(rewriter: Rewriter, top: PlanNode, bottom: PlanNode, below: Traced, keys: Any, *, coarse: bool) -> Traced:
    """Put the nodes from `top` down to `bottom` over a tap of the rows `below`.

    The keys must have the same values above `top` as at the tap. The functions see the same columns as before.
    """
    number = rewriter.java.tapKeyed(below.number, keys)
    tap = rewriter.tapped(number, below.provenance, bottom.kind, keyed=True, coarse=coarse, lasting=False)
    column = ProvenanceColumn(True, len(rewriter.taps) - 1)
    functions = rewriter.part("BatchFunctionsCapture")
    return Traced(functions.keyed(top.number, bottom.number, tap.number, keys), (column,))


def declaration(node: PlanNode, command: bytes) -> str:
    """Return the declaration of a node's function, or ""; raise `UnsupportedPlanError` if the node can't honour it."""
    how, name = declared(command)
    if how == "keeps_index" and "Arrow" in node.kind:
        why = f"{name} is declared provspark.keeps_index, but Arrow tables have no index; use rowwise or pandas"
        raise UnsupportedPlanError(node.kind, why)
    return how


def through(rewriter: Rewriter, node: PlanNode, command: bytes, how: str) -> Traced:
    """Pass the provenance columns through a declared function, beside the columns that it sees."""
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
    """Return names for n columns that ProvSpark adds."""
    return tuple(f"__provspark_{i}" for i in range(n))


RULE = CaptureRule(_PYTHON | {"MapPartitionsInR", "MapPartitionsInRWithArrow", "ScriptTransformation"}, trace)
