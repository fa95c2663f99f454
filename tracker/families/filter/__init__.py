"""Filters."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family((Row("Filter, TypedFilter", "exact", "the same row"),))
