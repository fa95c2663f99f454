"""Why an operation can't be done again from its text."""

from __future__ import annotations

from provspark.tracker.operations.draft import DraftExpression, DraftOperation

_REPLAYED = frozenset(
    {"Project", "Filter", "Join", "Aggregate", "Sort", "Window", "GlobalLimit", "LocalLimit", "LimitAll", "Offset"}
    | {"Tail", "Distinct", "Deduplicate", "Union", "Except", "Intersect", "Generate", "Expand", "Repartition"}
    | {"RepartitionByExpression", "RebalancePartitions", "ResolvedHint", "CollectMetrics", "EventTimeWatermark"}
    | {"LateralJoin", "InMemoryRelation", "LogicalRDD"}
)
_NODES = {
    "Sample": "it is a random sample",
    "AttachDistributedSequence": "it numbers rows in the order in which they came",
}
_FUNCTIONS = frozenset({"PythonUDF", "PythonUDAF", "PythonUDTF", "ScalaUDF", "ScalaAggregator"})
_TIME = frozenset({"CurrentDate", "CurrentTime", "CurrentTimestamp", "LocalTimestamp", "Now"})
_SESSION = frozenset({"CurrentCatalog", "CurrentDatabase", "CurrentUser", "SessionUser"})


def opaque(operation: DraftOperation) -> str:
    """Return the reason, or ""."""
    found = next(filter(None, map(_expression, operation.expressions)), "")
    transformer = operation.detail("transformer").rpartition(".")[2]
    if found and transformer:
        return f"{transformer} of MLlib computes it" + (
            "" if operation.detail("parameters") else ", with parameters too large to keep"
        )
    if found or not operation.children or operation.node in _REPLAYED:
        return found
    return _NODES.get(operation.node, f"no text stands for {operation.node}")


def _expression(e: DraftExpression) -> str:
    for term in e.tree.walk():
        if term.node in _FUNCTIONS:
            return f"function of the user's: {term.value}"
        if term.value.startswith("nondeterministic "):
            return f"{term.value.removeprefix('nondeterministic ')} gives another value each time"
        if term.node in _TIME:
            return f"{term.value} depends on when it ran"
        if term.node in _SESSION:
            return f"{term.value} depends on who ran it"
    return e.why
