"""Reads of caches and checkpoints, which return the rows of the operations that they were computed from."""

from __future__ import annotations

from provspark.replay.narrow import SameRule

RULES = {"InMemoryRelation": SameRule(), "LogicalRDD": SameRule()}
