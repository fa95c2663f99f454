"""Cache of results about a write, stored with the write."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from provspark.index_store.query.nodes import VersionReference, WriteNode

__all__ = ["kept"]

Known = TypeVar("Known", WriteNode, VersionReference)
P = ParamSpec("P")
R = TypeVar("R")


def kept(function: Callable[Concatenate[Known, P], R]) -> Callable[Concatenate[Known, P], R]:
    """Cache a function's results with the write that its first argument is or belongs to."""

    @wraps(function)
    def call(about: Known, /, *args: P.args, **kwargs: P.kwargs) -> R:
        node = about if isinstance(about, WriteNode) else about.node
        key = (function, about, args, tuple(kwargs.items()))
        if key not in node.memory:
            node.memory[key] = function(about, *args, **kwargs)
        result: R = node.memory[key]
        return result

    return call
