"""Sorts."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family((Row("Sort", "exact", "the same row"),))
