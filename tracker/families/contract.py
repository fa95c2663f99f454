"""What a family of operators is made of."""

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
    """A row of the tables of docs/operators.md.

    Parameters
    ----------
    nodes : str
        Simple names of Spark's classes, with commas; behind one, in brackets, the versions of Spark that have it.
    how : {"exact", "coarse"}
    why : str
        Markdown.
    turned : bool
        Spark's analysis or its own rules turn them into other nodes before capture's rules see the plan.
    """

    nodes: str
    how: Literal["exact", "coarse"]
    why: str
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no exact rule takes a family's nodes, and what a script can do instead."""

    reason: str
    instead: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.instead}"


@dataclass(frozen=True, slots=True)
class Family:
    """Operators that are captured, described and replayed alike; `FAMILY` of each package in this folder.

    Parameters
    ----------
    rows : tuple of Row
        Of a family that is captured.
    refused : str
        Of one that is not: its nodes, as in `Row.nodes`.
    why : Refusal, optional
        Of one that is not.
    """

    rows: tuple[Row, ...] = ()
    refused: str = ""
    why: Refusal | None = None

    @property
    def nodes(self) -> Mapping[str, str]:
        """By each node's name, the versions of Spark that have it; "" for all that are supported."""
        texts = [*(row.nodes for row in self.rows), self.refused]
        return {name: versions for text in texts for name, versions in _NODE.findall(text)}


@dataclass(frozen=True, slots=True)
class CaptureRule:
    """How nodes of a normalised plan are rewritten; `RULE` of a family's ``capture.py``.

    Parameters
    ----------
    kinds : frozenset of str
        Simple names of the logical plan classes that it takes; none where normalising leaves none of the family.
    trace : function of (Rewriter, PlanNode, PlanNode or None)
        Returns the node with its provenance columns; `UnsupportedPlanError` where that can't be exact. The third is
        the filter straight above the node, if there is one.
    chained : function of PlanNode
        Whether Spark's optimiser may order a node together with joins above and below it.
    filters : function of PlanNode
        Whether a scan below sees a node's condition.
    """

    kinds: frozenset[str]
    trace: Callable[[Any, Any, Any], Traced]
    chained: Callable[[Any], bool] = lambda node: False
    filters: Callable[[Any], bool] = lambda node: False
