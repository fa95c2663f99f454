"""UNION ALL."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family((Row("Union", "exact", "the same row"),))
