"""Names of queries."""

from __future__ import annotations

from provspark.replay.narrow import SameRule

RULES = {"CTERelationRef": SameRule(), "SubqueryAlias": SameRule(keeps_order=True), "View": SameRule()}
