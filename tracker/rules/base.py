"""What a rewrite rule is: a module with these two names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from provspark.tracker.legs import Traced

if TYPE_CHECKING:
    from provspark.tracker.rewrite import Node, Rewriter


class Rule(Protocol):
    """A rule turns a node and its traced children into a traced node, or refuses it."""

    @property
    def KINDS(self) -> frozenset[str]:  # noqa: N802
        """Simple names of the logical plan classes that it takes."""

    def trace(self, rewriter: Rewriter, node: Node, predicates: Sequence[Any]) -> Traced:
        """Return the node with its legs; raise UnsupportedPlanError where that can't be exact."""
