"""What a rewrite rule is: a module with these two names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from provspark.tracker.plan.provenance_columns import Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


class CaptureRule(Protocol):
    """A rule turns a node into a traced node, or refuses it."""

    @property
    def KINDS(self) -> frozenset[str]:  # noqa: N802
        """Simple names of the logical plan classes that it takes."""

    def trace(self, rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
        """Return the node with its provenance columns; raise UnsupportedPlanError where that can't be exact."""
