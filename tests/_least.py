"""The arguments that a question must be given, made of its parameters alone: a new question is asked, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from provspark.index_store.query.parameters import parameters
from provspark.index_store.query.question import Question

__all__ = ["least"]


def least(question: Question, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name.

    Parameters
    ----------
    given : mapping
        Values by the names of parameters, or else by what parameters take.
    """
    return {p.name: given[p.name] if p.name in given else given[p.takes] for p in parameters(question) if p.required}
