"""Samples."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family((Row("Sample", "exact", "the same row; if it was drawn twice, both output rows come from it"),))
