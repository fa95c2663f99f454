"""Limits and offsets: the provenance columns pass through."""

from __future__ import annotations

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.passing import passing

RULE = CaptureRule(frozenset({"GlobalLimit", "LimitAll", "LocalLimit", "Offset", "Tail"}), passing)
