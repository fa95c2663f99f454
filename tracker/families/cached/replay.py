"""What was kept is what it was made of."""

from __future__ import annotations

from provspark.replay.narrow import SameRule

RULES = {"InMemoryRelation": SameRule(), "LogicalRDD": SameRule()}
