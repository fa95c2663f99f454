"""Observed metrics and watermarks, which change no rows."""

from __future__ import annotations

from provspark.replay.narrow import SameRule

RULES = {"CollectMetrics": SameRule(), "EventTimeWatermark": SameRule()}
