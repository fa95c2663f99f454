"""INTERSECT and EXCEPT."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family((Row("Except, Intersect", "exact", "joins and aggregates", turned=True),))
