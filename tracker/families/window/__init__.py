"""Window functions."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("Window", "exact", "the row; the others of its partition are context"),
        Row("WithWindowDefinition", "exact", "windows", turned=True),
    )
)
