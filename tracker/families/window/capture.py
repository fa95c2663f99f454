"""Window functions: each row keeps its origin; the rows of its partition, including itself, are its context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.model.errors import UnsupportedPlanError
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.provenance_columns import ProvenanceColumn, Traced

if TYPE_CHECKING:
    from provspark.tracker.plan.rewrite import PlanNode, Rewriter


def trace(rewriter: Rewriter, node: PlanNode, above: PlanNode | None) -> Traced:
    """Tap the windows' input once for each partitioning.

    Spark stacks the windows of one SELECT. Those that use no result of each other are handled together, with all taps
    below the lowest. Otherwise the rows of one window's partition would bring the context that another window added.
    """
    java = rewriter.part("WindowCapture")
    chain = _chain(rewriter, node)
    below = rewriter.trace(chain[-1].children[0])
    number = below.number
    tapped: list[tuple[PlanNode, ProvenanceColumn]] = []
    for window in reversed(chain):
        if not any(java.samePartitions(window.number, other.number) for other, _ in tapped):
            number = _tap(rewriter, window, number, below.provenance)
            tapped.append((window, ProvenanceColumn(True, len(rewriter.taps) - 1, "context")))
    for window in reversed(chain):
        number = rewriter.java.over(window.number, number)
    for window, _ in tapped:
        number = java.partitioned(window.number, number)
    return Traced(number, below.provenance + tuple(column for _, column in tapped))


def _chain(rewriter: Rewriter, node: PlanNode) -> list[PlanNode]:
    chain = [node]
    while chain[-1].children[0].kind == "Window":
        chain.append(chain[-1].children[0])
    return chain[: rewriter.part("WindowCapture").together(" ".join(str(window.number) for window in chain))]


def _tap(rewriter: Rewriter, window: PlanNode, number: int, provenance: tuple[ProvenanceColumn, ...]) -> int:
    java = rewriter.part("WindowCapture")
    unhashable = java.unhashable(window.number)
    if unhashable not in ("", "none"):
        raise UnsupportedPlanError(
            window.kind, f"partitioning a window by type {unhashable} is not supported; cast the column"
        )
    tap = java.tapPartitions(window.number, number)
    return rewriter.tapped(tap, provenance, "window", keyed=True, keyless=unhashable == "none").number


RULE = CaptureRule(frozenset({"Window"}), trace)
