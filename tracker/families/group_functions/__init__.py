"""Functions over the rows of a group."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "FlatMapGroupsInArrow, FlatMapGroupsInPandas",
            "coarse",
            "all rows of the group; exact if the function is declared",
        ),
        Row("FlatMapCoGroupsInArrow, FlatMapCoGroupsInPandas", "coarse", "all rows of both groups"),
    )
)
