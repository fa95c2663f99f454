"""Reasons why an operation can't be repeated from its text."""

from __future__ import annotations

from collections.abc import Iterator

from provspark.model.drafts import DraftExpression, DraftOperation
from provspark.model.operations import USERS
from provspark.tracker.families.registry import operation_rule

_FUNCTIONS = frozenset({"PythonUDF", "PythonUDAF", "PythonUDTF", "ScalaUDF", "ScalaAggregator"})
_TIME = frozenset({"CurrentDate", "CurrentTime", "CurrentTimestamp", "LocalTimestamp", "Now"})
_SESSION = frozenset({"CurrentCatalog", "CurrentDatabase", "CurrentUser", "SessionUser"})


def opaque(operation: DraftOperation) -> str:
    """Return why an operation can't be repeated from its text; "" if it can."""
    reasons = [why for e in operation.expressions for why in list(_expression(e)) or [e.why] if why]
    # Functions of the user's come last, because replay can be allowed to run them, but can't overcome other reasons.
    reason = min(reasons, key=lambda why: why.startswith(USERS), default="")
    transformer = operation.detail("transformer").rpartition(".")[2]
    if reason and transformer:
        return f"{transformer} of MLlib computes it" + (
            "" if operation.detail("parameters") else ", with parameters too large to keep"
        )
    if reason or not operation.children:
        return reason
    return operation_rule(operation.node).opaque_of(operation.node)


def _expression(e: DraftExpression) -> Iterator[str]:
    for term in e.tree.walk():
        if term.node in _FUNCTIONS:
            yield f"{USERS}: {term.value}"
        if term.value.startswith("nondeterministic "):
            yield f"{term.value.removeprefix('nondeterministic ')} gives another value each time"
        if term.node in _TIME:
            yield f"{term.value} depends on when it ran"
        if term.node in _SESSION:
            yield f"{term.value} depends on who ran it"
