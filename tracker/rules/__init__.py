"""Rewrite rules, one Spark operator family a file; `RULES` is the whole story."""

from __future__ import annotations

from provspark.tracker.rules import (
    aggregate,
    cached,
    expand,
    filter,
    generate,
    groups,
    join,
    maps,
    mark,
    narrow,
    nearest,
    project,
    scan,
    typed,
    union,
    window,
)
from provspark.tracker.rules.base import Rule

__all__ = ["RULES", "Rule"]

RULES: tuple[Rule, ...] = (
    scan,
    cached,
    filter,
    project,
    narrow,
    generate,
    expand,
    join,
    nearest,
    aggregate,
    union,
    window,
    mark,
    maps,
    groups,
    typed,
)
