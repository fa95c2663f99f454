"""As-of joins."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family((Row("AsOfJoin", "exact", "the left row and the nearest right row"),))
