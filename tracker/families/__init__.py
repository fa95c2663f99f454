"""Rewrite rules, one Spark operator family a file; `RULES` is the whole story."""

from __future__ import annotations

from provspark.tracker.families.aggregate import capture as aggregate
from provspark.tracker.families.asof_join import capture as nearest
from provspark.tracker.families.batch_functions import capture as maps
from provspark.tracker.families.cached import capture as cached
from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.families.expand import capture as expand
from provspark.tracker.families.filter import capture as filter
from provspark.tracker.families.generate import capture as generate
from provspark.tracker.families.group_functions import capture as groups
from provspark.tracker.families.join import capture as join
from provspark.tracker.families.mark import capture as mark
from provspark.tracker.families.narrow import capture as narrow
from provspark.tracker.families.project import capture as project
from provspark.tracker.families.scan import capture as scan
from provspark.tracker.families.typed import capture as typed
from provspark.tracker.families.union import capture as union
from provspark.tracker.families.window import capture as window

__all__ = ["RULES", "CaptureRule"]

RULES: tuple[CaptureRule, ...] = (
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
