"""Window functions."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("Window", "exact", "the same row; the other rows of its window partition are context rows"),
        Row("WithWindowDefinition", "exact", "`Window`s", turned=True),
    )
)
