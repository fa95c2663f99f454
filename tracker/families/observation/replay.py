"""Rows are counted and handed on."""

from __future__ import annotations

from provspark.replay.narrow import SameRule

RULES = {"CollectMetrics": SameRule(), "EventTimeWatermark": SameRule()}
