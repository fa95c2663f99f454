"""Classes that describe a family of operators."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from provspark.tracker.plan.provenance_columns import Traced

__all__ = ["CaptureRule", "Family", "Refusal", "Row"]

_NODE = re.compile(r"(\w+)(?: \(([^)]*)\))?")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the tables in docs/operators.md.

    Parameters
    ----------
    nodes : str
        Simple names of Spark's plan node classes, separated by commas. If only some versions of Spark have a class,
        they follow it in brackets.
    how : {"exact", "coarse"}
        Coverage of a write with these nodes.
    why : str
        Which input rows an output row comes from, and what is refused, in Markdown.
    turned : bool
        Whether Spark's analysis or normalising turns these nodes into others before the capture rules see the plan.
    """

    nodes: str
    how: Literal["exact", "coarse"]
    why: str
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reason why no rule captures a family's nodes, and what to do instead."""

    reason: str
    instead: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.instead}"


@dataclass(frozen=True, slots=True)
class Family:
    """Operators that are captured, described and replayed alike: `FAMILY` of each package in this folder.

    Parameters
    ----------
    rows : tuple of Row
        Nodes of a captured family.
    refused : str
        Nodes of a refused family, in the format of `Row.nodes`.
    why : Refusal, optional
        Why they are refused.
    """

    rows: tuple[Row, ...] = ()
    refused: str = ""
    why: Refusal | None = None

    @property
    def nodes(self) -> Mapping[str, str]:
        """Versions of Spark that have each node, by the node's name; "" means all supported versions."""
        texts = [*(row.nodes for row in self.rows), self.refused]
        return {name: versions for text in texts for name, versions in _NODE.findall(text)}


@dataclass(frozen=True, slots=True)
class CaptureRule:
    """How nodes of a normalised plan are rewritten: `RULE` of a family's ``capture.py``.

    Parameters
    ----------
    kinds : frozenset of str
        Simple names of the logical plan classes that the rule takes; empty if normalising leaves none of the family.
    trace : function of (Rewriter, PlanNode, PlanNode or None)
        Returns the rewritten node with its provenance columns. Raises `UnsupportedPlanError` if they can't be exact.
        The third argument is the filter directly above the node, or None.
    chained : function of PlanNode
        Whether Spark's optimiser may reorder the node with joins above and below it.
    filters : function of PlanNode
        Whether the node's condition is passed to a scan directly below.
    """

    kinds: frozenset[str]
    trace: Callable[[Any, Any, Any], Traced]
    chained: Callable[[Any], bool] = lambda node: False
    filters: Callable[[Any], bool] = lambda node: False
