"""Rewrite rules, one Spark operator family a file; `RULES` is the whole story."""

from __future__ import annotations

from provspark.tracker.rules import (
    aggregate,
    cached,
    filter,
    generate,
    join,
    mark,
    narrow,
    project,
    scan,
    union,
    window,
)
from provspark.tracker.rules.base import Rule

__all__ = ["RULES", "Rule"]

RULES: tuple[Rule, ...] = (scan, cached, filter, project, narrow, generate, join, aggregate, union, window, mark)
