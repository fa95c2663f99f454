"""INTERSECT and EXCEPT."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family((Row("Except, Intersect", "exact", "`Join`s and `Aggregate`s", turned=True),))
