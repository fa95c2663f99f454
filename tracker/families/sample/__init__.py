"""Samples."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family((Row("Sample", "exact", "the row; drawn twice, it is owed to itself twice"),))
